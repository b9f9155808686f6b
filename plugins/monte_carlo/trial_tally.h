// How many trials were made and accepted, counted by kernels.
#pragma once

#include "engine/components/trial_moves.h"
#include "engine/device/buffer.h"
#include "engine/system/archive.h"

namespace perrin::monte_carlo {

class TrialTally {
 public:
  /// Room for this many counters; what was counted before stays. Waits.
  void begin(const Device& device, std::int64_t counters);
  /// For kernels: [counter].
  TrialCounts* data() { return counts_.data(); }
  /// All of them. Waits.
  TrialCounts counts() const;
  void state(Archive& archive);

 private:
  Buffer<TrialCounts> counts_;
  TrialCounts before_;  // counted elsewhere
};

}  // namespace perrin::monte_carlo
