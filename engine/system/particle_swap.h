// Exchange of particles between two systems on one device (replica exchange).
#pragma once

#include "engine/system/particles.h"

namespace perrin {

/// Positions, velocities, images and orientations of each id change places; the velocities and
/// angular momenta that a gets are multiplied by `into_a`, those that b gets by `into_b`. Both have
/// as many particles, in boxes of one shape, and work for one stream of the device. Device work
/// only; what follows from positions (lists, forces) is the caller's.
void swap_particles(Particles& a, Particles& b, double into_a, double into_b);

}  // namespace perrin
