// The state of FIRE's rules (integrators/fire.h).
#pragma once

#include <cstdint>

namespace perrin {

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
