#include "io/file_orientations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/error.h"

namespace perrin::io {
namespace {

bool finite(const Vec3<double>& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}
double square(const Quaternion& q) { return q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w; }

std::string text(const Vec3<double>& v) { return fmt::format("({}, {}, {})", v.x, v.y, v.z); }

}  // namespace

bool has_moments(const Configuration& c) {
  return std::ranges::any_of(c.moment_of_inertia,
                             [](const auto& moment) { return moment != Vec3<double>{}; });
}

std::string lost_orientations(const Configuration& c) {
  if (c.orientation.empty() && !has_moments(c)) return {};
  return "orientations, angular momenta and moments of inertia are left out";
}

std::string lost_bodies(const Configuration& c) {
  const auto within = std::ranges::count_if(
      c.topology.body, [](std::uint32_t center) { return center != Topology::no_body; });
  if (within == 0) return {};
  return fmt::format("the rigid bodies of {} particles are left out", within);
}

std::array<double, 4> hoomd_angular_momentum(const Quaternion& q, const Vec3<double>& own) {
  const Quaternion p = compose(normalized(q), Quaternion{own.x, own.y, own.z, 0});
  return {2 * p.w, 2 * p.x, 2 * p.y, 2 * p.z};
}

Vec3<double> own_angular_momentum(const Quaternion& q, const std::array<double, 4>& hoomd) {
  const Quaternion unit = normalized(q), back{-unit.x, -unit.y, -unit.z, unit.w};
  const Quaternion p = compose(back, Quaternion{hoomd[1], hoomd[2], hoomd[3], hoomd[0]});
  return {p.x / 2, p.y / 2, p.z / 2};
}

Vec3<double> moments_of_ellipsoid(double mass, const Vec3<double>& a) {
  return 0.2 * mass *
         Vec3<double>{a.y * a.y + a.z * a.z, a.x * a.x + a.z * a.z, a.x * a.x + a.y * a.y};
}

double volume_of_ellipsoid(const Vec3<double>& a) {
  return 4 * std::numbers::pi / 3 * a.x * a.y * a.z;
}

Ellipsoids::Ellipsoids(const Configuration& c) {
  if (c.orientation.empty() || !has_moments(c)) return;
  for (std::size_t i = 0; i < c.moment_of_inertia.size(); ++i) {
    const Vec3<double>& moment = c.moment_of_inertia[i];
    if (moment == Vec3<double>{}) {
      axes.emplace_back();
      ++points;
      continue;
    }
    const double f = 2.5 / (c.mass.empty() ? 1 : c.mass[i]);
    const double sum = moment.x + moment.y + moment.z;
    Vec3<double> a;
    for (int axis = 0; axis < 3; ++axis) a[axis] = std::sqrt(f * (sum - 2 * moment[axis]));
    // What rounding leaves of an axis of no length is none.
    const double least = 1e-6 * std::sqrt(f * sum);
    if (a.x > least && a.y > least && a.z > least) {
      axes.push_back(a);
      continue;
    }
    why_not = fmt::format("those of particle {}, {}, are not", i, text(moment));
    axes.clear();
    return;
  }
}

void check_orientations(Configuration& c, const std::string& where) {
  const auto count = [&](std::size_t n, const char* what) {
    if (n != 0 && n != c.position.size())
      throw UserError(fmt::format("{}: {} {} for {} particles", where, n, what, c.position.size()));
  };
  count(c.orientation.size(), "orientations");
  count(c.angular_momentum.size(), "angular momenta");
  count(c.moment_of_inertia.size(), "moments of inertia");
  for (std::size_t i = 0; i < c.orientation.size(); ++i) {
    Quaternion& q = c.orientation[i];
    const double length = square(q);
    if (!(length > 1e-12 && length < 1e12))
      throw UserError(
          fmt::format("{}: the orientation of particle {} is ({}, {}, {}, {}) (w, x, y, z), "
                      "expected a rotation: a quaternion of length 1",
                      where, i, q.w, q.x, q.y, q.z));
    if (std::abs(length - 1) > 1e-12) q = normalized(q);
  }
  for (std::size_t i = 0; i < c.moment_of_inertia.size(); ++i)
    if (const auto& m = c.moment_of_inertia[i]; !(finite(m) && m.x >= 0 && m.y >= 0 && m.z >= 0))
      throw UserError(
          fmt::format("{}: the moments of inertia of particle {} are {}, expected numbers that are "
                      "not negative",
                      where, i, text(m)));
  for (std::size_t i = 0; i < c.angular_momentum.size(); ++i)
    if (!finite(c.angular_momentum[i]))
      throw UserError(
          fmt::format("{}: the angular momentum of particle {} is {}, expected finite numbers",
                      where, i, text(c.angular_momentum[i])));
  if (c.angular_momentum.empty() || !c.orientation.empty()) return;
  c.angular_momentum.clear();
  c.warnings.emplace_back("angular momenta are left out: the particles have no orientations");
}

std::int64_t first_out_of_plane(const Configuration& c) {
  const auto it = std::ranges::find_if(
      c.orientation, [](const Quaternion& q) { return q.x * q.x + q.y * q.y > 1e-8; });
  return it == c.orientation.end() ? -1 : it - c.orientation.begin();
}

}  // namespace perrin::io
