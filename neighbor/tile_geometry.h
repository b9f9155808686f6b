// Cells and bricks of neighbor/tiles.h, and counting the particles of each cell.
#pragma once

#include <cmath>

#include "engine/box.h"
#include "engine/real.h"

namespace perrin {

/// How the box is cut. Cells are numbered brick by brick (key()), so that a brick's particles are
/// contiguous in memory.
struct TileGeometry {
  Vec3<std::int32_t> cells;       // along each axis, a multiple of 2^log2_brick
  Vec3<std::int32_t> log2_brick;  // cells of a brick
  Vec3<std::int32_t> reach;       // cells on each side of a brick that can hold neighbours
  Vec3<std::int32_t> halo;        // cells of brick and surroundings; all of the axis at most
  Vec3<std::uint32_t> mask;       // which bits of a fixed-point coordinate count …
  Vec3<std::uint32_t> half;       // … after adding half of the first that does
  Vec3<Real> inverse_period;      // 2^-32 along axes whose minimum image is taken per pair, else 0
  bool orthogonal, wraps;
  bool wide;    // a halo of so many reaches that differences of squares would round too much
  bool sorted;  // the particles of a cell by x: candidates can be cut at both ends

  PERRIN_HD std::int32_t bricks(int axis) const { return cells[axis] >> log2_brick[axis]; }
  PERRIN_HD std::int64_t brick_count() const {
    return std::int64_t(bricks(0)) * bricks(1) * bricks(2);
  }
  PERRIN_HD int log2_cells_per_brick() const { return log2_brick.x + log2_brick.y + log2_brick.z; }
  PERRIN_HD std::int64_t cell_count() const { return brick_count() << log2_cells_per_brick(); }

  PERRIN_HD static std::int32_t along(std::uint32_t fraction, std::int32_t n) {
    return std::int32_t((std::uint64_t(fraction) * std::uint32_t(n)) >> 32);
  }
  PERRIN_HD std::uint32_t key(std::int32_t x, std::int32_t y, std::int32_t z) const {
    const std::int32_t brick =
        ((z >> log2_brick.z) * bricks(1) + (y >> log2_brick.y)) * bricks(0) + (x >> log2_brick.x);
    const std::int32_t inside =
        ((((z & ((1 << log2_brick.z) - 1)) << log2_brick.y) | (y & ((1 << log2_brick.y) - 1)))
         << log2_brick.x) |
        (x & ((1 << log2_brick.x) - 1));
    return (std::uint32_t(brick) << log2_cells_per_brick()) | std::uint32_t(inside);
  }
  PERRIN_HD std::uint32_t key(const Position& p) const {
    return key(along(p.x, cells.x), along(p.y, cells.y), along(p.z, cells.z));
  }
  /// The first cell of a brick along an axis.
  PERRIN_HD std::int32_t first_cell(std::int64_t brick, int axis) const {
    const std::int64_t b = axis == 0   ? brick % bricks(0)
                           : axis == 1 ? brick / bricks(0) % bricks(1)
                                       : brick / (std::int64_t(bricks(0)) * bricks(1));
    return std::int32_t(b) << log2_brick[axis];
  }
  /// Where the halo of a brick begins along an axis: a cell, before wrapping.
  PERRIN_HD std::int32_t halo_first(std::int64_t brick, int axis) const {
    return halo[axis] == cells[axis] ? 0 : first_cell(brick, axis) - reach[axis];
  }
  /// What coordinates in a tile are relative to: the middle of the brick, on the grid of `mask`.
  PERRIN_HD Vec3<std::uint32_t> origin(std::int64_t brick) const {
    Vec3<std::uint32_t> o;
    for (int axis = 0; axis < 3; ++axis) {
      const std::uint64_t twice =
          2 * std::uint64_t(first_cell(brick, axis)) + (std::uint64_t(1) << log2_brick[axis]);
      o[axis] = std::uint32_t((twice << 31) / std::uint64_t(cells[axis])) & mask[axis];
    }
    return o;
  }
  PERRIN_HD Real3 local(const Position& p, const Vec3<std::uint32_t>& origin) const {
    return {Real(std::int32_t(((p.x + half.x) & mask.x) - origin.x)),
            Real(std::int32_t(((p.y + half.y) & mask.y) - origin.y)),
            Real(std::int32_t(((p.z + half.z) & mask.z) - origin.z))};
  }
  /// From the difference of two local coordinates to a vector in length units. General: the box
  /// is triclinic, or so small that the minimum image must be taken here.
  template <bool General>
  PERRIN_HD Real3 vector(const Metric& metric, Real3 d) const {
    if constexpr (!General) return {metric.xx * d.x, metric.yy * d.y, metric.zz * d.z};
    const Real period = Real(4294967296.0);
    d.x -= period * std::rint(d.x * inverse_period.x);
    d.y -= period * std::rint(d.y * inverse_period.y);
    d.z -= period * std::rint(d.z * inverse_period.z);
    return {metric.xx * d.x + metric.xy * d.y + metric.xz * d.z, metric.yy * d.y + metric.yz * d.z,
            metric.zz * d.z};
  }
};

/// Counting particles into cells, the first part of CellSort: for each particle its cell and a
/// number of its own there (which depends on the order in which threads come).
struct CellCounter {
  TileGeometry geometry;
  std::uint32_t* count = nullptr;  // of each cell; nullptr: nothing is counted
  std::uint32_t *key = nullptr, *slot = nullptr;

  PERRIN_HD void operator()([[maybe_unused]] std::int64_t i,
                            [[maybe_unused]] const Position& p) const {
#ifdef __CUDA_ARCH__
    const std::uint32_t k = geometry.key(p);
    key[i] = k;
    slot[i] = atomicAdd(&count[k], 1u);
#endif
  }
};

}  // namespace perrin
