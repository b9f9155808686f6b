#include "engine/core/box.h"

#include <algorithm>
#include <limits>

namespace perrin {
namespace {

constexpr double two32 = 4294967296.0, two40 = 256 * two32;
constexpr std::int64_t whole_edge = std::int64_t(1) << 40;

Vec3<double> cell_heights(Vec3<double> l, double xy, double xz, double yz) {
  // The height along an axis is the volume over the area of the face that the other two edges span.
  const Vec3<double> a{l.x, 0, 0}, b{xy, l.y, 0}, c{xz, yz, l.z};
  const double volume = l.x * l.y * l.z;
  const auto area = [](Vec3<double> u, Vec3<double> v) {
    const auto w = cross(u, v);
    return std::sqrt(dot(w, w));
  };
  return {volume / area(b, c), volume / area(c, a), volume / area(a, b)};
}

double stretch(const Box& box, int axis) {
  return box.periodic[static_cast<std::size_t>(axis)] ? 1.0 : 1.0 + 2.0 * box.padding[axis];
}

}  // namespace

Vec3<double> Box::heights() const { return cell_heights(length, xy, xz, yz); }

Vec3<double> Box::padded_heights() const {
  const double sx = stretch(*this, 0), sy = stretch(*this, 1), sz = stretch(*this, 2);
  return cell_heights({length.x * sx, length.y * sy, length.z * sz}, xy * sy, xz * sz, yz * sz);
}

Box Box::padded_for(double range) const {
  Box box = *this;
  const auto h = heights();
  for (int axis = 0; axis < 3; ++axis) {
    // Both sides padded by the range: what lies across the wrap is two ranges away. A little more,
    // so that equality does not count. Without any range, enough that a particle which leaves is
    // seen in the padding and does not come in again on the other side in the same step.
    const double edge = range > 0 ? 1.01 * range / h[axis] : 0.25;
    box.padding[axis] = periodic[static_cast<std::size_t>(axis)] ? 0.0 : edge;
  }
  return box;
}

Vec3<double> Box::fraction(Vec3<double> r) const {
  const Vec3<double> d = r - origin;
  const double z = d.z / length.z;
  const double y = (d.y - yz * z) / length.y;
  const double x = (d.x - xy * y - xz * z) / length.x;
  return {x, y, z};
}

Vec3<double> Box::point(Vec3<double> s) const {
  return origin + Vec3<double>{length.x * s.x + xy * s.y + xz * s.z, length.y * s.y + yz * s.z,
                               length.z * s.z};
}

Position Box::fixed(Vec3<double> r, std::uint32_t type, Image* image) const {
  const Vec3<double> s = fraction(r);
  std::int64_t place[3];  // in units of 2^-40
  for (int axis = 0; axis < 3; ++axis) {
    double f = s[axis];
    std::int32_t wraps = 0;
    if (periodic[static_cast<std::size_t>(axis)]) {
      const double whole = std::floor(f);
      wraps = static_cast<std::int32_t>(whole);
      f -= whole;
      place[axis] = static_cast<std::int64_t>(std::nearbyint(f * two40));
      // What is nearest to the upper face is in the next image, on or just below the lower one.
      if (place[axis] >= whole_edge - 128) place[axis] -= whole_edge, ++wraps;
    } else {
      f = (std::clamp(f, 0.0, 1.0) + padding[axis]) / stretch(*this, axis);
      place[axis] =
          std::min(static_cast<std::int64_t>(std::nearbyint(f * two40)), whole_edge - 129);
    }
    if (image) (*image)[axis] += wraps;
  }
  const auto rounded = [&](int axis) { return (place[axis] + 128) >> 8; };
  const auto left = [&](int axis) { return std::int32_t(place[axis] - rounded(axis) * 256); };
  Position p{std::uint32_t(rounded(0)), std::uint32_t(rounded(1)), std::uint32_t(rounded(2)), type};
  p.set_remainders(left(0), left(1), left(2));
  return p;
}

Vec3<double> Box::point(const Position& p) const {
  const std::uint32_t u[3] = {p.x, p.y, p.z};
  Vec3<double> s;
  for (int axis = 0; axis < 3; ++axis) {
    s[axis] = (u[axis] * 256.0 + p.remainder(axis)) / two40 * stretch(*this, axis);
    if (!periodic[static_cast<std::size_t>(axis)]) s[axis] -= padding[axis];
  }
  return point(s);
}

Metric Box::metric() const {
  const double sx = stretch(*this, 0), sy = stretch(*this, 1), sz = stretch(*this, 2);
  const double hxx = length.x * sx, hxy = xy * sy, hxz = xz * sz;
  const double hyy = length.y * sy, hyz = yz * sz, hzz = length.z * sz;
  Metric m{};
  m.xx = Real(hxx / two32), m.xy = Real(hxy / two32), m.xz = Real(hxz / two32);
  m.yy = Real(hyy / two32), m.yz = Real(hyz / two32), m.zz = Real(hzz / two32);
  m.inv_xx = Real(two32 / hxx);
  m.inv_xy = Real(-two32 * hxy / (hxx * hyy));
  m.inv_xz = Real(two32 * (hxy * hyz - hyy * hxz) / (hxx * hyy * hzz));
  m.inv_yy = Real(two32 / hyy);
  m.inv_yz = Real(-two32 * hyz / (hyy * hzz));
  m.inv_zz = Real(two32 / hzz);
  m.skewed = !orthogonal();
  m.open = !(periodic[0] && periodic[1] && periodic[2]);
  m.lower.fill(0);
  m.upper.fill(std::numeric_limits<std::uint32_t>::max());
  for (int axis = 0; axis < 3; ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    if (periodic[k]) continue;
    const double s = stretch(*this, axis);
    m.lower[k] = static_cast<std::uint32_t>(std::floor(padding[axis] / s * two32));
    m.upper[k] =
        static_cast<std::uint32_t>(std::min(std::ceil((padding[axis] + 1) / s * two32), two32 - 1));
  }
  return m;
}

}  // namespace perrin
