#include "io/turned_box.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "io/formats.h"

namespace perrin::io {
namespace {

using Vector = Vec3<double>;

double product(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
double length(const Vector& a) { return std::sqrt(product(a, a)); }
Vector cross(const Vector& a, const Vector& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

}  // namespace

Vector TurnedBox::operator()(const Vector& v) const {
  return {product(axes[0], v), product(axes[1], v), product(axes[2], v)};
}

Quaternion TurnedBox::operator()(const Quaternion& q) const {
  // The rotation whose matrix has the axes as rows: from the largest of its four components.
  const Vector &a = axes[0], &b = axes[1], &c = axes[2];
  const double trace = a.x + b.y + c.z;
  Quaternion turn;
  if (trace > 0)
    turn = {c.y - b.z, a.z - c.x, b.x - a.y, 1 + trace};
  else if (a.x >= b.y && a.x >= c.z)
    turn = {1 + a.x - b.y - c.z, a.y + b.x, a.z + c.x, c.y - b.z};
  else if (b.y >= c.z)
    turn = {a.y + b.x, 1 + b.y - a.x - c.z, b.z + c.y, a.z - c.x};
  else
    turn = {a.z + c.x, b.z + c.y, 1 + c.z - a.x - b.y, b.x - a.y};
  return compose(normalized(turn), q);
}

TurnedBox turn_box(const std::array<Vector, 3>& e, const std::string& where) {
  const double scale = std::max({length(e[0]), length(e[1]), length(e[2])});
  // What box_from_edges() takes as it is.
  const double zero = 1e-6 * scale;
  if (e[0].x > 0 && e[1].y > 0 && e[2].z > 0 && std::abs(e[0].y) <= zero &&
      std::abs(e[0].z) <= zero && std::abs(e[1].z) <= zero)
    return {box_from_edges(e, where), false, {Vector{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const Vector normal = cross(e[0], e[1]);
  const double volume = product(normal, e[2]);
  const auto fail = [&](const char* what) {
    throw UserError(
        fmt::format("{}: box edges a = ({}, {}, {}), b = ({}, {}, {}), c = ({}, {}, {}): {}", where,
                    e[0].x, e[0].y, e[0].z, e[1].x, e[1].y, e[1].z, e[2].x, e[2].y, e[2].z, what));
  };
  // The same rounding as above decides whether there is a volume at all.
  if (!(std::abs(volume) > 1e-9 * length(e[0]) * length(e[1]) * length(e[2])))
    fail("they span no volume");
  if (volume < 0) fail("they are left-handed: exchange two of them, or reverse one");
  TurnedBox t;
  t.turned = true;
  t.axes[0] = 1 / length(e[0]) * e[0];
  t.axes[2] = 1 / length(normal) * normal;
  t.axes[1] = cross(t.axes[2], t.axes[0]);
  const Vector a = t(e[0]), b = t(e[1]), c = t(e[2]);
  const auto tilt = [&](double x) { return std::abs(x) > 1e-12 * scale ? x : 0.0; };
  t.box.length = {a.x, b.y, c.z};
  t.box.xy = tilt(b.x), t.box.xz = tilt(c.x), t.box.yz = tilt(c.y);
  return t;
}

}  // namespace perrin::io
