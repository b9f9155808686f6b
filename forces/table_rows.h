// A table of energies as a file has it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace perrin {

/// Points in the order of the file, x strictly increasing: distances, or angles in radians (in the
/// file degrees).
struct TableRows {
  std::vector<double> x, energy;
  std::vector<double> slope;       // dE/dx, minus the force of the file; empty: the file has none
  std::vector<char> jump;          // of each interval: the energy jumps there; empty: nowhere
  std::size_t steep = 0;           // rows before it are too far apart for a spline
  std::vector<std::string> notes;  // for warnings, with file and line
};

}  // namespace perrin
