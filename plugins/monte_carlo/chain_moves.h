// Parts of a molecule are turned, and no bond changes its length: pivots and crankshafts.
//
// Pivot: a bond divides a molecule, and the smaller part is turned about the other end of the bond.
// M. Lal, Mol. Phys. 17, 57 (1969); N. Madras, A. D. Sokal, J. Stat. Phys. 50, 109 (1988).
// Crankshaft: the particles between two of a chain are turned about the line through these.
//
// One trial after the other, whatever the cells; all particles that turn are looked at at once.
#pragma once

#include <memory>
#include <vector>

#include "engine/settings/settings.h"
#include "engine/system/bond_graph.h"
#include "molecules.h"
#include "move.h"
#include "rng/keyed.h"
#include "trial_energies.h"
#include "trial_grid.h"

namespace perrin {
class Setup;
}

namespace perrin::monte_carlo {

struct PivotSettings {
  double rotation = 1, trials = 1;
};

template <class D>
void describe(D& d, PivotSettings& s) {
  d.required("rotation", s.rotation, Between{1e-6, 3.1415926535897932},
             "a trial turns by up to this about a random axis (radians)");
  d.optional("trials", s.trials, Positive{}, "trials of each molecule in a sweep, on average");
}

struct CrankshaftSettings {
  double rotation = 1, trials = 1;
  std::int64_t longest = 10;
};

template <class D>
void describe(D& d, CrankshaftSettings& s) {
  d.required("rotation", s.rotation, Between{1e-6, 3.1415926535897932},
             "a trial turns by up to this (radians)");
  d.optional("trials", s.trials, Positive{}, "trials of each molecule in a sweep, on average");
  d.optional("longest", s.longest, Between{2, 1e6}, "bonds between the two ends, at most");
}

/// Why images do not keep molecules whole; empty: they do.
std::string objection_to_images(const Configuration& configuration);
/// Reports what does not fit the job, at the key `name`. `group`: of the stage.
void check_chains(const std::string& name, const std::string& group, Setup& setup);

/// What is turned about what.
struct ChainTurn {
  std::uint32_t point = 0;   // a particle (id)
  std::uint32_t second = 0;  // the axis goes through this one, too, if it is another; else random
  std::vector<std::uint32_t> turning;  // ids; empty: no trial
};

class ChainMove : public Move {
 public:
  using Random = Philox;

  ChainMove(double angle, double trials, const std::string& group)
      : angle_(angle), trials_(trials), group_name_(group) {}

  void begin(StageContext& context) override;
  void sweep(StepContext& context, double kt) override;
  TrialCounts counts() const override { return counts_; }
  std::string way() const override { return "one after another"; }
  double size() const override { return angle_; }
  double largest_size() const override { return 3.1415926535897932; }
  void set_size(double angle) override { angle_ = angle; }
  std::string size_text() const override;
  std::vector<MoveSize> sizes() const override { return {{name() + "_angle", angle_}}; }
  Coupled coupled() const override { return Coupled::long_ways; }
  std::string why_none_tried() const override;
  std::string why_none_accepted() const override { return "try a smaller angle"; }
  void state(Archive& archive) override;

 private:
  virtual Purpose purpose() const = 0;
  /// Drawn without a look at where particles are.
  virtual ChainTurn choose(Random& random) const = 0;
  bool try_one(StepContext& context, const TrialCells& cells, const ChainTurn& turn, Random& random,
               double kt);

  double angle_, trials_;
  std::string group_name_;
  std::vector<std::uint8_t> member_;  // [id]: of the group; empty: all are
  TrialCounts counts_;
  TrialGrid grid_;
  TrialEnergies energies_;
  Buffer<std::uint32_t> turning_, whole_;  // ids: of those that turn, of their molecule
  Buffer<std::uint32_t> label_;            // [id]: 1 for those that turn
  Buffer<Image> image_before_, image_after_;

 protected:
  std::unique_ptr<BondGraph> bonds_;
  Molecules molecules_;
  /// Of each molecule with three particles or more.
  std::vector<std::uint32_t> chains_;
};

class Pivot final : public ChainMove {
 public:
  Pivot(const PivotSettings& s, const std::string& group)
      : ChainMove(s.rotation, s.trials, group) {}
  std::string name() const override { return "pivot"; }

 private:
  Purpose purpose() const override { return Purpose::monte_carlo_pivot; }
  ChainTurn choose(Random& random) const override;
};

class Crankshaft final : public ChainMove {
 public:
  Crankshaft(const CrankshaftSettings& s, const std::string& group)
      : ChainMove(s.rotation, s.trials, group), longest_(std::uint32_t(s.longest)) {}
  std::string name() const override { return "crankshaft"; }

 private:
  Purpose purpose() const override { return Purpose::monte_carlo_crankshaft; }
  ChainTurn choose(Random& random) const override;

  std::uint32_t longest_;
};

}  // namespace perrin::monte_carlo
