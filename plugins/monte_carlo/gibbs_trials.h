// Trials of one of the two boxes of a Gibbs ensemble: their energies, and what is done.
//
// Energies are those of trial moves (engine/components/trial_moves.h), of one particle that comes
// or goes, or of all those of a rigid body; that of the whole box is half the sum over all
// particles, each of which might go. Who comes has been in the reservoir
// (engine/dynamics/reservoir.h), from which ids are taken round and round, as insertions do
// (insertion.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "engine/components/gibbs_box.h"
#include "engine/system/archive.h"
#include "engine/system/box.h"
#include "engine/system/group.h"
#include "trial_energies.h"
#include "trial_grid.h"

namespace perrin {
class Integrator;
struct TailMatrix;
}  // namespace perrin

namespace perrin::monte_carlo {

class GibbsTrials final : public GibbsBox {
 public:
  /// `present`: the group of those that are there, which follows.
  GibbsTrials(const Integrator& owner, Group& present) : owner_(owner), present_(present) {}

  void open(StageContext& context) override;
  const std::vector<std::uint32_t>& types() const override { return types_; }
  double volume() const override;
  std::int64_t particles() const override;
  std::int64_t count(std::uint32_t type) const override { return counts_.at(type); }
  std::int64_t room(std::uint32_t type) const override {
    return std::int64_t(kinds_.at(type).free.size());
  }
  bool has_bodies(std::uint32_t type) const override { return kinds_.at(type).size > 1; }
  double try_insertion(std::uint32_t type, const Words4& where, const Words4& turn) override;
  void insert(Philox& random, double kt) override;
  double try_removal(std::uint32_t type, std::uint32_t which) override;
  void remove() override;
  bool is_too_small(double volume) const override;
  double try_volume(double volume) override;
  void take_volume() override;
  void close() override;

  void state(Archive& archive);

 private:
  /// Particles of a type that come and go.
  struct Kind {
    std::uint32_t size = 1;           // particles that come and go together
    std::vector<std::uint32_t> here;  // ids, of bodies those of the centres, in no order
    std::set<std::uint32_t> free;     // ids of those that are not there
  };
  /// Who would come or go.
  struct Candidate {
    std::uint32_t type = 0, id = 0, which = 0;
    std::vector<Position> position{};  // of all its particles
    Real4 turn{};                      // of a body: its orientation
    double energy = 0;                 // that would change, without tails
  };
  void sort();
  void fit();
  std::span<const std::uint32_t> ids_of(const std::uint32_t& id) const;
  double change_of(const std::vector<TrialMove>& moves);
  double energy_of_pairs();
  double tail(const Candidate& candidate, int more) const;
  double tail_in(double volume) const;
  std::uint32_t next_free(const Kind& kind) const;
  Box scaled(double volume) const;
  void set_box(const Box& box);
  void put(std::uint32_t id, const Position& position, const Real4& velocity);
  void set_rotation(std::uint32_t id, const Real4* orientation, const Real4& angular_momentum);

  const Integrator& owner_;
  Group& present_;
  StageContext* context_ = nullptr;
  std::vector<std::uint32_t> types_;
  std::map<std::uint32_t, Kind> kinds_;  // [type]
  std::vector<std::int64_t> counts_;     // [type], of particles
  std::int64_t sites_ = 0;               // of bodies that are there
  std::vector<std::uint32_t> other_;     // [type]: of who is there, when it is not, and back
  std::map<std::uint32_t, std::vector<std::uint32_t>> bodies_;  // [centre]: ids, the centre's first
  std::vector<std::uint32_t> index_;                            // [id]: place in memory
  std::vector<const TailMatrix*> tails_;
  TrialGrid grid_;
  TrialEnergies energies_;
  TrialCells cells_{};
  bool sorted_ = false;
  Candidate coming_, going_;
  Box next_box_;
  double next_energy_ = 0;        // of pairs, in that box
  std::optional<double> energy_;  // of pairs, if it is known
  bool moved_ = false, scaled_ = false;
  std::uint32_t next_ = 0;  // id from which on one is taken
};

}  // namespace perrin::monte_carlo
