// Random places in the cells of trial moves.
#pragma once

#include <cstdint>

#include "engine/base/real.h"
#include "engine/components/trial_moves.h"

namespace perrin::monte_carlo {

/// Uniform along an axis: what TrialCells::cell_of() finds again.
PERRIN_HD std::uint32_t place_along(std::int32_t cell, std::int32_t cells, std::uint32_t shift,
                                    std::uint32_t word) {
  const auto first = [cells](std::int64_t c) {
    return std::uint64_t((c << 32) + cells - 1) / std::uint64_t(cells);
  };
  const std::uint64_t begin = first(cell), width = first(cell + 1) - begin;
  return std::uint32_t(begin + ((width * word) >> 32)) - shift;
}

/// Of a particle like this one; `flat`: in two dimensions, at its height.
PERRIN_HD Position place_in_cell(const TrialCells& cells, const Vec3<std::int32_t>& c,
                                 const Words4& words, bool flat, const Position& like) {
  return {place_along(c.x, cells.cells.x, cells.shift.x, words.x),
          place_along(c.y, cells.cells.y, cells.shift.y, words.y),
          flat ? like.z : place_along(c.z, cells.cells.z, cells.shift.z, words.z), like.type()};
}

}  // namespace perrin::monte_carlo
