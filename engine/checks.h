// What must be true of a system before it can run.
#pragma once

#include <string>
#include <vector>

#include "engine/configuration.h"

namespace perrin {

class Simulation;

/// Whether the parts of a configuration fit one another: as many types, masses, … as positions, and
/// bonds and angles of particles and types that there are. One sentence each; none: empty.
std::vector<std::string> check_parts(const Configuration& configuration);

/// What is wrong with a configuration whose parts fit (none: empty), one sentence each: no particles, coordinates,
/// velocities or masses that are no numbers, particles outside a box that does not wrap, ….
std::vector<std::string> check_configuration(const Configuration& configuration);

/// The longest range that the minimum image convention allows: half the smallest height of the box
/// along a periodic axis (infinite without one).
double largest_range(const Box& box);

/// Throws UserError where particles overlap at the start: a force is not finite, or would
/// (`timestep` > 0) move its particle further than a step may. Names the closest pair. Computes the
/// forces if they are not there.
void check_start(Simulation& simulation, double timestep);

}  // namespace perrin
