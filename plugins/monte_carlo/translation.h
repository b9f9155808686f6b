// Displacements of single particles, accepted by Metropolis's rule.
// N. Metropolis, A. W. Rosenbluth, M. N. Rosenbluth, A. H. Teller, E. Teller, J. Chem. Phys. 21,
// 1087 (1953).
#pragma once

#include <memory>

#include "engine/settings/settings.h"
#include "engine/system/partners.h"
#include "move.h"
#include "rng/keyed.h"
#include "trial_energies.h"
#include "trial_grid.h"
#include "trial_tally.h"

namespace perrin::monte_carlo {

struct TranslationSettings {
  double displacement = 0.1;
  std::int64_t trials = 1;
};

template <class D>
void describe(D& d, TranslationSettings& s) {
  d.required("displacement", s.displacement, Positive{},
             "a trial moves a particle by up to this along each axis (length)");
  d.optional("trials", s.trials, Between{1, 1000000}, "trials of each particle in a sweep");
}

class Translation final : public Move {
 public:
  Translation(const TranslationSettings& settings, const std::string& group)
      : trials_(settings.trials),
        first_displacement_(settings.displacement),
        displacement_(settings.displacement),
        group_name_(group) {}

  std::string name() const override { return "translation"; }
  void begin(StageContext& context) override;
  void sweep(StepContext& context, double kt) override;
  TrialCounts counts() const override { return tally_.counts(); }
  double size() const override { return displacement_; }
  double largest_size() const override { return largest_; }
  void set_size(double displacement) override { displacement_ = displacement; }
  std::string size_text() const override;
  std::vector<MoveSize> sizes() const override { return {{"displacement", displacement_}}; }
  std::string way() const override;
  Coupled coupled() const override { return Coupled::short_ways; }
  std::string why_none_tried() const override {
    return "all particles have bonds to particles of other active cells";
  }
  std::string why_none_accepted() const override { return "try a smaller displacement"; }
  void state(Archive& archive) override;

 private:
  struct Batch;
  void fit(const StepContext& context);
  std::string why_no_chains(const StepContext& context) const;
  void run_chains(StepContext& context, const TrialCells& cells, const TrialProposal& proposal,
                  double kt);
  void try_all(StepContext& context, const Batch& batch);

  std::int64_t trials_;
  double first_displacement_, displacement_, largest_ = 0;
  std::string group_name_;
  double width_ = 0;           // of cells, at least (length)
  std::string why_no_chains_;  // empty: the force makes all trials of a cell, in one launch
  TrialGrid grid_;
  GroupOnDevice group_;
  std::unique_ptr<Partners> partners_;  // nullptr: nobody has any
  TrialEnergies energies_;
  Buffer<float> log_of_uniform_;  // [active cell]
  TrialTally tally_;              // [active cell]
};

}  // namespace perrin::monte_carlo
