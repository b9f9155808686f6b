// Tables of energies in text files: plain columns, or a section of a file in LAMMPS's format.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace perrin {

enum class TableKind { pair, bond, angle, dihedral };

/// Points in the order of the file, x strictly increasing: distances, or angles in radians (in the
/// file degrees).
struct TableRows {
  std::vector<double> x, energy;
  std::vector<double> slope;       // dE/dx, minus the force of the file; empty: the file has none
  std::vector<char> jump;          // of each interval: the energy jumps there; empty: nowhere
  std::size_t steep = 0;           // rows before it are too far apart for a spline
  std::vector<std::string> notes;  // for warnings, with file and line
};

/// Plain files have rows `x energy` or `x energy force`, force = -dE/dx (of angles per degree), and
/// comments behind '#'. Files in LAMMPS's format have sections: a line with the keyword, a line
/// `N n …` with R, RSQ, FP, EQ, NOF, DEGREES, RADIANS as `pair_style table` and its relatives know
/// them, n rows `index x energy force`. Without a keyword the file must have one section. The rest
/// is checked as well: angles go from 0 to 180, dihedrals around a whole turn, forces agree with
/// the slope of the energies in most intervals (forces/table_shape.h). Throws UserError with file,
/// line and what was expected.
TableRows read_table(const std::filesystem::path& file, const std::string& keyword, TableKind kind);

}  // namespace perrin
