// Units as files name them: which are written, and how those of others are read.
#pragma once

#include <string>

#include "engine/settings/units.h"

namespace perrin::io {

/// What a file writes for a quantity: the numbers of the job times `factor`, in the unit `name`.
struct FileUnit {
  std::string name;  // empty: none
  double factor = 1;
};

// Lengths are written in nm or Angstrom and times in ps, since MDAnalysis knows few others; what a
// job calls m or um becomes nm. Nothing in reduced units; no time where `units` has none.
FileUnit file_length(const Units& units);
FileUnit file_time(const Units& units);
FileUnit file_velocity(const Units& units);
FileUnit file_force(const Units& units);
FileUnit file_momentum(const Units& units);
FileUnit file_angular_momentum(const Units& units);
FileUnit file_torque(const Units& units);
FileUnit file_moment_of_inertia(const Units& units);

/// How many of the unit `to` the unit `from` is: 0.1 for "Angstrom" and "nm". Both are powers of
/// named units and numbers, separated by spaces, as the module `units` of H5MD 1.1 writes them.
/// Throws UserError, beginning with `where`, for units that are not known or not of the same kind.
double convert_unit(const std::string& from, const std::string& to, const std::string& where);

}  // namespace perrin::io
