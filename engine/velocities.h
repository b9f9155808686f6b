// Initial velocities of a given temperature.
#pragma once

#include <cstdint>

#include "engine/configuration.h"

namespace perrin {

/// Draws every velocity from the Maxwell distribution, by particle id, takes the momentum out and
/// scales to the temperature exactly: kinetic energy = dimension (N - 1) k_B T / 2. A single
/// particle keeps what it drew, scaled with `dimension` degrees of freedom.
void draw_velocities(Configuration& configuration, double temperature, double k_boltzmann,
                     std::uint64_t seed);

}  // namespace perrin
