// Numbers of molecules as LAMMPS has them, where 0 is none.
#pragma once

#include <string>

#include "engine/system/configuration.h"

namespace perrin::io {

/// To LAMMPS 0 is no molecule, or one that nobody has numbered: bonds tell which particles belong
/// together, and the others are alone. Where all are 0 there are no numbers. Throws UserError,
/// beginning with `where`, where no numbers are left.
void number_loose_particles(Configuration& c, const std::string& where);

}  // namespace perrin::io
