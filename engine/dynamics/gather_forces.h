// What a computation of forces has given each process for its own particles, sent to all.
#pragma once

#include "engine/system/orientations.h"
#include "engine/system/particles.h"

namespace perrin {

/// Forces, and torques of particles with directions.
inline void gather_forces(Particles& particles) {
  particles.domain().gather(particles.force());
  if (particles.orientations()) particles.domain().gather(particles.orientations()->torque());
}

}  // namespace perrin
