// Where a particle is along its whole path, image counters included, and images of vectors, by
// fractions of the edges of a box. In double, for kernels.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/system/box.h"

namespace perrin {

/// In units of the padded edges.
PERRIN_HD Vec3<double> unwrapped_fraction(const Position& p, const Image& turns) {
  const auto along = [](std::uint32_t whole, int remainder, std::int32_t turn) {
    return (double(whole) + remainder / 256.0) / 4294967296.0 + turn;
  };
  return {along(p.x, p.remainder(0), turns.x), along(p.y, p.remainder(1), turns.y),
          along(p.z, p.remainder(2), turns.z)};
}

/// The point at so many padded edges.
PERRIN_HD Vec3<double> point_of_padded(const Box& box, const Vec3<double>& fraction) {
  double f[3] = {fraction.x, fraction.y, fraction.z};
  for (int a = 0; a < 3; ++a) {
    const double padding = box.periodic[std::size_t(a)] ? 0.0 : box.padding[a];
    f[a] = f[a] * (1 + 2 * padding) - padding;
  }
  return {box.origin.x + box.length.x * f[0] + box.xy * f[1] + box.xz * f[2],
          box.origin.y + box.length.y * f[1] + box.yz * f[2], box.origin.z + box.length.z * f[2]};
}

PERRIN_HD Vec3<double> unwrapped_point(const Box& box, const Position& p, const Image& turns) {
  return point_of_padded(box, unwrapped_fraction(p, turns));
}

/// The image of a vector that is nearest to 0 by fractions of the edges.
PERRIN_HD Vec3<double> nearest_by_fractions(const Box& box, Vec3<double> d) {
  const double z = box.periodic[2] ? std::rint(d.z / box.length.z) : 0.0;
  d.x -= z * box.xz, d.y -= z * box.yz, d.z -= z * box.length.z;
  const double y = box.periodic[1] ? std::rint(d.y / box.length.y) : 0.0;
  d.x -= y * box.xy, d.y -= y * box.length.y;
  const double x = box.periodic[0] ? std::rint(d.x / box.length.x) : 0.0;
  d.x -= x * box.length.x;
  return d;
}

}  // namespace perrin
