// Exchange of particles between systems on one device (replica exchange).
#pragma once

#include <span>

#include "engine/system/particles.h"

namespace perrin {

/// Two systems, whose velocities and angular momenta are multiplied by these where they arrive.
struct ParticleSwap {
  Particles *a, *b;
  double into_a, into_b;
};

/// Positions, velocities, images and orientations of each id change places in all of these pairs.
/// Both of a pair have as many particles, in boxes of one shape; a system is in one pair, and all
/// work for one stream of the device. Device work only; what follows from positions (lists, forces)
/// is the caller's.
void swap_particles(std::span<const ParticleSwap> swaps);

}  // namespace perrin
