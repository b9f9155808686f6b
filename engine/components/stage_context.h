// What an integrator sees of a simulation between steps, when a stage begins or its particles are
// others: a StepContext, and what makes forces, totals and counts ready for the next step.
#pragma once

#include "engine/components/step_context.h"
#include "engine/components/totals.h"

namespace perrin {

class StageContext : public StepContext {
 public:
  /// Forces at the current positions, computed if they are not there yet. For begin(); may wait.
  virtual void ensure_forces() = 0;
  /// Which integrator is about to act, if begin() changes what forces leave to it
  /// (Force::prepare()). The degrees of freedom are counted for it; forces computed for another
  /// time step are void.
  virtual void prepare(const Integrator& integrator) = 0;
  /// Energies, virial, momentum of the current state (cached until the next step). Does not touch
  /// the forces that the integrator uses.
  virtual const Totals& totals() = 0;
  /// Integrators of the running stage have other particles than before (Integrator::motion()).
  /// `records_anew`: recorded steps do not hold any more.
  virtual void follow_groups(const Integrator& integrator, bool records_anew) = 0;
  /// After positions and velocities were changed by device work, as those of swap_particles():
  /// recorded steps still hold.
  virtual void particles_were_moved() = 0;

 protected:
  using StepContext::StepContext;
  ~StageContext() = default;
};

}  // namespace perrin
