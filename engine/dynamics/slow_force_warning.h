// Multiple time steps that are too long for the motion of the particles.
#pragma once

#include <string>

namespace perrin {

class Integrator;
class Simulation;

/// Impulses of slow forces (engine/components/slow_forces.h) drive a vibration of the frequency w
/// where n dt w comes near pi (resonance: J. J. Biesiadecki, R. D. Skeel, J. Comput. Phys. 109, 318
/// (1993)), and the fastest ones are some 2 to 3 times as fast as the mean. That of a type follows
/// from forces and velocities: w² = sum of f²/m / sum of m v², in equilibrium the mean of the
/// curvatures of the energy over masses. A warning where n dt w is above 0.7 for a type; empty:
/// nothing to say, or particles are at rest. Waits for the device; in all processes.
std::string slow_force_warning(Simulation& simulation, const Integrator& integrator);

}  // namespace perrin
