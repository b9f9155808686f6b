// Particles of a configuration in another order.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/system/configuration.h"

namespace perrin::io {

/// values[k] becomes what values[order[k]] was; lists of another length (none) stay as they are.
template <class T>
void reorder(std::vector<T>& values, const std::vector<std::uint32_t>& order) {
  if (values.size() != order.size()) return;
  std::vector<T> sorted(values.size());
  for (std::size_t k = 0; k < order.size(); ++k) sorted[k] = values[order[k]];
  values = std::move(sorted);
}

/// Everything that belongs to particles; bonds and angles name them as before.
inline void reorder_particles(Configuration& c, const std::vector<std::uint32_t>& order) {
  reorder(c.position, order);
  reorder(c.type, order);
  reorder(c.velocity, order);
  reorder(c.image, order);
  reorder(c.mass, order);
  reorder(c.charge, order);
  reorder(c.diameter, order);
  reorder(c.orientation, order);
  reorder(c.angular_momentum, order);
  reorder(c.moment_of_inertia, order);
  for (auto& [name, values] : c.attributes) reorder(values, order);
  reorder(c.topology.molecule, order);
}

}  // namespace perrin::io
