// Pairs of particles within a distance of each other, on the host.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/device/device.h"
#include "engine/system/box.h"

namespace perrin {

/// Distances between fixed-point positions in double precision: along periodic axes to the nearest
/// image, in tilted boxes too; along others the whole way. Remainders below 2^-32 of the edges are
/// not looked at.
class PositionDistance {
 public:
  explicit PositionDistance(const Box& box);
  double square(const Position& a, const Position& b) const {
    const double x = along(0, a.x, b.x), y = along(1, a.y, b.y), z = along(2, a.z, b.z);
    if (skewed_) return in_tilted_box(x, y, z);
    const double u = x * edge_[0].x, v = y * edge_[1].y, w = z * edge_[2].z;
    return u * u + v * v + w * w;
  }

 private:
  double along(std::size_t axis, std::uint32_t a, std::uint32_t b) const {
    return periodic_[axis] ? double(std::int32_t(a - b))
                           : double(std::int64_t(a) - std::int64_t(b));
  }
  double in_tilted_box(double x, double y, double z) const;

  std::array<bool, 3> periodic_;
  bool skewed_;
  Vec3<double> edge_[3];  // per unit of the fixed-point fraction
  Box padded_;            // whose edges are those of the fractions
};

/// Two particles, by id; a < b.
struct CloseCandidate {
  std::uint32_t a, b;
};

/// All pairs of the particles `ids` that are at most `distance` (length) apart and that
/// `wanted(a, b)` takes, in an order that does not depend on threads; `position` is by id. `host`
/// is a CPU. `distance` must not exceed half the smallest height of the box along periodic axes.
/// `wanted` is called by several threads at a time.
std::vector<CloseCandidate> close_pairs(
    const Device& host, const Box& box, const std::vector<Position>& position,
    const std::vector<std::uint32_t>& ids, double distance,
    const std::function<bool(std::uint32_t, std::uint32_t)>& wanted);

}  // namespace perrin
