// The two particles nearest to each other, for messages.
#pragma once

#include <optional>

#include "engine/system/configuration.h"

namespace perrin {

struct ClosestPair {
  std::uint32_t a, b;  // ids, a < b
  double distance;
};

/// Nothing for fewer than two particles. On the host; positions must be finite. Exact up
/// to half the smallest height of the box.
std::optional<ClosestPair> closest_pair(const Configuration& configuration);

}  // namespace perrin
