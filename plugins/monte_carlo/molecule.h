// Whole molecules and rigid bodies are displaced and turned, with all distances within them kept.
//
// A molecule is tried with a colour if all of it lies in one active cell, before and after. Of its
// images that is which follows its bonds, however long it is; no particle goes as far as half of
// the box.
#pragma once

#include "engine/settings/settings.h"
#include "move.h"
#include "trial_energies.h"
#include "trial_grid.h"
#include "trial_tally.h"

namespace perrin {
class Setup;
}

namespace perrin::monte_carlo {

struct MoleculeSettings {
  double displacement = 0.1, rotation = 0.3;
  std::int64_t trials = 1;
};

template <class D>
void describe(D& d, MoleculeSettings& s) {
  d.required("displacement", s.displacement, NonNegative{},
             "a trial moves a molecule by up to this along each axis (length)");
  d.required("rotation", s.rotation, Between{0, 3.1415926535897932},
             "and turns it by up to this about a random axis through its centre (radians)");
  d.optional("trials", s.trials, Positive{}, "trials of each molecule in a sweep");
}

/// Reports what does not fit the job. `group`: of the stage.
void check_molecules(const MoleculeSettings& settings, const std::string& group, Setup& setup);

/// Molecules, for kernels.
struct MoleculeView {
  const std::uint32_t* of;      // [id]
  const std::uint32_t* begin;   // [molecule]
  const std::uint32_t* member;  // ids begin[m] … begin[m + 1] - 1 of it, the lowest first …
  const std::uint32_t* before;  // … each linked to this one of them (LinkedMolecules)
};

class MoleculeMove final : public Move {
 public:
  MoleculeMove(const MoleculeSettings& settings, const std::string& group)
      : settings_(settings), group_name_(group) {}

  std::string name() const override { return "molecule"; }
  void begin(StageContext& context) override;
  void sweep(StepContext& context, double kt) override;
  TrialCounts counts() const override { return tally_.counts(); }
  std::string way() const override { return grid_.way(); }
  double size() const override { return scale_; }
  double largest_size() const override;
  void set_size(double scale) override { scale_ = scale; }
  std::string size_text() const override;
  std::vector<MoveSize> sizes() const override {
    return {{"molecule_displacement", displacement()}, {"molecule_angle", rotation()}};
  }
  Coupled coupled() const override { return Coupled::short_ways; }
  std::string why_none_tried() const override {
    return "no molecule of several particles fits into a cell, which is as wide as the longest "
           "range of the forces or a little more";
  }
  std::string why_none_accepted() const override {
    return "try a smaller displacement and rotation";
  }
  void state(Archive& archive) override;

 private:
  void fit(const StepContext& context);
  double displacement() const { return scale_ * settings_.displacement; }
  double rotation() const;

  MoleculeSettings settings_;
  double scale_ = 1;  // of displacement and rotation, by tuning
  std::string group_name_;
  GroupOnDevice group_;
  Buffer<std::uint32_t> of_, begin_, member_, before_;
  Buffer<Real3> vector_;       // of each move, from the first particle of the molecule
  std::uint32_t largest_ = 0;  // particles of a molecule
  double width_ = 0;           // of cells, at least (length)
  double room_ = 0;            // largest displacement that makes sense
  TrialGrid grid_;
  TrialEnergies energies_;  // a move for each particle of a molecule of each active cell
  Buffer<float> log_of_uniform_;
  Buffer<Real4> turned_;  // quaternions, of the trials that are made
  TrialTally tally_;
};

}  // namespace perrin::monte_carlo
