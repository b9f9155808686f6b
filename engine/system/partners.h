// Particles with which each particle shares a bond, an angle, a dihedral or an improper.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/system/box.h"
#include "engine/system/configuration.h"

namespace perrin {

class Partners {
 public:
  /// As kernels see them: ids partner[begin[id]] … partner[begin[id + 1] - 1]; one may be there
  /// more than once.
  struct View {
    const std::int64_t* begin;
    const std::uint32_t* partner;
  };
  Partners(const Device& device, std::size_t particles, const Topology& topology);
  View view() const { return {begin_.data(), partner_.data()}; }
  /// Partners are to be looked for up to here (length).
  double reach() const { return reach_; }
  void set_reach(double reach) { reach_ = reach; }

 private:
  Buffer<std::int64_t> begin_;
  Buffer<std::uint32_t> partner_;
  double reach_ = 0;
};

/// The longest distance between a particle and a partner. `position` is by place in memory, `index`
/// says where each id is.
double longest_to_partner(const Topology& topology, const std::vector<Position>& position,
                          const std::vector<std::uint32_t>& index, const Metric& metric);

}  // namespace perrin
