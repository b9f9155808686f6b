#include "engine/dynamics/resolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/components/integrator.h"
#include "engine/dynamics/simulation.h"
#include "engine/system/host_portions.h"

namespace perrin {
namespace {

// The error of a displacement is at most half a unit of 2^-40 of the edge.
constexpr double rounding = 0x1p-41, largest_error = 0.01, largest_single_error = 0.1;
constexpr double force_unit = 0x1p-32, largest_share = 1e-4;

double shortest_range(const Simulation& simulation) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const auto& force : simulation.forces()) {
    const Ranges& ranges = force->traits().ranges;
    const std::size_t types = std::max<std::size_t>(ranges.types(), 1);
    for (std::size_t k = 0; k < types * types; ++k)
      if (const double range = ranges(k / types, k % types); range > 0)
        shortest = std::min(shortest, range);
  }
  return shortest;
}

/// Single particles: the mean of all hides slow ones beside fast ones, such as heavy ones in a
/// solvent or a beam in a resting gas, whose ways would be wrong in every step alike. `error`: of a
/// displacement along the axis with this name.
std::string slow_particles(const Simulation& simulation, const Integrator& integrator, double error,
                           char axis) {
  const Motion motion = integrator.motion();
  if (motion.velocities != VelocityRole::moved) return {};
  const Particles& particles = simulation.particles();
  const auto kt = integrator.bath_kt(simulation.step());
  const double dt = integrator.timestep();
  std::int64_t count = 0;
  std::uint32_t first = 0;
  double way = 0;  // of the first, in a step
  const auto look = [&](std::int64_t, std::int64_t n, const auto& velocity, const auto& position,
                        const auto& id) {
    for (std::size_t i = 0; i < std::size_t(n); ++i) {
      const Real4& v = velocity[i];
      const double along[3] = {double(v.x), double(v.y), double(v.z)};
      double square = 0;
      for (std::size_t k = 0; k < 3; ++k)
        if (motion.axes[k]) square += along[k] * along[k];
      if (square == 0 || !motion.moves(position[i].type())) continue;
      // Of one that is slow at this instant alone, its bath makes a faster one.
      if (kt) square = std::max(square, *kt * double(v.w));
      const double step = dt * std::sqrt(square);
      // What is no number ends the run in its first step.
      if (!(error > largest_single_error * step)) continue;
      if (count++ == 0 || id[i] < first) first = id[i], way = step;
    }
  };
  for_host_portions(look, particles.velocity(), particles.position(), particles.id());
  if (count == 0) return {};
  return fmt::format(
      "the box is too long for the steps of {} of {} particles: along {} displacements are rounded "
      "to {:.3g}, an error of more than {:g} % or the loss of a whole displacement (particle {} "
      "moves by {:.3g} per step); use a smaller box or a longer time step",
      count, particles.size(), axis, 2 * error, 100 * largest_single_error, first, way);
}

}  // namespace

double Integrator::typical_displacement(const StepContext& context) const {
  double sum = 0;
  const auto add = [&](std::int64_t, std::int64_t, const std::vector<Real4>& velocity) {
    for (const Real4& v : velocity)
      sum += double(v.x) * double(v.x) + double(v.y) * double(v.y) + double(v.z) * double(v.z);
  };
  for_host_portions(add, context.particles().velocity());
  const double components =
      double(context.particles().size()) * context.particles().box().dimension;
  return timestep() * std::sqrt(sum / components);
}

std::vector<std::string> resolution_warnings(const Simulation& simulation,
                                             const Integrator& integrator) {
  std::vector<std::string> list;
  const Box& box = simulation.particles().box();
  const auto heights = box.padded_heights();
  int axis = 0;
  for (int k = 1; k < box.dimension; ++k)
    if (heights[k] > heights[axis]) axis = k;
  const double edge = heights[axis];
  const char name = "xyz"[axis];
  const double step = integrator.typical_displacement(simulation);
  if (step > 0 && rounding * edge > largest_error * step)
    list.push_back(fmt::format(
        "the box is too long for this time step: along {} (height {:.4g}) displacements are "
        "rounded to {:.3g} and are typically {:.3g} per step, an error of up to {:.2g} %; the "
        "error is below 1 % up to a height of {:.4g}, or with a longer time step",
        name, edge, 2 * rounding * edge, step, 100 * rounding * edge / step,
        largest_error * step / rounding));
  else if (auto slow = slow_particles(simulation, integrator, rounding * edge, name); !slow.empty())
    list.push_back(std::move(slow));
  const double range = shortest_range(simulation);
  if (force_unit * edge > largest_share * range)
    list.push_back(
        fmt::format("the box is too long for accurate forces: along {} (height {:.4g}) positions "
                    "are rounded to {:.3g}, a fraction of {:.2g} of the shortest range ({:.4g}); "
                    "the fraction is below {:g} up to a height of {:.4g}",
                    name, edge, force_unit * edge, force_unit * edge / range, range, largest_share,
                    largest_share * range / force_unit));
  return list;
}

}  // namespace perrin
