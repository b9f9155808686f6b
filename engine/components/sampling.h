// Instants within Simulation::advance() at which the totals are measured, without the device
// waiting for the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/components/instant.h"
#include "engine/components/schedule.h"

namespace perrin {

struct Sampling {
  /// At every step that is one of one of these.
  std::vector<Schedule> schedules;
  std::uint64_t begin = 0;  // step at which the running stage began
  /// Called later, once for each of these steps, in order: the particles have moved on.
  std::function<void(const Instant&)> tell;
  /// Nobody looks at the particles after the last step before Simulation::complete(): of several
  /// processes each knows its own until then.
  bool unseen = false;

  /// From `step` to the next of them; very large without one.
  std::uint64_t steps_to_next(std::uint64_t step) const {
    auto next = std::numeric_limits<std::uint64_t>::max();
    for (const Schedule& s : schedules) next = std::min(next, s.steps_to_next(step, begin));
    return next;
  }
  /// The largest number that divides all of them; 0 without one.
  std::int64_t common_stride() const {
    std::int64_t common = 0;
    for (const Schedule& s : schedules) common = std::gcd(common, s.stride());
    return common;
  }
  bool is_due(std::uint64_t step) const {
    return std::ranges::any_of(schedules, [&](const Schedule& s) { return s.is_due(step, begin); });
  }
};

}  // namespace perrin
