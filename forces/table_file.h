// Tables of energies in text files: plain columns, or a section of a file in LAMMPS's format.
#pragma once

#include <filesystem>
#include <string>

#include "forces/table_rows.h"

namespace perrin {

enum class TableKind { pair, bond, angle, dihedral };

/// Plain files have rows `x energy` or `x energy force`, force = -dE/dx (of angles per degree), and
/// comments behind '#'. Files in LAMMPS's format have sections: a line with the keyword, a line
/// `N n …` with R, RSQ, FP, EQ, NOF, DEGREES, RADIANS as `pair_style table` and its relatives know
/// them, n rows `index x energy force`. Without a keyword the file must have one section. The rest
/// is checked as well: angles go from 0 to 180, dihedrals around a whole turn, forces agree with
/// the slope of the energies in most intervals (forces/table_shape.h). Throws UserError with file,
/// line and what was expected.
TableRows read_table(const std::filesystem::path& file, const std::string& keyword, TableKind kind);

}  // namespace perrin
