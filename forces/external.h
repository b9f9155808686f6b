// What external forces (a field that acts on every particle by where it is) have in common.
//
// Conventions: an external force adds energy but no virial. The pressure is that of the particles
// on each other; what they exert on a wall or a trap is not part of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/system/configuration.h"

namespace perrin {

class Setup;

/// A fixed point, in the units of Position, from which kernels measure.
class Anchor {
 public:
  /// `unwrapped`: measured along the particle's whole path, image counters included. Otherwise
  /// along a periodic axis to the nearest image of the point by fractions of the edges, which in a
  /// tilted box is not the nearest in space (NearestImage finds that). Along an axis that is not
  /// periodic there is nothing to choose.
  Anchor(const Box& box, Vec3<double> point, bool unwrapped);

  /// The vector from the point to a particle (length).
  PERRIN_HD Real3 to(const Metric& m, const Position& p, const Image& image) const {
    const Real x = along(0, p.x, image.x), y = along(1, p.y, image.y), z = along(2, p.z, image.z);
    return {m.xx * x + m.xy * y + m.xz * z, m.yy * y + m.yz * z, m.zz * z};
  }

 private:
  PERRIN_HD Real along(int axis, std::uint32_t u, std::int32_t image) const {
    const std::int64_t here = std::int64_t(image) * (std::int64_t(1) << 32) + std::int64_t(u);
    const std::int64_t d = here - (axis == 0 ? x_ : axis == 1 ? y_ : z_);
    return Real(nearest_[static_cast<std::size_t>(axis)] ? std::int64_t(std::int32_t(d)) : d);
  }

  std::int64_t x_ = 0, y_ = 0, z_ = 0;  // 2^32 is one (padded) edge
  std::array<bool, 3> nearest_{};
};

/// Which particle types a force acts on.
class TypeMask {
 public:
  /// Empty: all of them.
  TypeMask(const Device& device, std::size_t types, const std::vector<std::uint32_t>& chosen);
  const std::uint32_t* data() const { return mask_.data(); }  // [type]: 1 or 0
  bool has(std::size_t type) const { return host_.at(type) != 0; }
  /// How many of the particles, whose number by type is given, the force acts on.
  std::int64_t count(std::span<const std::int64_t> particles) const;

 private:
  std::vector<std::uint32_t> host_;
  Buffer<std::uint32_t> mask_;
};

/// Indices of the named types; reports unknown names at "types".
std::vector<std::uint32_t> chosen_types(Setup& setup, const std::vector<std::string>& names);

}  // namespace perrin
