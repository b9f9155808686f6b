#include "engine/dynamics/slow_force_warning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/components/integrator.h"
#include "engine/dynamics/simulation.h"

namespace perrin {

std::string slow_force_warning(Simulation& simulation, const Integrator& integrator) {
  constexpr double limit = 0.7;
  const std::int64_t n = simulation.slow_forces().stride;
  if (n == 1) return {};
  std::vector<Real4> force;
  simulation.with_whole_forces([&] { force = simulation.particles().force().to_host(); });
  const auto velocity = simulation.particles().velocity().to_host();
  const auto position = simulation.particles().position().to_host();
  struct Sums {
    double of_forces = 0, of_velocities = 0, count = 0;
  };
  std::vector<Sums> types(simulation.particles().properties().types.size());
  Sums all;
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    const Vec3<double> f{double(force[i].x), double(force[i].y), double(force[i].z)};
    const Vec3<double> v{double(velocity[i].x), double(velocity[i].y), double(velocity[i].z)};
    if (dot(v, v) == 0) continue;  // held, or not moved yet
    const double inverse_mass = double(velocity[i].w);
    for (Sums* const sums : {&types[position[i].type()], &all}) {
      sums->of_forces += dot(f, f) * inverse_mass;
      sums->of_velocities += dot(v, v) / inverse_mass;
      sums->count += 1;
    }
  }
  double fastest = 0;
  std::size_t which = 0;
  for (std::size_t t = 0; t < types.size(); ++t) {
    if (types[t].count == 0) continue;
    // A few particles may be slow for a moment.
    const double usual = all.of_velocities * types[t].count / all.count;
    const double square = types[t].of_forces / std::max(types[t].of_velocities, usual);
    if (square > fastest) fastest = square, which = t;
  }
  const double angle = double(n) * integrator.timestep() * std::sqrt(fastest);
  if (angle <= limit) return {};
  return fmt::format(
      "slow_force_stride {}: slow forces act once in {:.3g}, and particles of type {} vibrate with "
      "a mean angular frequency of {:.3g}: their product, {:.2g}, is above {:g}, and resonance may "
      "heat the system; use a smaller slow_force_stride or a shorter time step",
      n, double(n) * integrator.timestep(), simulation.particles().properties().types[which],
      std::sqrt(fastest), angle, limit);
}

}  // namespace perrin
