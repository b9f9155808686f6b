#include "engine/system/box.h"

#include <algorithm>

namespace perrin {
namespace {

constexpr double two32 = 4294967296.0, two40 = 256 * two32;
constexpr std::int64_t whole_edge = std::int64_t(1) << 40;

double stretch(const Box& box, int axis) {
  return box.periodic[static_cast<std::size_t>(axis)] ? 1.0 : 1.0 + 2.0 * box.padding[axis];
}

}  // namespace

Vec3<double> Box::heights() const { return detail::heights_of(length, xy, xz, yz); }

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

Metric Box::metric() const { return detail::metric_of(*this); }

}  // namespace perrin
