// Two particles of different kinds exchange their places.
//
// T. S. Grigera, G. Parisi, Phys. Rev. E 63, 045102 (2001). In liquids of many sizes this reaches
// equilibrium where no other motion does: A. Ninarello, L. Berthier, D. Coslovich, Phys. Rev. X 7,
// 021039 (2017), who exchange diameters, and thus have particles that stay where they are; here
// particles go and take type, attributes and mass along, which are the same configurations.
//
// Particles of two active cells do not meet, so that each pair of cells makes a trial at the same
// time. Which cells those are, and which particle of each, is drawn by the places in the cells, of
// which a trial changes nothing: it is as likely as its opposite. Of two particles that do meet,
// in one cell, the energy with each other stays what it is.
#pragma once

#include <array>
#include <optional>

#include "engine/settings/settings.h"
#include "move.h"
#include "trial_energies.h"
#include "trial_grid.h"
#include "trial_tally.h"

namespace perrin {
class Setup;
}

namespace perrin::monte_carlo {

struct SwapSettings {
  double trials = 0.1;
  std::optional<std::array<std::string, 2>> groups;
  std::optional<std::string> attribute;
  std::optional<double> difference;
};

template <class D>
void describe(D& d, SwapSettings& s) {
  d.optional("trials", s.trials, Positive{}, "trials of each particle in a sweep, on average");
  d.optional("groups", s.groups, Any{},
             "[one, other]: one of the two particles is in the one group and one in the other");
  d.optional("attribute", s.attribute, Any{},
             "also particles of one type are exchanged, if this attribute of theirs differs");
  d.optional("difference", s.difference, Positive{},
             "particles whose attribute differs by more are not tried");
}

/// Reports what does not fit the job. `group`: of the stage.
void check_swap(const SwapSettings& settings, const std::string& group, Setup& setup);

class Swap final : public Move {
 public:
  Swap(const SwapSettings& settings, const std::string& group)
      : settings_(settings), group_name_(group) {}

  std::string name() const override { return "swap"; }
  void begin(StageContext& context) override;
  void sweep(StepContext& context, double kt) override;
  TrialCounts counts() const override { return tally_.counts(); }
  std::string way() const override { return grid_.way(); }
  Coupled coupled() const override { return Coupled::long_ways; }
  std::string why_none_tried() const override {
    return "no two particles that may be exchanged were found";
  }
  std::string why_none_accepted() const override {
    return settings_.attribute ? "try a smaller \"difference\"" : "the particles are too different";
  }
  void state(Archive& archive) override { tally_.state(archive); }

 private:
  void fit(const StepContext& context);
  void try_all(StepContext& context, const TrialCells& cells, std::uint32_t round, double kt);

  SwapSettings settings_;
  std::string group_name_;
  TrialGrid grid_;
  GroupOnDevice group_, one_, other_;
  Buffer<double> attribute_;  // [id]; empty: types differ
  TrialEnergies energies_;    // two moves of each pair of active cells
  Buffer<float> log_of_uniform_;
  TrialTally tally_;
};

}  // namespace perrin::monte_carlo
