// Fixed-point coordinates as lengths in double precision, for kernels.
#pragma once

#include "engine/system/box.h"

namespace perrin::analysis {

struct Lengths {
  double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;  // length per fixed-point unit
  bool wraps[3] = {true, true, true};                     // periodic axes

  /// Fixed-point units along the axes instead: fractions of the box.
  static Lengths units() {
    Lengths u;
    u.xx = u.yy = u.zz = 1;
    return u;
  }
  Lengths() = default;
  explicit Lengths(const Box& box) {
    constexpr double unit = 0x1p-32;
    xx = unit * box.length.x * (1 + 2 * box.padding.x);
    yy = unit * box.length.y * (1 + 2 * box.padding.y);
    zz = unit * box.length.z * (1 + 2 * box.padding.z);
    xy = unit * box.xy * (1 + 2 * box.padding.y);
    xz = unit * box.xz * (1 + 2 * box.padding.z);
    yz = unit * box.yz * (1 + 2 * box.padding.z);
    for (int a = 0; a < 3; ++a) wraps[a] = box.periodic[std::size_t(a)];
  }
  PERRIN_HD Vec3<double> vector(double x, double y, double z) const {
    return {xx * x + xy * y + xz * z, yy * y + yz * z, zz * z};
  }
  /// From the lower corner of the (padded) box, along the whole path.
  PERRIN_HD Vec3<double> unwrapped(const Position& p, const Image& i) const {
    return vector(4294967296.0 * i.x + p.x, 4294967296.0 * i.y + p.y, 4294967296.0 * i.z + p.z);
  }
  /// From b to a: the nearest image within half the heights of the box along periodic axes.
  PERRIN_HD Vec3<double> between(const Position& a, const Position& b) const {
    return vector(along(a.x, b.x, wraps[0]), along(a.y, b.y, wraps[1]), along(a.z, b.z, wraps[2]));
  }

 private:
  PERRIN_HD static double along(std::uint32_t a, std::uint32_t b, bool wrap) {
    return wrap ? double(std::int32_t(a - b)) : double(a) - double(b);
  }
};

}  // namespace perrin::analysis
