// The order in which bricks follow one another.
//
// A generalized Hilbert curve: whatever part of it one takes, bricks that are near on it are near
// in space. So any contiguous share of the particles is a compact region, whose surface, and with
// it what domains send one another, grows like the share's volume to the two thirds. It
// depends on the box alone: places in memory must be the same for any number of domains.
//
// After D. Hilbert, Math. Ann. 38 (1891) 459, and J. Červený's "gilbert" for edges that are no
// powers of two (https://github.com/jakubcerveny/gilbert).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/real.h"

namespace perrin {

/// [k]: the k-th brick of the curve, as (z · bricks.y + y) · bricks.x + x.
std::vector<std::uint32_t> brick_curve(const Vec3<std::int32_t>& bricks);

/// The numbers of bricks. Empty: they are counted by rows.
struct BrickOrder {
  std::vector<std::uint32_t> row_of_number, number_of_row;
};

/// Along the curve, but for a few bricks by rows, which costs no table to look at (3 % of a step
/// with 256 000 particles, nothing with 10^6): for shares layers are as good, up to eight of them,
/// and so few bricks are not worth more domains.
BrickOrder brick_order(const Vec3<std::int32_t>& bricks);
/// Block by block, with these numbers of blocks along the axes, and by rows in each: shares of as
/// many domains are blocks, or nearly so.
BrickOrder brick_order(const Vec3<std::int32_t>& bricks, const Vec3<std::int32_t>& blocks);

}  // namespace perrin
