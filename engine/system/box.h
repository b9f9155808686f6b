// The simulation box and the fixed-point coordinates inside it.
#pragma once

#include <array>

#include "engine/base/real.h"

namespace perrin {

/// What a kernel needs of the box. Coordinates are fractions in units of 2^-32 (Position), so the
/// minimum image is the wrap-around of integer subtraction; rows of the upper triangular matrix
/// turn a difference into a vector in length units.
struct alignas(16) Metric {
  Real xx, yy, zz, xy, xz, yz;  // length per unit of the fixed-point fraction
  Real inv_xx, inv_yy, inv_zz, inv_xy, inv_xz, inv_yz;  // fixed-point units per length
  /// A particle outside has left a non-periodic axis; the fourth number has no bounds.
  std::array<std::uint32_t, 4> lower, upper;
  bool skewed;  // xy, xz or yz is not 0
  bool open;    // some axis is not periodic

  PERRIN_HD Real3 vector(std::int32_t dx, std::int32_t dy, std::int32_t dz) const {
    const Real x = Real(dx), y = Real(dy), z = Real(dz);
    return {xx * x + xy * y + xz * z, yy * y + yz * z, zz * z};
  }
  /// The minimum image vector from b to a.
  PERRIN_HD Real3 vector(const Position& a, const Position& b) const {
    return vector(std::int32_t(a.x - b.x), std::int32_t(a.y - b.y), std::int32_t(a.z - b.z));
  }
  /// A displacement in length units as fixed-point units (not yet rounded).
  PERRIN_HD Real3 fixed(Real3 r) const {
    return {multiply_add(inv_xx, r.x, multiply_add(inv_xy, r.y, inv_xz * r.z)),
            multiply_add(inv_yy, r.y, inv_yz * r.z), inv_zz * r.z};
  }

  // Whole words: four numbers at a time on the CPU.
  PERRIN_HD Real distance2(const Position& a, const Position& b) const {
#ifdef __CUDA_ARCH__
    const Real3 d = vector(a, b);
    return dot(d, d);
#else
    // Unsigned, for the difference wraps around.
    const auto d = std::bit_cast<FourWords>(a) - std::bit_cast<FourWords>(b);
    const auto r = __builtin_convertvector(reinterpret_cast<FourInts>(d), FourReals);
    FourReals v = FourReals{xx, yy, zz, 0} * r;
    if (skewed)
      v += FourReals{xy, yz, 0, 0} * FourReals{r[1], r[2], 0, 0} + FourReals{xz, 0, 0, 0} * r[2];
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
#endif
  }
  /// As fixed(); w of the result is 0.
  PERRIN_HD Real4 fixed_word(const Real4& v) const {
#ifdef __CUDA_ARCH__
    const Real3 u = fixed(v.xyz());
    return {u.x, u.y, u.z, 0};
#else
    const auto r = std::bit_cast<FourReals>(v);
    FourReals u = FourReals{inv_xx, inv_yy, inv_zz, 0} * r;
    if (skewed)
      u += FourReals{inv_xy, inv_yz, 0, 0} * FourReals{r[1], r[2], 0, 0} +
           FourReals{inv_xz, 0, 0, 0} * r[2];
    return std::bit_cast<Real4>(u);
#endif
  }
};

/// What recorded steps may change. A GPU reads it where it is kept, since a launch captures its
/// arguments for good; on the CPU it is as it was when the loop was launched.
template <class T>
struct Current {
  T now;               // when the loop was launched: on a GPU, too, unless it moves
  const T* kept;       // in the memory of a GPU
  bool moves = false;  // steps change it

  PERRIN_HD const T& operator*() const {
#ifdef __CUDA_ARCH__
    return *kept;
#else
    return now;
#endif
  }
  PERRIN_HD const T* operator->() const { return &**this; }
};

/// A parallelepiped: edges a = (lx,0,0), b = (xy,ly,0), c = (xz,yz,lz) in length units, lower
/// corner `origin`. In two dimensions c = (0,0,1) and every z is 0. Along an axis that is not
/// periodic the coordinates live in an edge padded by `padding` on both sides, so that nothing
/// interacts across it.
class Box {
 public:
  Vec3<double> length{1, 1, 1};  // lx, ly, lz
  double xy = 0, xz = 0, yz = 0;
  Vec3<double> origin{-0.5, -0.5, -0.5};
  std::array<bool, 3> periodic{true, true, true};
  int dimension = 3;
  Vec3<double> padding{0, 0, 0};  // in units of the edge, non-periodic axes only

  bool orthogonal() const { return xy == 0 && xz == 0 && yz == 0; }
  PERRIN_HD double volume() const { return length.x * length.y * length.z; }  // an area in 2D
  std::array<Vec3<double>, 3> edges() const {
    return {Vec3<double>{length.x, 0, 0}, {xy, length.y, 0}, {xz, yz, length.z}};
  }
  /// Distance between opposite faces.
  Vec3<double> heights() const;
  /// Heights of the padded box, in which the fixed-point coordinates live.
  PERRIN_HD Vec3<double> padded_heights() const;
  /// The same box with non-periodic axes padded so that `range` does not reach across.
  Box padded_for(double range) const;

  /// Coordinates in units of the edges (0 to 1 inside) of a point, and back.
  Vec3<double> fraction(Vec3<double> r) const;
  Vec3<double> point(Vec3<double> fraction) const;
  /// Fixed-point position of a point to 2^-40 of the edges, with the image it lies in. Points
  /// outside a non-periodic axis are the caller's error; they are clamped.
  Position fixed(Vec3<double> r, std::uint32_t type, Image* image = nullptr) const;
  /// Wrapped point of a fixed-point position, remainders included: it may lie below a lower face by
  /// 2^-33 of the edge.
  Vec3<double> point(const Position& p) const;
  Metric metric() const;

  friend bool operator==(const Box&, const Box&) = default;
};

namespace detail {

/// Distances between opposite faces of a box with these edges: the volume over the area of the face
/// that the other two edges span.
PERRIN_HD Vec3<double> heights_of(Vec3<double> l, double xy, double xz, double yz) {
  const Vec3<double> a{l.x, 0, 0}, b{xy, l.y, 0}, c{xz, yz, l.z};
  const double volume = l.x * l.y * l.z;
  const Vec3<double> u = cross(b, c), v = cross(c, a), w = cross(a, b);
  return {volume / std::sqrt(dot(u, u)), volume / std::sqrt(dot(v, v)),
          volume / std::sqrt(dot(w, w))};
}

/// Box::metric(), for kernels that change the box.
PERRIN_HD Metric metric_of(const Box& box) {
  constexpr double two32 = 4294967296.0;
  double s[3];
  for (int axis = 0; axis < 3; ++axis)
    s[axis] = box.periodic[std::size_t(axis)] ? 1.0 : 1.0 + 2.0 * box.padding[axis];
  const double hxx = box.length.x * s[0], hxy = box.xy * s[1], hxz = box.xz * s[2];
  const double hyy = box.length.y * s[1], hyz = box.yz * s[2], hzz = box.length.z * s[2];
  Metric m{};
  m.xx = Real(hxx / two32), m.xy = Real(hxy / two32), m.xz = Real(hxz / two32);
  m.yy = Real(hyy / two32), m.yz = Real(hyz / two32), m.zz = Real(hzz / two32);
  m.inv_xx = Real(two32 / hxx);
  m.inv_xy = Real(-two32 * hxy / (hxx * hyy));
  m.inv_xz = Real(two32 * (hxy * hyz - hyy * hxz) / (hxx * hyy * hzz));
  m.inv_yy = Real(two32 / hyy);
  m.inv_yz = Real(-two32 * hyz / (hyy * hzz));
  m.inv_zz = Real(two32 / hzz);
  m.skewed = box.xy != 0 || box.xz != 0 || box.yz != 0;
  m.open = !(box.periodic[0] && box.periodic[1] && box.periodic[2]);
  for (int axis = 0; axis < 4; ++axis) m.lower[std::size_t(axis)] = 0;
  for (int axis = 0; axis < 4; ++axis) m.upper[std::size_t(axis)] = 0xffffffffu;
  for (int axis = 0; axis < 3; ++axis) {
    const auto k = std::size_t(axis);
    if (box.periodic[k]) continue;
    const double above = std::ceil((box.padding[axis] + 1) / s[axis] * two32);
    m.lower[k] = std::uint32_t(std::floor(box.padding[axis] / s[axis] * two32));
    m.upper[k] = std::uint32_t(above < two32 - 1 ? above : two32 - 1);
  }
  return m;
}

}  // namespace detail

PERRIN_HD Vec3<double> Box::padded_heights() const {
  double s[3];
  for (int axis = 0; axis < 3; ++axis)
    s[axis] = periodic[std::size_t(axis)] ? 1.0 : 1.0 + 2.0 * padding[axis];
  return detail::heights_of({length.x * s[0], length.y * s[1], length.z * s[2]}, xy * s[1],
                            xz * s[2], yz * s[2]);
}

}  // namespace perrin
