// The grid of columns that clusters are cut from.
#pragma once

#include <cstdint>

#include "engine/core/particles.h"

namespace perrin {

/// Columns stand along axis[2]; they are cut into bins, each of which the short sort sorts. Bins of
/// one column, then columns along axis[1], then along axis[0] follow one another.
struct ColumnGrid {
  int axis[3];            // across the columns, slow and fast, and along them
  std::int32_t cells[3];  // columns along axis[0] and axis[1], bins along axis[2]
  std::int32_t reach[3];  // neighbouring columns to look at on each side
  std::uint32_t slack;    // order along a column holds to within this many fixed-point units
  double edge;            // wanted length of a cluster's edges

  PERRIN_HD static std::uint32_t along(const Position& p, int axis) {
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
  }
  PERRIN_HD std::uint32_t bin(const Position& p) const {
    const auto part = [](std::uint32_t fraction, std::int32_t n) {
      return std::uint32_t((std::uint64_t(fraction) * std::uint32_t(n)) >> 32);
    };
    const std::uint32_t u = part(along(p, axis[0]), cells[0]),
                        v = part(along(p, axis[1]), cells[1]);
    return (u * std::uint32_t(cells[1]) + v) * std::uint32_t(cells[2]) +
           part(along(p, axis[2]), cells[2]);
  }
  /// The place along the column within the bin, 16 bits.
  PERRIN_HD std::uint32_t coordinate(const Position& p) const {
    return std::uint32_t(std::uint64_t(along(p, axis[2])) * std::uint32_t(cells[2])) >> 16;
  }
};

/// Columns for the present positions: clusters as wide as long where most particles are.
ColumnGrid choose_columns(const Particles& particles, double reach);

}  // namespace perrin
