// The three files of the original work, in Å, kJ/mol, K and radians (docs/metropolis.md).
#pragma once

#include <optional>
#include <string>

#include "plugins/metropolis/system.h"

namespace perrin::metropolis {

struct InputFiles {
  std::string model, particles, atoms;  // paths
};

/// What they say. Throws UserError naming file and line.
struct FileModel {
  Model model;
  Placement start;
  double temperature = 0;  // K
  std::optional<std::int64_t> cycles;
  std::optional<double> translation, rotation;
};
FileModel read_files(const InputFiles& files, const std::string& mixing);

/// Rows of a rotation matrix as a quaternion.
Quaternion quaternion_of(const double (&m)[9]);

}  // namespace perrin::metropolis
