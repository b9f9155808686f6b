// Cells along an axis: what all grids share.
#pragma once

#include "engine/system/box.h"

namespace perrin {

/// Which of n equal parts of the box a fixed-point fraction lies in: 0 … n-1, no particle is ever
/// outside.
PERRIN_HD std::int32_t cell_along(std::uint32_t fraction, std::int32_t n) {
  return std::int32_t((std::uint64_t(fraction) * std::uint32_t(n)) >> 32);
}

PERRIN_HD std::uint32_t fraction_along(const Position& p, int axis) {
  return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

}  // namespace perrin
