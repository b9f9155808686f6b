// What kernels are told of the step that runs, and where they say what happened in it.
#pragma once

#include "engine/device/faults.h"

namespace perrin {

/// Steps are recorded several at a time: each has a word of its own with its number, which the
/// device keeps up to date.
struct RunningStep {
  static constexpr int usual = 8, most = 16;  // steps of a recording

  explicit RunningStep(const Device& device)
      : number(device, most), progress(device, 1), fault(device, 2) {}

  Buffer<std::uint64_t> number;    // [step of the recording]: completed steps before it
  Buffer<std::uint32_t> progress;  // which step of the recording has moved the particles last
  Buffer<Fault> fault;             // [1]: of a trial (StepContext::begin_trial())
  std::int64_t index = 0;          // the step that is being launched
  std::int64_t count = 0;          // … of this number
  bool inside = false;             // work launched now belongs to a step
  bool exchanges = false;          // these steps leave the particle arrays exchanged
  bool box_is_due = false;         // in the recorded step (BoxMover::stride())
  std::int64_t slow_phase = 0;     // SlowForces::phase() before the first recorded step
  bool sampling = false;           // on CUDA: the host waits after each part and takes the time
};

}  // namespace perrin
