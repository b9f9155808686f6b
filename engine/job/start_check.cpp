#include "engine/job/start_check.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/dynamics/simulation.h"
#include "engine/system/bond_checks.h"
#include "engine/system/closest_pair.h"
#include "engine/system/host_portions.h"

namespace perrin {
namespace {

std::string text(Vec3<double> v) { return fmt::format("({:.6g}, {:.6g}, {:.6g})", v.x, v.y, v.z); }

/// The particle that a force moves furthest in the first step.
struct Worst {
  std::size_t particle = 0;  // in memory
  double force = 0, move = 0;
  bool wrong(const Simulation& simulation) const {
    return !std::isfinite(force) || move > simulation.max_displacement();
  }
};

Worst worst_of(const Buffer<Real4>& forces, const Buffer<Real4>& velocities, double timestep) {
  Worst worst;
  const auto look = [&](std::int64_t begin, std::int64_t n, const auto& force,
                        const auto& velocity) {
    for (std::size_t i = 0; i < std::size_t(n) && std::isfinite(worst.force); ++i) {
      const Vec3<double> f{double(force[i].x), double(force[i].y), double(force[i].z)};
      const double size = std::sqrt(dot(f, f));
      // What the first step adds to the path that the particle would take without the force.
      const double move = size * double(velocity[i].w) * timestep * timestep / 2;
      if (!std::isfinite(size) || move > worst.move) worst = {std::size_t(begin) + i, size, move};
    }
  };
  for_host_portions(look, forces, velocities);
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
std::string place_advice(const Configuration& now, std::uint32_t id, bool finite, bool of_bonds,
                         bool minimises) {
  const std::string bonds = of_bonds ? bonds_of_text(now, id) : "";
  const char* const trouble =
      finite ? "too strong for this time step" : "NaN, infinite or beyond the engine's numbers";
  std::string what =
      bonds.empty()
          ? fmt::format(
                ": {} at this position. Check the position and the parameters; 0 is the middle of "
                "the box (perrin help coordinates)",
                trouble)
          : fmt::format(
                ": {} in this conformation of the molecule ({}). Compare its bond lengths and "
                "angles with the equilibrium values",
                trouble, bonds);
  if (!minimises && finite)
    what += fmt::format(
        "; if they are intended, add an energy minimisation as the first stage, {}, or use a "
        "shorter time step",
        relax_stage);
  return what;
}

}  // namespace

std::optional<WrongStart> check_start(Simulation& simulation, double timestep, bool minimises) {
  simulation.ensure_forces();
  const auto& particles = simulation.particles();
  if (!worst_of(particles.force(), particles.velocity(), timestep).wrong(simulation))
    return std::nullopt;

  // Which of them is it? Where each alone would pass, the largest.
  std::size_t culprit = 0;
  Worst worst;
  Buffer<Real4> alone(simulation.device(), particles.size());
  for (std::size_t k = 0; k < simulation.forces().size(); ++k) {
    simulation.forces()[k]->act(simulation, {alone.data(), nullptr, false, false});
    const Worst one = worst_of(alone, particles.velocity(), timestep);
    if (k > 0 && std::isfinite(one.force) && !(one.move > worst.move)) continue;
    culprit = k, worst = one;
    if (!std::isfinite(one.force)) break;
  }
  // Forces of constraints may be as large as they like: SHAKE says what it cannot do.
  if (simulation.constraints() && !worst.wrong(simulation)) return std::nullopt;
  const auto id = particles.id().to_host(std::int64_t(worst.particle));
  const auto now = particles.configuration();
  std::string what = fmt::format("its force on particle {} at {} ", id, text(now.position[id]));
  what += std::isfinite(worst.force)
              ? fmt::format("at the start ({:.3g}) would move it by {:.3g} in one step",
                            worst.force, worst.move)
              : "is not finite at the start";
  const bool of_pairs = simulation.forces()[culprit]->traits().range() > 0;
  const auto pair = of_pairs ? closest_pair(now) : std::nullopt;
  const std::string advice =
      pair ? overlap_advice(*pair, minimises)
           : place_advice(now, id, std::isfinite(worst.force),
                          simulation.forces()[culprit]->traits().follows({true, true, true}),
                          minimises);
  return WrongStart{culprit, what, advice, id, std::isfinite(worst.force)};
}

}  // namespace perrin
