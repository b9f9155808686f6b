// Trial moves in an energy that depends on all particles together, as a sum over wave vectors does:
// they are made one after another, each as all `trials.count` moves at once.
#pragma once

#include "engine/components/force.h"
#include "engine/components/trial_moves.h"

namespace perrin {

class StepContext;

class CoupledTrials {
 public:
  virtual ~CoupledTrials() = default;
  /// Trials follow, from where particles are now. Device work; may allocate.
  virtual void begin_trials(StepContext& context) = 0;
  /// Adds to trials.change[0] what the moves together change of the energy, besides what
  /// Force::compute_trials() says. Those that are tried come first; particles that move keep their
  /// distances within a molecule (TrialMoves::molecule). Device work.
  virtual void add_change(StepContext& context, const TrialMoves& trials) = 0;
  /// The trial was made if its particles are in memory where it put them. Device work.
  virtual void follow_trial(StepContext& context, const TrialMoves& trials) = 0;
  /// Whether particles may go further than half of the box in a trial.
  virtual bool takes_long_ways() const = 0;
};

/// What a Force derives from as well in whose energy all particles meet.
class HasCoupledTrials {
 public:
  virtual ~HasCoupledTrials() = default;
  /// What its trials need besides Force::compute_trials(). nullptr: in this job, particles meet
  /// within the ranges alone, or there are no trials (ForceTraits::trials).
  virtual CoupledTrials* coupled_trials() const = 0;
};
inline CoupledTrials* coupled_trials_of(const Force& force) {
  const auto* const one = dynamic_cast<const HasCoupledTrials*>(&force);
  return one ? one->coupled_trials() : nullptr;
}

/// Whether all particles are where they go. (Those that go nowhere are so in any case.) `position`:
/// by place in memory.
PERRIN_HD bool was_made(const TrialMoves& trials, const Position* position) {
  for (std::int64_t k = 0; k < trials.count && trials.move[k].is_tried(); ++k) {
    const TrialMove& m = trials.move[k];
    if (m.after_as == TrialMove::none) continue;
    const Position& now = position[m.after_as];
    if (now.x != m.after.x || now.y != m.after.y || now.z != m.after.z) return false;
  }
  return trials.count > 0 && trials.move[0].is_tried();
}

}  // namespace perrin
