// Displacements of single particles, accepted by Metropolis's rule.
// N. Metropolis, A. W. Rosenbluth, M. N. Rosenbluth, A. H. Teller, E. Teller, J. Chem. Phys. 21,
// 1087 (1953).
#pragma once

#include <memory>

#include "engine/settings/settings.h"
#include "engine/system/archive.h"
#include "engine/system/partners.h"
#include "rng/keyed.h"
#include "trial_grid.h"

namespace perrin::monte_carlo {

struct TranslationSettings {
  double displacement = 0.1;
  std::int64_t trials = 1;
};

template <class D>
void describe(D& d, TranslationSettings& s) {
  d.required("displacement", s.displacement, Positive{},
             "a trial moves a particle by up to this along each axis (length)");
  d.optional("trials", s.trials, Positive{}, "trials of each particle in a sweep");
}

class Translation {
 public:
  explicit Translation(const TranslationSettings& settings)
      : trials_(settings.trials), displacement_(settings.displacement) {}

  /// Throws UserError for a force that has no energies of single moves.
  void begin(StepContext& context, const std::string& group);
  /// `trials` of every particle of the group, at a temperature. Waits.
  void sweep(StepContext& context, const RunKey& key, double kt);
  /// Since the stage began. Waits.
  TrialCounts counts() const;
  double displacement() const { return displacement_; }
  void set_displacement(double displacement) { displacement_ = displacement; }
  /// The largest that makes sense (length).
  double largest() const { return largest_; }
  void state(Archive& archive);

 private:
  struct Batch;
  bool runs_chains(const StepContext& context) const;
  void run_chains(StepContext& context, const TrialCells& cells, const TrialProposal& proposal,
                  double kt);
  void try_all(StepContext& context, const Batch& batch);
  void add_energies(StepContext& context, const Batch& batch, bool after);

  std::int64_t trials_;
  double displacement_, largest_ = 0;
  TrialGrid grid_;
  GroupOnDevice group_;
  std::unique_ptr<Partners> partners_;  // nullptr: nobody has any
  bool fields_ = false;                 // forces other than those of pairs
  Buffer<TrialMove> move_;
  Buffer<std::uint32_t> place_;
  Buffer<double> change_;
  Buffer<float> log_of_uniform_;
  Buffer<Real4> energy_;  // by place, of one force: of particles that may move
  Buffer<TrialCounts> counts_, scratch_;
  TrialCounts before_;  // of the stage before it was resumed
};

}  // namespace perrin::monte_carlo
