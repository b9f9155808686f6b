// What must be true of a system before it can run.
#pragma once

#include <string>
#include <vector>

#include "engine/system/configuration.h"

namespace perrin {

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

}  // namespace perrin
