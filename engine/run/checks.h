// What must be true of a system before it can run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/core/configuration.h"

namespace perrin {

class Simulation;

/// Whether the parts of a configuration fit one another: as many types, masses, … as positions, and
/// bonds, angles, dihedrals and impropers of particles and types that there are. One sentence each;
/// none: empty.
std::vector<std::string> check_parts(const Configuration& configuration);

/// What is wrong with a configuration whose parts fit (none: empty), one sentence each: no
/// particles, coordinates, velocities or masses that are no numbers, particles outside a box that
/// does not wrap, ….
std::vector<std::string> check_configuration(const Configuration& configuration);

/// The longest range that the minimum image convention allows: half the smallest height of the box
/// along a periodic axis (infinite without one).
double largest_range(const Box& box);

/// A force that cannot be right at the start.
struct WrongStart {
  std::size_t force;  // index in Simulation::forces
  std::string what;
};

/// Looks whether a force at the start is not finite, or would (`timestep` > 0) move its particle
/// further than a step may; says which of the forces it is and which particle, for forces between
/// particles which are the closest, and what to do: something else where the first stage
/// `minimises` the energy already. Computes the forces if they are not there.
std::optional<WrongStart> check_start(Simulation& simulation, double timestep,
                                      bool minimises = false);

}  // namespace perrin
