// What kernels are told of the step that runs, and where they say what happened in it.
#pragma once

#include "engine/components/step_plan.h"
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
  StepPlan plan;                   // of the steps that are being launched
  std::int64_t index = 0;          // which of them
  bool exchanges = false;          // they leave the particle arrays exchanged

  /// Whether work launched now belongs to a step.
  bool inside() const { return plan.count > 0; }
};

}  // namespace perrin
