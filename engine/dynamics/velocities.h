// Initial velocities of a given temperature.
#pragma once

#include <cstdint>

#include "engine/components/degrees_of_freedom.h"
#include "engine/system/configuration.h"

namespace perrin {

/// Draws every velocity from the Maxwell distribution, by particle id, takes out the momentum along
/// the axes where nothing changes it, and scales so that the velocities that count have the
/// temperature exactly.
void draw_velocities(Configuration& configuration, double temperature, double k_boltzmann,
                     std::uint64_t seed, const DegreesOfFreedom& freedom);

}  // namespace perrin
