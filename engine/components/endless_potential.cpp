#include "engine/components/endless_potential.h"

#include <algorithm>

#include "engine/components/force.h"

namespace perrin {

std::array<bool, 3> drives_round(std::span<const ForceOnGroup> forces, std::size_t k,
                                 const Box& box, std::size_t types) {
  std::array<bool, 3> round{};
  const auto* const endless = dynamic_cast<const EndlessPotential*>(forces[k].force);
  if (endless == nullptr) return round;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::size_t type = 0; type < types; ++type) {
      const bool stopped = std::ranges::any_of(forces, [&](const ForceOnGroup& other) {
        const auto* const wall = dynamic_cast<const Wall*>(other.force);
        return wall && wall->axis() == int(axis) && wall->stops(type) &&
               (other.on == "all" || other.on == forces[k].on);
      });
      if (endless->falls_along()[axis] && box.periodic[axis] && endless->acts_on(type) && !stopped)
        round[axis] = true;
    }
  return round;
}

}  // namespace perrin
