// Where particles are with the boxes that they are in, so that molecules are whole; in double
// precision.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/base/real.h"
#include "engine/system/box.h"

namespace perrin::monte_carlo {

/// A position with its image along each axis, in units of 2^-32 of the box.
struct WholePosition {
  std::int64_t at[3];

  PERRIN_HD WholePosition(const Position& p, const Image& image)
      : at{whole(p.x, image.x), whole(p.y, image.y), whole(p.z, image.z)} {}
  PERRIN_HD static std::int64_t whole(std::uint32_t fraction, std::int32_t image) {
    return std::int64_t(image) * (std::int64_t(1) << 32) + std::int64_t(fraction);
  }
  PERRIN_HD Image image() const {
    return {std::int32_t(at[0] >> 32), std::int32_t(at[1] >> 32), std::int32_t(at[2] >> 32)};
  }
  /// As the position of a particle that was at p.
  PERRIN_HD Position position(const Position& p) const {
    Position moved = p;
    moved.x = std::uint32_t(at[0]), moved.y = std::uint32_t(at[1]), moved.z = std::uint32_t(at[2]);
    return moved;
  }
};

/// Vectors by the edges of the box, in double precision.
struct Edges {
  Vec3<double> length;
  double xy, xz, yz;
  explicit Edges(const Box& b) : length(b.length), xy(b.xy), xz(b.xz), yz(b.yz) {}

  /// From b to a.
  PERRIN_HD Vec3<double> vector(const WholePosition& a, const WholePosition& b) const {
    const double f[3] = {0x1p-32 * double(a.at[0] - b.at[0]), 0x1p-32 * double(a.at[1] - b.at[1]),
                         0x1p-32 * double(a.at[2] - b.at[2])};
    return {length.x * f[0] + xy * f[1] + xz * f[2], length.y * f[1] + yz * f[2], length.z * f[2]};
  }
  PERRIN_HD void move(WholePosition& p, const Vec3<double>& by) const {
    const double z = by.z / length.z, y = (by.y - yz * z) / length.y,
                 x = (by.x - xy * y - xz * z) / length.x;
    p.at[0] += std::int64_t(std::floor(x * 0x1p32 + 0.5));
    p.at[1] += std::int64_t(std::floor(y * 0x1p32 + 0.5));
    p.at[2] += std::int64_t(std::floor(z * 0x1p32 + 0.5));
  }
};

/// Of another type.
PERRIN_HD Position typed(Position p, std::uint32_t type) {
  p.tail = (p.tail & 0xffffffu) | type << 24;
  return p;
}
/// Where another one is, as itself.
PERRIN_HD Position at_place_of(const Position& there, const Position& self) {
  return typed(there, self.type());
}

}  // namespace perrin::monte_carlo
