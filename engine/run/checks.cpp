#include "engine/run/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/closest_pair.h"
#include "engine/core/error.h"
#include "engine/run/bond_checks.h"
#include "engine/run/simulation.h"

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
      c.velocity.size(), list, [&](std::size_t i) { return !finite(c.velocity[i]); },
      [&](std::size_t i) {
        return fmt::format("particle {} has the velocity {}", i, text(c.velocity[i]));
      });
  first_wrong(
      c.mass.size(), list,
      [&](std::size_t i) { return !(c.mass[i] > 0) || !std::isnormal(Real(1 / c.mass[i])); },
      [&](std::size_t i) {
        return fmt::format("particle {} has the mass {}; expected one between {:.2g} and {:.2g}", i,
                           c.mass[i], 1 / double(std::numeric_limits<Real>::max()),
                           1 / double(std::numeric_limits<Real>::min()));
      });
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

namespace {

/// The particle that a force moves furthest in the first step.
struct Worst {
  std::size_t particle = 0;  // in memory
  double force = 0, move = 0;
  bool wrong(const Simulation& simulation) const {
    return !std::isfinite(force) || move > simulation.max_displacement();
  }
};

Worst worst_of(const Buffer<Real4>& forces, const std::vector<Real4>& velocity, double timestep) {
  const auto force = forces.to_host();
  Worst worst;
  for (std::size_t i = 0; i < force.size(); ++i) {
    const Vec3<double> f{double(force[i].x), double(force[i].y), double(force[i].z)};
    const double size = std::sqrt(dot(f, f));
    // What the first step adds to the path that the particle would take without the force.
    const double move = size * double(velocity[i].w) * timestep * timestep / 2;
    if (!std::isfinite(size)) return {i, size, move};
    if (move > worst.move) worst = {i, size, move};
  }
  return worst;
}

/// What to do about particles that are too near.
std::string overlap_advice(const ClosestPair& pair, bool minimises) {
  if (!minimises)
    return fmt::format(
        "; the closest particles are {} and {}, {:.4g} apart. If they overlap, add an energy "
        "minimisation as the first stage, {}, or fix the initial configuration; if not, fix the "
        "parameters of this force",
        pair.a, pair.b, pair.distance, relax_stage);
  if (pair.distance == 0)
    return fmt::format(
        "; particles {} and {} have the same position, so a minimiser cannot separate them: move "
        "or remove one of them",
        pair.a, pair.b);
  return fmt::format(
      "; the closest particles are {} and {}, {:.4g} apart: this potential is out of the range of "
      "numbers there, so a minimiser cannot separate them. Fix the initial configuration (for a "
      "random system, a larger \"min_distance\"), or run a job with a soft potential (soft_dpd, "
      "gaussian_core) first and start from its last frame",
      pair.a, pair.b, pair.distance);
}

/// The same of a force that is not one of pairs.
std::string place_advice(const Configuration& now, std::uint32_t id, bool of_bonds,
                         bool minimises) {
  const std::string bonds = of_bonds ? bonds_of_text(now, id) : "";
  std::string what =
      bonds.empty()
          ? std::string(
                ": too strong for this time step at this position. Check the position and the "
                "parameters; 0 is the middle of the box (perrin help coordinates)")
          : fmt::format(
                ": too strong for this time step in this conformation of the molecule ({}). "
                "Compare its bond lengths and angles with the equilibrium values",
                bonds);
  if (!minimises)
    what += fmt::format(
        "; if they are intended, add an energy minimisation as the first stage, {}, or use a "
        "shorter time step",
        relax_stage);
  return what;
}

}  // namespace

std::optional<WrongStart> check_start(Simulation& simulation, double timestep, bool minimises) {
  simulation.ensure_forces();
  const auto& particles = simulation.particles;
  const auto velocity = particles.velocity.to_host();
  if (!worst_of(particles.force, velocity, timestep).wrong(simulation)) return std::nullopt;

  // Which of them is it? Where each alone would pass, the largest.
  std::size_t culprit = 0;
  Worst worst;
  Buffer<Real4> alone(simulation.device(), particles.size());
  for (std::size_t k = 0; k < simulation.forces.size(); ++k) {
    simulation.forces[k]->compute(simulation, {alone.data(), nullptr, false, false});
    const Worst one = worst_of(alone, velocity, timestep);
    if (k > 0 && std::isfinite(one.force) && !(one.move > worst.move)) continue;
    culprit = k, worst = one;
    if (!std::isfinite(one.force)) break;
  }
  const auto id = particles.id.to_host()[worst.particle];
  const auto now = particles.configuration();
  std::string what = fmt::format("its force on particle {} at {} ", id, text(now.position[id]));
  what += std::isfinite(worst.force)
              ? fmt::format("at the start ({:.3g}) would move it by {:.3g} in one step",
                            worst.force, worst.move)
              : "is not finite at the start";
  const bool of_pairs = simulation.forces[culprit]->range() > 0;
  const auto pair = of_pairs ? closest_pair(now) : std::nullopt;
  what += pair ? overlap_advice(*pair, minimises)
               : place_advice(now, id, simulation.forces[culprit]->follows_box(), minimises);
  return WrongStart{culprit, what};
}

}  // namespace perrin
