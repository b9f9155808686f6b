#include "engine/system/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"

namespace perrin {
namespace {

bool finite(Vec3<double> v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

std::string text(Vec3<double> v) { return fmt::format("({:.6g}, {:.6g}, {:.6g})", v.x, v.y, v.z); }

/// "sentence" for the first particle it is true of, with the number of others.
template <class Wrong, class Sentence>
void first_wrong(std::size_t n, std::vector<std::string>& list, Wrong wrong, Sentence sentence) {
  std::size_t first = n, count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!wrong(i)) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return;
  std::string what = sentence(first);
  if (count > 1) what += fmt::format(" (and {} more)", count - 1);
  list.push_back(what);
}

void check_orientations(const Configuration& c, std::vector<std::string>& list) {
  first_wrong(
      c.orientation.size(), list,
      [&](std::size_t i) {
        const Quaternion& q = c.orientation[i];
        const double square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
        return !(square > 1e-12 && square < 1e12);
      },
      [&](std::size_t i) {
        const Quaternion& q = c.orientation[i];
        return fmt::format(
            "particle {} has the orientation ({:.6g}, {:.6g}, {:.6g}, {:.6g}) (w, x, y, z), which "
            "is no rotation",
            i, q.w, q.x, q.y, q.z);
      });
  first_wrong(
      c.angular_momentum.size(), list,
      [&](std::size_t i) { return !finite(c.angular_momentum[i]); },
      [&](std::size_t i) {
        return fmt::format("particle {} has the angular momentum {}", i,
                           text(c.angular_momentum[i]));
      });
  first_wrong(
      c.moment_of_inertia.size(), list,
      [&](std::size_t i) {
        const Vec3<double>& m = c.moment_of_inertia[i];
        return !(finite(m) && m.x >= 0 && m.y >= 0 && m.z >= 0);
      },
      [&](std::size_t i) {
        return fmt::format("particle {} has the moments of inertia {}, expected none below 0", i,
                           text(c.moment_of_inertia[i]));
      });
}

}  // namespace

std::vector<std::string> check_parts(const Configuration& c) {
  std::vector<std::string> list;
  const std::size_t n = c.position.size();
  const auto count = [&](const char* what, std::size_t m, bool may_be_absent) {
    if (m != n && !(may_be_absent && m == 0))
      list.push_back(fmt::format("has {} particles, but {} {}", n, m, what));
  };
  count("types", c.type.size(), false);
  count("velocities", c.velocity.size(), true);
  count("images", c.image.size(), true);
  count("masses", c.mass.size(), true);
  count("charges", c.charge.size(), true);
  count("diameters", c.diameter.size(), true);
  count("orientations", c.orientation.size(), true);
  count("angular momenta", c.angular_momentum.size(), true);
  count("moments of inertia", c.moment_of_inertia.size(), true);
  for (const auto& [name, values] : c.attributes)
    count(("numbers of the attribute \"" + name + "\"").c_str(), values.size(), false);
  count("molecules", c.topology.molecule.size(), true);
  const auto members = [&](const char* what, std::size_t k,
                           std::initializer_list<std::uint32_t> ids, std::uint32_t type,
                           std::size_t types) {
    for (const std::uint32_t id : ids)
      if (id >= n) list.push_back(fmt::format("{} {} names particle {} of {}", what, k, id, n));
    if (type >= types)
      list.push_back(fmt::format("{} {} is of type {} of {}", what, k, type, types));
  };
  const Topology& t = c.topology;
  for (std::size_t k = 0; k < t.bonds.size() && list.empty(); ++k)
    members("bond", k, {t.bonds[k].a, t.bonds[k].b}, t.bonds[k].type, t.bond_types.size());
  for (std::size_t k = 0; k < t.angles.size() && list.empty(); ++k)
    members("angle", k, {t.angles[k].a, t.angles[k].b, t.angles[k].c}, t.angles[k].type,
            t.angle_types.size());
  const auto torsions = [&](const char* what, const std::vector<Topology::Dihedral>& all,
                            std::size_t types) {
    for (std::size_t k = 0; k < all.size() && list.empty(); ++k)
      members(what, k, {all[k].a, all[k].b, all[k].c, all[k].d}, all[k].type, types);
  };
  torsions("dihedral", t.dihedrals, t.dihedral_types.size());
  torsions("improper", t.impropers, t.improper_types.size());
  return list;
}

std::vector<std::string> check_configuration(const Configuration& c) {
  std::vector<std::string> list;
  const std::size_t n = c.position.size();
  if (n == 0) return {"has no particles"};
  if (n >= std::numeric_limits<std::uint32_t>::max())
    return {fmt::format("has {} particles, at most {} are possible", n,
                        std::numeric_limits<std::uint32_t>::max() - 1)};
  if (c.types.size() > Position::type_count)
    return {fmt::format("has {} particle types, at most {} are possible", c.types.size(),
                        Position::type_count)};
  for (int axis = 0; axis < c.box.dimension; ++axis)
    if (!(c.box.length[axis] > 0) || !std::isfinite(c.box.length[axis]))
      return {fmt::format("the box must have positive edges, got {}", text(c.box.length))};
  for (const double tilt : {c.box.xy, c.box.xz, c.box.yz})
    if (!std::isfinite(tilt) || std::abs(tilt) > 1e18)
      return {fmt::format("tilts of the box must be at most {:g}, got {:.6g}, {:.6g}, {:.6g}", 1e18,
                          c.box.xy, c.box.xz, c.box.yz)};
  // Squares of distances are float in the default build.
  constexpr double least = 1e-18, most = 1e18;
  const auto heights = c.box.heights();
  for (int axis = 0; axis < c.box.dimension; ++axis)
    if (!(heights[axis] >= least && c.box.length[axis] <= most))
      return {fmt::format("edges and heights of the box must be from {:g} to {:g}, got edges {}",
                          least, most, text(c.box.length))};
  first_wrong(
      n, list, [&](std::size_t i) { return !finite(c.position[i]); },
      [&](std::size_t i) {
        return fmt::format("particle {} has the position {}", i, text(c.position[i]));
      });
  first_wrong(
      n, list,
      [&](std::size_t i) {
        if (!finite(c.position[i])) return false;
        const auto s = c.box.fraction(c.position[i]);
        constexpr double rounding =
            0x1p-30;  // some units of positions, for what was in the box once
        for (int axis = 0; axis < c.box.dimension; ++axis)
          if (!c.box.periodic[static_cast<std::size_t>(axis)] &&
              !(s[axis] >= -rounding && s[axis] <= 1 + rounding))
            return true;
        return false;
      },
      [&](std::size_t i) {
        return fmt::format(
            "particle {} at {} lies outside the box along an axis that is not periodic", i,
            text(c.position[i]));
      });
  first_wrong(
      c.velocity.size(), list,
      [&](std::size_t i) {
        const Vec3<double>& v = c.velocity[i];
        return !std::isfinite(Real(v.x)) || !std::isfinite(Real(v.y)) || !std::isfinite(Real(v.z));
      },
      [&](std::size_t i) {
        return fmt::format("particle {} has the velocity {}; expected numbers up to {:.2g}", i,
                           text(c.velocity[i]), double(std::numeric_limits<Real>::max()));
      });
  first_wrong(
      c.mass.size(), list,
      [&](std::size_t i) { return !(c.mass[i] > 0) || !std::isnormal(Real(1 / c.mass[i])); },
      [&](std::size_t i) {
        return fmt::format("particle {} has the mass {}; expected one between {:.2g} and {:.2g}", i,
                           c.mass[i], 1 / double(std::numeric_limits<Real>::max()),
                           1 / double(std::numeric_limits<Real>::min()));
      });
  check_orientations(c, list);
  first_wrong(
      c.type.size(), list, [&](std::size_t i) { return c.type[i] >= c.types.size(); },
      [&](std::size_t i) {
        return fmt::format("particle {} has the type number {}, there are {} types", i, c.type[i],
                           c.types.size());
      });
  return list;
}

double largest_range(const Box& box) {
  const auto heights = box.heights();
  double largest = std::numeric_limits<double>::infinity();
  for (int axis = 0; axis < box.dimension; ++axis)
    if (box.periodic[static_cast<std::size_t>(axis)])
      largest = std::min(largest, heights[axis] / 2);
  return largest;
}

}  // namespace perrin
