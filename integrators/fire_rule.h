// The state of FIRE's rules (integrators/fire.h).
#pragma once

#include <cstdint>

#include "engine/base/real.h"

namespace perrin {

/// Sums over the particles, and maxima: of forces and velocities, or of torques and angular
/// momenta.
struct FireMeasures {
  double power = 0, velocity2 = 0, force2 = 0, largest2 = 0;
  double stiffest = 0;  // 1/time²
  PERRIN_HD FireMeasures& operator+=(const FireMeasures& b) {
    power += b.power, velocity2 += b.velocity2, force2 += b.force2;
    largest2 = b.largest2 > largest2 ? b.largest2 : largest2;
    stiffest = b.stiffest > stiffest ? b.stiffest : stiffest;
    return *this;
  }
};

/// What decides, on the device.
struct FireRule {
  double dt, step;  // the rules' time step, and what is taken of it
  double alpha;
  double mix_velocity, mix_force;  // v ← mix_velocity v + mix_force f
  std::int32_t downhill;           // steps since the power was last negative
  std::uint32_t converged;
  double largest2;  // of forces; negative: no step was made
  double largest_torque2;
  double mix_torque;  // angular momentum ← mix_velocity of it + mix_torque of the torque
};

}  // namespace perrin
