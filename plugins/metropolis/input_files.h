// The three files of the original work, in Å, kJ/mol, K and radians (docs/guide/metropolis.md):
// read, and written at the end of a run.
#pragma once

#include <optional>
#include <string>

#include "engine/settings/units.h"
#include "system.h"

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

/// Why a model in these units cannot be written as such files and read again with this mixing;
/// empty: it can.
std::string not_for_files(const Model& model, const std::string& mixing, const Units& units);

/// What the files say beside the model.
struct FileRun {
  double kT = 0;  // kJ/mol
  std::int64_t cycles = 0;
  MoveSizes sizes;
  bool centred = false;  // coordinates from the centre of the box, not from its corner
};
/// Writes the first replica of a system in Å and kJ/mol. With all digits: read again, centres are
/// where they were, sites within the rounding of a matrix. Throws UserError where a file is in the
/// way, RunError where it cannot be written.
void write_files(const InputFiles& files, const System& system, const FileRun& run, bool overwrite);

/// Rows of a rotation matrix as a quaternion.
Quaternion quaternion_of(const double (&m)[9]);

}  // namespace perrin::metropolis
