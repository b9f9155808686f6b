// What is done in the steps that are launched together, known before they are.
#pragma once

#include <cstdint>

namespace perrin {

/// Steps with equal plans launch the same work: a GPU that has recorded them for one plan replays
/// the recording for all that are equal.
struct StepPlan {
  int count = 0;                // steps, one after another; 0: what is launched belongs to no step
  std::int64_t box_phase = 0;   // before the first, since the box was due (BoxMover::stride())
  std::int64_t slow_phase = 0;  // … and of the cycle of slow forces (SlowForces::phase())
  bool sampled = false;         // the totals are measured behind the last
  bool timed = false;  // on CUDA: the host waits after each part and takes the time; not recorded

  /// Whether what is due in every `stride`-th step is so in one of these, of which it knows the
  /// phase.
  static bool is_due(std::int64_t phase, std::int64_t index, std::int64_t stride) {
    return (phase + index + 1) % stride == 0;
  }
  /// The phase where something of these steps is due; 0 where nothing is, so that plans are equal.
  static std::int64_t phase_of(std::int64_t phase, int count, std::int64_t stride) {
    return phase + count < stride ? 0 : phase;
  }
  bool operator==(const StepPlan&) const = default;
};

}  // namespace perrin
