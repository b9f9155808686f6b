// The shape of a table from row to row: jumps of the energy, rows that are too far apart, forces
// that are none of the energies'.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "forces/table_rows.h"

namespace perrin {

/// What find_shape() says: sentences for a warning, each about the rows from `first` to `last`.
struct TableNote {
  std::size_t first, last;
  std::string text;
};

/// Looks at every interval of rows. Sets rows.jump, and rows.steep where there are no forces.
/// `agree` becomes false where most forces are not minus the derivative of the energies.
std::vector<TableNote> find_shape(TableRows& rows, bool& agree);

/// Coefficients of the cubic E = c0 + t (c1 + t (c2 + t c3)), t from 0 to 1, between two rows with
/// these energies and slopes. Where rows are too far apart for the slopes, they are lessened so
/// that the energy does not overshoot (F. N. Fritsch, R. E. Carlson, SIAM J. Numer. Anal. 17, 238
/// (1980)). With a jump the force goes in a straight line from row to row, as it does in LAMMPS,
/// and the energy jumps at the upper end.
std::array<double, 4> table_cubic(double e0, double e1, double m0, double m1, double width,
                                  bool jump);

/// Slopes at the rows of a table without forces: those of the cubic spline with continuous second
/// derivative, from jump to jump, whose ends have the slopes of polynomials through six rows. Rows
/// before rows.steep have slopes between which nothing overshoots.
std::vector<double> spline_slopes(const TableRows& rows);

}  // namespace perrin
