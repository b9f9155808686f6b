// What forces with friction of pairs and integrators that apply it themselves know of each other.
#pragma once

#include "engine/base/real.h"

namespace perrin {
class StepContext;
}

namespace perrin::dpd {

/// A force with friction and noise of pairs that an integrator can apply itself, as one update of
/// the velocities (split.h). compute() leaves them out then (Integrator::applies_pair_friction()).
class PairBath {
 public:
  virtual ~PairBath() = default;
  /// After compute() of the same step, in which it has drawn the random impulses u: v += (u - dt
  /// drag(v + u / (4 m) + shift)) / m, of the particles of StepContext::group(); in the drag others
  /// have the velocities that they have. `shift` by memory index. Device work only.
  virtual void update_velocities(StepContext& context, const Real4* shift) = 0;
};

}  // namespace perrin::dpd
