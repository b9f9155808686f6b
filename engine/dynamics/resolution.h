// Whether the grid of positions is fine enough for what particles do.
#pragma once

#include <string>
#include <vector>

namespace perrin {

class Integrator;
class Simulation;

/// What is too fine for positions in this box, one sentence each, with the limits: displacements of
/// a step that rounding to 2^-40 of an edge typically changes by more than a percent, or those of
/// single particles by more than a tenth; ranges of forces of which 2^-32 of an edge is more than a
/// ten-thousandth. Reads velocities back from the device.
std::vector<std::string> resolution_warnings(const Simulation& simulation,
                                             const Integrator& integrator);

}  // namespace perrin
