#include "engine/velocities.h"

#include <algorithm>
#include <cmath>

#include "rng/keyed.h"

namespace perrin {

void draw_velocities(Configuration& c, double temperature, double k_boltzmann, std::uint64_t seed) {
  const std::size_t n = c.position.size();
  const auto mass = [&](std::size_t i) { return c.mass.empty() ? 1.0 : c.mass[i]; };
  const RunKey key(Purpose::initial_velocities, seed);
  c.velocity.assign(n, {});
  Vec3<double> momentum;
  double total_mass = 0;
  for (std::size_t i = 0; i < n; ++i) {
    auto g = keyed<Philox>(key, 0, static_cast<std::uint32_t>(i));
    const double width = 1 / std::sqrt(mass(i));
    for (int axis = 0; axis < c.box.dimension; ++axis)
      c.velocity[i][axis] = width * g.normal<double>();
    momentum += mass(i) * c.velocity[i];
    total_mass += mass(i);
  }
  double twice_kinetic = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (n > 1) c.velocity[i] -= (1 / total_mass) * momentum;
    twice_kinetic += mass(i) * dot(c.velocity[i], c.velocity[i]);
  }
  if (twice_kinetic == 0) return;
  const double freedom = c.box.dimension * static_cast<double>(std::max<std::size_t>(n, 2) - 1);
  const double scale = std::sqrt(freedom * k_boltzmann * temperature / twice_kinetic);
  for (auto& v : c.velocity) v *= scale;
}

}  // namespace perrin
