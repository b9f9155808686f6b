// The nearest periodic image of a vector in a box of any shape.
#pragma once

#include <array>
#include <cmath>

#include "engine/system/box.h"

namespace perrin {

/// Edges a = (xx, 0, 0), b = (xy, yy, 0), c = (xz, yz, zz), and the axes along which there are
/// images.
template <class T>
struct Images {
  T xx, yy, zz, xy, xz, yz;
  std::array<bool, 3> periodic;

  /// The shortest of the images of r; r itself where none is shorter by more than rounding.
  /// An image that is shorter than |r| lies within |r| along z, then along y; along x the best is
  /// known. That is exact, whatever the tilts.
  template <class V>
  PERRIN_HD V nearest(const V& r) const {
    V best = r;
    T least = r.x * r.x + r.y * r.y + r.z * r.z;
    const T reach = std::sqrt(least);
    const T z0 = periodic[2] ? std::ceil((-reach - r.z) / zz) : T(0);
    const T z1 = periodic[2] ? std::floor((reach - r.z) / zz) : T(0);
    for (T nz = z0; nz <= z1; nz += T(1)) {
      const T z = r.z + nz * zz, y = r.y + nz * yz, x = r.x + nz * xz;
      const T left = least - z * z;
      if (!(left >= T(0)) && nz != T(0)) continue;
      const T around = left > T(0) ? std::sqrt(left) : T(0);
      const T y0 = periodic[1] ? std::ceil((-around - y) / yy) : T(0);
      const T y1 = periodic[1] ? std::floor((around - y) / yy) : T(0);
      for (T ny = y0; ny <= y1; ny += T(1)) {
        const T v = y + ny * yy, w = x + ny * xy;
        const T nx = periodic[0] ? std::rint(-w / xx) : T(0);
        const T u = w + nx * xx, square = u * u + v * v + z * z;
        if (square < least * T(1 - 1e-6)) {
          least = square;
          best.x = u, best.y = v, best.z = z;
        }
      }
    }
    return best;
  }
};

/// Those of a box; in two dimensions none along z.
inline Images<double> images_of(const Box& box) {
  return {box.length.x,
          box.length.y,
          box.length.z,
          box.xy,
          box.xz,
          box.yz,
          {box.periodic[0], box.periodic[1], box.dimension == 3 && box.periodic[2]}};
}

/// From b to a as bonds see it, in kernels: along periodic axes to the nearest image, in tilted
/// boxes too; along others, where there are no images, the whole way.
class BondVector {
 public:
  explicit BondVector(const Box& box)
      : periodic_{box.periodic[0], box.periodic[1], box.dimension == 3 && box.periodic[2]},
        open_(!box.periodic[0] || !box.periodic[1] || !box.periodic[2]) {}

  PERRIN_HD Real3 operator()(const Metric& m, const Position& a, const Position& b) const {
    const Real3 r = open_ ? whole(m, a, b) : m.vector(a, b);
    if (!m.skewed) return r;
    constexpr Real edge = Real(4294967296.0);
    return Images<Real>{m.xx * edge, m.yy * edge, m.zz * edge, m.xy * edge,
                        m.xz * edge, m.yz * edge, periodic_}
        .nearest(r);
  }

 private:
  PERRIN_HD static Real along(bool wraps, std::uint32_t a, std::uint32_t b) {
    return wraps ? Real(std::int32_t(a - b)) : Real(std::int64_t(a) - std::int64_t(b));
  }
  PERRIN_HD Real3 whole(const Metric& m, const Position& a, const Position& b) const {
    const Real x = along(periodic_[0], a.x, b.x), y = along(periodic_[1], a.y, b.y),
               z = along(periodic_[2], a.z, b.z);
    return {m.xx * x + m.xy * y + m.xz * z, m.yy * y + m.yz * z, m.zz * z};
  }

  std::array<bool, 3> periodic_;
  bool open_;
};

}  // namespace perrin
