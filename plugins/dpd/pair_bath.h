// What forces with friction of pairs and integrators that apply it themselves know of each other.
#pragma once

#include "engine/base/real.h"

namespace perrin {
class StepContext;
}

namespace perrin::dpd {

/// A force with friction and noise of pairs that an integrator can apply itself, as one update of
/// the velocities (split.h).
class PairBath {
 public:
  virtual ~PairBath() = default;
  /// Allocates. Before the first step.
  virtual void prepare_split(StepContext& context) = 0;
  /// After compute() of the same step, in which it has drawn the random impulses u: v += (u - dt
  /// drag(v + u / (4 m) + shift)) / m; `shift` by memory index. Device work only.
  virtual void update_velocities(StepContext& context, const Real4* shift) = 0;
};

/// An integrator that calls update_velocities() of every PairBath: compute() then leaves friction
/// and noise out.
class AppliesFriction {
 public:
  virtual ~AppliesFriction() = default;
};

}  // namespace perrin::dpd
