// Whom each particle shares a bond, an angle, a dihedral or an improper with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/box.h"
#include "engine/core/configuration.h"

namespace perrin {

class Partners {
 public:
  Partners(std::size_t particles, const Topology& topology);
  /// Ids; an id may be there more than once.
  std::span<const std::uint32_t> of(std::uint32_t id) const {
    return {partner_.data() + begin_[id], partner_.data() + begin_[id + 1]};
  }
  /// The longest distance between a particle and a partner. `position` is by place in memory,
  /// `index` says where each id is.
  double longest(const Position* position, const std::uint32_t* index, const Metric& metric) const;
  /// Partners are to be looked for up to here (length).
  double reach = 0;

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> partner_;
};

}  // namespace perrin
