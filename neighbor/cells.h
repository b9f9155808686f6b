// The grid of cells that particles are sorted into.
#pragma once

#include "engine/real.h"

namespace perrin {

/// Row-major, x fastest. A fraction times the number of cells: nobody is ever outside.
PERRIN_HD std::uint32_t cell_of(const Position& p, Vec3<std::int32_t> cells) {
  const auto along = [](std::uint32_t fraction, std::int32_t n) {
    return std::uint32_t((std::uint64_t(fraction) * std::uint32_t(n)) >> 32);
  };
  return (along(p.z, cells.z) * std::uint32_t(cells.y) + along(p.y, cells.y)) *
             std::uint32_t(cells.x) +
         along(p.x, cells.x);
}

/// Particles sorted by cell: those of cell c are start[c] … start[c+1]-1 in memory.
struct CellGrid {
  const std::uint32_t* start;
  Vec3<std::int32_t> cells;
  Vec3<std::int32_t> reach;              // how many cells to each side hold neighbours; at most 2
  static constexpr int max_ranges = 75;  // 5 × 5 rows, each cut into three at most

  /// Calls f(begin, end) for ranges of memory that together hold every particle in the cells
  /// within reach of p, each cell once. Neighbouring cells along x are one range.
  template <class F>
  PERRIN_HD void for_each_range(const Position& p, F&& f) const {
    const std::int32_t cx = std::int32_t((std::uint64_t(p.x) * std::uint32_t(cells.x)) >> 32);
    const std::int32_t cy = std::int32_t((std::uint64_t(p.y) * std::uint32_t(cells.y)) >> 32);
    const std::int32_t cz = std::int32_t((std::uint64_t(p.z) * std::uint32_t(cells.z)) >> 32);
    const bool all_x = 2 * reach.x + 1 >= cells.x;
    const std::int32_t x0 = all_x ? 0 : cx - reach.x, x1 = all_x ? cells.x - 1 : cx + reach.x;
    const std::int32_t ny = 2 * reach.y + 1 < cells.y ? 2 * reach.y + 1 : cells.y;
    const std::int32_t nz = 2 * reach.z + 1 < cells.z ? 2 * reach.z + 1 : cells.z;
    for (std::int32_t kz = 0; kz < nz; ++kz) {
      const std::int32_t z = wrap(cz - (nz == cells.z ? cz : reach.z) + kz, cells.z);
      for (std::int32_t ky = 0; ky < ny; ++ky) {
        const std::int32_t y = wrap(cy - (ny == cells.y ? cy : reach.y) + ky, cells.y);
        const std::uint32_t* row = start + (std::int64_t(z) * cells.y + y) * cells.x;
        if (x0 < 0) f(row[cells.x + x0], row[cells.x]);
        f(row[x0 < 0 ? 0 : x0], row[(x1 < cells.x ? x1 : cells.x - 1) + 1]);
        if (x1 >= cells.x) f(row[0], row[x1 - cells.x + 1]);
      }
    }
  }

 private:
  PERRIN_HD static std::int32_t wrap(std::int32_t c, std::int32_t n) {
    return c < 0 ? c + n : c >= n ? c - n : c;
  }
};

}  // namespace perrin
