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

namespace perrin {

struct Sampling {
  /// At every step that is a multiple of one of these.
  std::vector<std::int64_t> strides;
  /// Called later, once for each of these steps, in order: the particles have moved on.
  std::function<void(const Instant&)> tell;
  /// Nobody looks at the particles after the last step before Simulation::complete(): of several
  /// processes each knows its own until then.
  bool unseen = false;

  /// From `step` to the next of them; very large without one.
  std::uint64_t steps_to_next(std::uint64_t step) const {
    auto next = std::numeric_limits<std::uint64_t>::max();
    for (const std::int64_t stride : strides)
      next = std::min(next, std::uint64_t(stride) - step % std::uint64_t(stride));
    return next;
  }
  /// The largest number that divides all of them; 0 without one.
  std::int64_t common_stride() const {
    std::int64_t common = 0;
    for (const std::int64_t stride : strides) common = std::gcd(common, stride);
    return common;
  }
  bool is_due(std::uint64_t step) const {
    return std::ranges::any_of(
        strides, [&](std::int64_t stride) { return step % std::uint64_t(stride) == 0; });
  }
};

}  // namespace perrin
