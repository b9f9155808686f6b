// A grid of columns: what cluster lists and the search without lists of the CPU sort particles
// into.
#pragma once

#include "neighbor/cells/cell_of.h"

namespace perrin {

/// Columns stand along axis[2]; they are cut into bins, each of which the short sort sorts. Bins of
/// one column, then columns along axis[1], then along axis[0] follow one another.
struct ColumnGrid {
  int axis[3];            // across the columns, slow and fast, and along them
  std::int32_t cells[3];  // columns along axis[0] and axis[1], bins along axis[2]
  std::int32_t reach[3];  // neighbouring columns to look at on each side
  std::uint32_t slack;    // order along a column holds to within this many fixed-point units
  double edge;            // wanted length of a cluster's edges

  PERRIN_HD std::uint32_t bin(const Position& p) const {
    const auto part = [&](int k) {
      return std::uint32_t(cell_along(fraction_along(p, axis[k]), cells[k]));
    };
    return (part(0) * std::uint32_t(cells[1]) + part(1)) * std::uint32_t(cells[2]) + part(2);
  }
  /// The place along the column within the bin, 16 bits.
  PERRIN_HD std::uint32_t coordinate(const Position& p) const {
    return std::uint32_t(std::uint64_t(fraction_along(p, axis[2])) * std::uint32_t(cells[2])) >> 16;
  }
};

}  // namespace perrin
