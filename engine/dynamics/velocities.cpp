#include "engine/dynamics/velocities.h"

#include <cmath>

#include "engine/dynamics/constraint_settings.h"
#include "rng/keyed.h"

namespace perrin {

void draw_velocities(Configuration& c, double temperature, double k_boltzmann, std::uint64_t seed,
                     const DegreesOfFreedom& freedom) {
  const std::size_t n = c.position.size();
  std::vector<bool> absent;  // [type]
  for (const std::string& type : c.types) absent.push_back(is_absent(type));
  // Sites have the velocities of their bodies.
  const auto draws = [&](std::size_t i) { return !c.topology.is_site(i) && !absent[c.type[i]]; };
  const auto mass = [&](std::size_t i) { return c.mass.empty() ? 1.0 : c.mass[i]; };
  const RunKey key(Purpose::initial_velocities, seed);
  c.velocity.assign(n, {});
  Vec3<double> momentum;
  double total_mass = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!draws(i)) continue;
    auto g = keyed<Philox>(key, 0, static_cast<std::uint32_t>(i));
    const double width = 1 / std::sqrt(mass(i));
    for (int axis = 0; axis < c.box.dimension; ++axis)
      c.velocity[i][axis] = width * g.normal<double>();
    momentum += mass(i) * c.velocity[i];
    total_mass += mass(i);
  }
  project_velocities(c);  // which leaves the momentum as it is
  Vec3<double> drift;
  for (int axis = 0; axis < c.box.dimension; ++axis)
    if (freedom.conserved()[static_cast<std::size_t>(axis)])
      drift[axis] = momentum[axis] / total_mass;
  double twice_kinetic = 0;  // of what counts
  for (std::size_t i = 0; i < n; ++i) {
    if (!draws(i)) continue;
    c.velocity[i] -= drift;
    for (int axis = 0; axis < c.box.dimension; ++axis)
      if (freedom.counts(c.type[i], i, static_cast<std::size_t>(axis)))
        twice_kinetic += mass(i) * c.velocity[i][axis] * c.velocity[i][axis];
  }
  const double kt = k_boltzmann * temperature;
  const double scale = std::sqrt(twice_kinetic > 0 ? freedom.number() * kt / twice_kinetic : kt);
  for (auto& v : c.velocity) v *= scale;
}

}  // namespace perrin
