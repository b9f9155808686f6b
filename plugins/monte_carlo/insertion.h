// Particles are inserted and removed: the grand canonical ensemble.
//
// Each trial is one or the other, at random. In a cell of volume v with n particles of the type,
// one at a random place is accepted with the probability min(1, z v/(n + 1) exp(-dU/kT)), the
// removal of a random one with min(1, n/(z v) exp(-dU/kT)), where z is the activity, exp(mu/kT) per
// volume of the thermal wavelength (G. E. Norman, V. S. Filinov, High Temp. 7, 216 (1969); D.
// Frenkel, B. Smit, Understanding Molecular Simulation, 5.6). This keeps the distribution with
// everything outside of the cell as it is. So all cells of one colour make their trials at the same
// time (engine/components/trial_moves.h); for the next ones everybody is sorted into cells anew.
//
// Who is inserted has been in the reservoir (engine/dynamics/reservoir.h), and comes from there in
// the order of ids, round and round: an id that was given away is the last to be taken again.
// Where the type is that of the centres of rigid bodies, whole bodies come and go
// (body_insertions.h).
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "body_insertions.h"
#include "engine/base/error.h"
#include "engine/settings/settings.h"
#include "move.h"
#include "trial_energies.h"
#include "trial_grid.h"
#include "trial_tally.h"

namespace perrin {
class Setup;
}

namespace perrin::monte_carlo {

struct InsertionSettings {
  std::string type;
  std::optional<double> activity, chemical_potential;
  std::int64_t trials = 100;
};

template <class D>
void describe(D& d, InsertionSettings& s) {
  d.example("{\"type\": \"A\", \"activity\": 0.05, \"trials\": 200}");
  d.required("type", s.type, Any{},
             "particle type, which has a \"reservoir\"; that of the centres of rigid bodies: whole "
             "bodies, turned at random");
  d.optional("activity", s.activity, Positive{},
             "exp(mu/kT)/Lambda^3: the number density of an ideal gas with this chemical potential "
             "(in two dimensions, of an area); of bodies times what their rotation has in it");
  d.optional("chemical_potential", s.chemical_potential, Any{},
             "instead of the activity, where the thermal wavelength Lambda is 1, and the "
             "rotation of bodies has the partition function 1 (energy)");
  d.optional("trials", s.trials, Positive{}, "trials in a sweep, of the whole box, at least");
}

/// Reports what does not fit the job, or the others, of the k-th of those of a stage.
void check_insertion(const std::vector<InsertionSettings>& all, std::size_t k, Setup& setup);

/// Who is there from now on, or not any more.
struct ComingOrGoing {
  std::uint32_t place;  // in memory
  Position position;    // with the type
  Real4 velocity;
  Real4 angular_momentum{}, orientation{};  // of particles that have any
  bool turns = false;                       // the orientation is another one
};

class Insertion final : public Move {
 public:
  /// `instance`: which one it is of those of the stage.
  Insertion(const InsertionSettings& settings, std::uint32_t instance)
      : settings_(settings), instance_(instance) {}

  std::string name() const override {
    return instance_ == 0 ? "insertion" : "insertion of " + settings_.type;
  }
  void begin(StageContext& context) override;
  /// Throws RunError where the reservoir has become empty.
  void sweep(StepContext& context, double kt) override;
  TrialCounts counts() const override { return tally_.counts(); }
  std::string way() const override { return grid_.way(); }
  std::string why_none_tried() const override { return "there are no sweeps"; }
  std::string why_none_accepted() const override {
    return "the activity may be far from that of the system, or the system too dense";
  }
  void state(Archive& archive) override;

 private:
  RunKey key(const StepContext& context) const;
  void fit(const StepContext& context);
  void find_free(const StepContext& context);
  void try_all(StepContext& context, const TrialCells& cells, std::uint32_t round, double kt);
  bool change(StepContext& context, std::uint32_t round, double kt);
  void apply(StepContext& context, const std::vector<ComingOrGoing>& changes);
  std::uint32_t take_free();
  /// Who comes and goes with a particle, by its id: itself, or the whole body.
  std::span<const std::uint32_t> ids_of(const std::uint32_t& id) const {
    return bodies_.has_any() ? bodies_.ids(id) : std::span(&id, 1);
  }
  RunError no_room() const;

  InsertionSettings settings_;
  std::uint32_t instance_;
  std::uint32_t type_ = 0,
                absent_ = 0;  // types of a particle that is there, and of one that is not
  std::vector<std::uint32_t>
      other_;               // [type]: of a particle that is there, when it is not, and back
  std::uint32_t next_ = 0;  // id from which on one is taken
  BodyInsertions bodies_;
  std::vector<Real> weight_;  // 1/mass of each particle of what comes and goes …
  Real4 moment_{};            // … and its moments of inertia
  TrialGrid grid_;
  TrialEnergies energies_;
  Buffer<float> log_of_uniform_;
  Buffer<std::uint32_t> outcome_;  // [active cell]: what was accepted
  Buffer<ComingOrGoing> changes_;
  std::vector<std::uint32_t> index_, id_;  // [id], and by places in memory, in this sweep
  std::set<std::uint32_t> free_;           // ids of those that are not there
  TrialTally tally_;
};

}  // namespace perrin::monte_carlo
