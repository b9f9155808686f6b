// Slithering snakes: a linear chain goes along itself by one bond. Each bead takes the place of the
// next one; the last one goes to a new place beyond the end. A. K. Kron, Polym. Sci. USSR 7, 1361
// (1965); F. T. Wall, F. Mandel, J. Chem. Phys. 63, 4592 (1975).
//
// Types and attributes stay with the beads, so the energies of all of them are looked at: the
// chain may be a copolymer.
//
// The new bond has the length of the one that goes, l, changed by up to `stretch` to l'. Its
// direction is uniform; or with `bend`, its angle a with the bond before it is that of the bond
// that goes, changed by up to `bend` to a', and the rest is uniform. The way back is proposed with
// a density that is larger by l'²/l², and with `bend` also by sin a'/sin a; in a plane by l'/l.
// This is a factor in Metropolis's rule.
//
// One trial after the other, whatever the cells.
#pragma once

#include <optional>
#include <vector>

#include "engine/settings/settings.h"
#include "move.h"
#include "rng/keyed.h"
#include "trial_energies.h"
#include "trial_grid.h"

namespace perrin {
class Setup;
}

namespace perrin::monte_carlo {

struct ReptationSettings {
  double stretch = 0, trials = 1;
  std::optional<double> bend;
};

template <class D>
void describe(D& d, ReptationSettings& s) {
  d.required("stretch", s.stretch, NonNegative{},
             "the new bond at one end is as long as the one that goes at the other, and by up to "
             "this longer or shorter (length)");
  d.optional("bend", s.bend, Between{0, 3.1415926535897932},
             "it is at the same angle with the bond before it, and by up to this more or less "
             "(radians); without: in any direction");
  d.optional("trials", s.trials, Positive{}, "trials of each chain in a sweep, on average");
}

/// Reports what does not fit the job. `group`: of the stage; `alone`: no other move of it changes
/// the lengths of bonds.
void check_reptation(const ReptationSettings& settings, const std::string& group, bool alone,
                     Setup& setup);

class Reptation final : public Move {
 public:
  using Random = Philox;

  Reptation(const ReptationSettings& settings, const std::string& group)
      : settings_(settings), group_name_(group) {}

  std::string name() const override { return "reptation"; }
  void begin(StageContext& context) override;
  void sweep(StepContext& context, double kt) override;
  TrialCounts counts() const override { return counts_; }
  std::string way() const override { return "one after another"; }
  std::string why_none_tried() const override {
    return "no linear chain with all its particles in the group was found";
  }
  std::string why_none_accepted() const override {
    return settings_.bend ? "try a smaller stretch and bend; the system may be too dense"
                          : "try a smaller stretch, or a \"bend\"; the system may be too dense";
  }
  void state(Archive& archive) override;

 private:
  struct Chain {
    std::vector<std::uint32_t> ids;  // from end to end
    /// Beads, and whom they exclude, are alike: nothing changes but that one end goes and one
    /// comes.
    bool uniform;
  };
  void find_chains(const StepContext& context);
  TrialCells own_cells(Position* position);
  bool try_one(StepContext& context, const TrialCells& cells, const Chain& chain, Random& random,
               double kt);

  ReptationSettings settings_;
  std::string group_name_;
  std::vector<Chain> chains_;
  TrialCounts counts_;
  TrialGrid grid_;
  // Of n beads: [k] one goes, [n + k] it comes; [2 n + k] and [3 n + k] likewise, within the chain.
  TrialEnergies energies_;
  Buffer<std::uint32_t> order_;  // ids: each takes the place of the next
  // The chain as cells of its own, before and after.
  Buffer<std::uint32_t> start_, place_, id_;
  Buffer<Position> before_, after_;
  Buffer<Image> image_before_, image_after_;
  Buffer<std::uint32_t> label_;  // [id]: 1 for those of the chain
};

}  // namespace perrin::monte_carlo
