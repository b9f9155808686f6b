// Cells and bricks of neighbor/tiles/tile_list.h, and counting the particles of each cell.
#pragma once

#include <bit>
#include <cmath>

#include "engine/base/real.h"
#include "engine/system/box.h"
#include "neighbor/cells/cell_of.h"
#include "neighbor/cells/cell_sort.h"

namespace perrin {

/// A particle's type in the fourth word of its local coordinates.
PERRIN_HD Real type_to_real(std::uint32_t type) {
#ifdef PERRIN_DOUBLE
  return Real(type);
#else
  return std::bit_cast<float>(type);
#endif
}
PERRIN_HD std::uint32_t real_to_type(Real w) {
#ifdef PERRIN_DOUBLE
  return std::uint32_t(w);
#else
  return std::bit_cast<std::uint32_t>(w);
#endif
}

/// Division by a number that is known beforehand: a processor's own takes twenty instructions, and
/// blocks of a small system have little else to do.
struct Divisor {
  std::uint32_t n = 1, reciprocal = 0xffffffffu;  // of 2^32, rounded down

  Divisor() = default;
  explicit Divisor(std::uint32_t by)
      : n(by), reciprocal(by == 1 ? 0xffffffffu : std::uint32_t((std::uint64_t(1) << 32) / by)) {}
  /// Quotient, and what is left in `rest`.
  PERRIN_HD std::uint32_t operator()(std::uint32_t a, std::uint32_t& rest) const {
    std::uint32_t q = std::uint32_t((std::uint64_t(a) * reciprocal) >> 32);  // or one less
    rest = a - q * n;
    if (rest >= n) ++q, rest -= n;
    return q;
  }
};

/// What of the cut depends on the lengths of the box: on the device, for boxes that change.
struct TileScale {
  Vec3<std::int32_t> grid;  // as TileGeometry has it
  Vec3<Real> cell;          // edges of a cell; orthogonal boxes
  Real per_cell, per_unit;  // along x: cells, and units of coordinates, to a length
  bool holds;               // cells, halo and grid still serve
};

/// How the box is cut. Cells are numbered brick by brick (key()), so that a brick's particles are
/// contiguous in memory, and many bricks along a curve: those of a part of memory lie together.
/// The last brick along an axis may reach beyond the box: it has no particles there.
///
/// Coordinates in a tile are relative to its origin and on a grid, so coarse that differences are
/// exact in Real: the vector of a pair is, bit by bit, opposite for its two particles, whichever
/// tiles they are in. Usually they are lengths, multiples of a power of two, and the vector is the
/// difference. In triclinic boxes, where images are taken per pair, in halos of many reaches, and
/// in double precision they are in units of fixed-point coordinates. Kernels with the parameter
/// General serve both.
struct TileGeometry {
  Vec3<std::int32_t> cells;       // along each axis
  Vec3<std::int32_t> log2_brick;  // cells of a brick
  Vec3<std::int32_t> reach;       // cells on each side of a brick that can hold neighbours
  Vec3<std::int32_t> halo;        // cells of brick and surroundings; all of the axis at most
  bool lengths;                   // coordinates in a tile are lengths …
  Vec3<std::int32_t> grid;        // … number of multiples per edge of the box (when cut), …
  Vec3<Real> unit;                // … of this power of two
  Vec3<std::uint32_t> mask;       // else: which bits of a fixed-point coordinate count …
  Vec3<std::uint32_t> half;       // … after adding half of the first that does
  Vec3<Real> inverse_period;      // 2^-32 along axes whose minimum image is taken per pair, else 0
  bool orthogonal, wraps;
  bool wide;    // a halo of more reaches than differences of squares can resolve
  bool sorted;  // the particles of a cell by x: candidates can be cut at both ends
  Vec3<std::uint64_t> half_cell;  // 2^63 / cells: what prepare() computes
  Divisor bricks_x, bricks_y, halo_x, halo_y;
  const TileScale* scale;  // on a GPU: now
  // Many bricks are numbered along a curve (neighbor/tiles/brick_curve.h), on a GPU: the numbers of
  // those that are counted by rows, and the other way round. nullptr: these numbers are theirs.
  const std::uint32_t *number_of_row, *row_of_number;

  /// To be called once the numbers above the last three lines are known.
  void prepare() {
    for (int axis = 0; axis < 3; ++axis)
      half_cell[axis] = (std::uint64_t(1) << 63) / std::uint64_t(cells[axis]);
    bricks_x = Divisor(std::uint32_t(bricks(0))), bricks_y = Divisor(std::uint32_t(bricks(1)));
    halo_x = Divisor(std::uint32_t(halo.x)), halo_y = Divisor(std::uint32_t(halo.y));
  }

  /// Triclinic, or images taken per pair, or halos of many reaches.
  bool is_general() const { return !orthogonal || wraps || wide; }
  PERRIN_HD std::int32_t bricks(int axis) const {
    return (cells[axis] + (1 << log2_brick[axis]) - 1) >> log2_brick[axis];
  }
  PERRIN_HD std::int64_t brick_count() const {
    return std::int64_t(bricks(0)) * bricks(1) * bricks(2);
  }
  PERRIN_HD int log2_cells_per_brick() const { return log2_brick.x + log2_brick.y + log2_brick.z; }
  PERRIN_HD std::int64_t cell_count() const { return brick_count() << log2_cells_per_brick(); }

  /// The number of a brick, and where it is: in bricks.
  PERRIN_HD std::uint32_t brick(std::int32_t x, std::int32_t y, std::int32_t z) const {
    const auto row = std::uint32_t((z * bricks(1) + y) * bricks(0) + x);
    return number_of_row ? number_of_row[row] : row;
  }
  PERRIN_HD Vec3<std::int32_t> place(std::uint32_t brick) const {
    std::uint32_t x, y;
    const std::uint32_t z = bricks_y(bricks_x(row_of_number ? row_of_number[brick] : brick, x), y);
    return {std::int32_t(x), std::int32_t(y), std::int32_t(z)};
  }
  PERRIN_HD std::uint32_t key(std::int32_t x, std::int32_t y, std::int32_t z) const {
    const std::uint32_t of = brick(x >> log2_brick.x, y >> log2_brick.y, z >> log2_brick.z);
    // There and back along y, so that cells which follow one another are neighbours.
    const std::int32_t of_y = (z & 1 ? ~y : y) & ((1 << log2_brick.y) - 1);
    const std::int32_t inside =
        ((((z & ((1 << log2_brick.z) - 1)) << log2_brick.y) | of_y) << log2_brick.x) |
        (x & ((1 << log2_brick.x) - 1));
    return (of << log2_cells_per_brick()) | std::uint32_t(inside);
  }
  PERRIN_HD Vec3<std::int32_t> cell(const Position& p) const {
    return {cell_along(p.x, cells.x), cell_along(p.y, cells.y), cell_along(p.z, cells.z)};
  }
  PERRIN_HD std::uint32_t key(const Position& p) const {
    const Vec3<std::int32_t> c = cell(p);
    return key(c.x, c.y, c.z);
  }
  /// The first cell of a brick.
  PERRIN_HD Vec3<std::int32_t> first_cell(std::uint32_t brick) const {
    const Vec3<std::int32_t> at = place(brick);
    return {at.x << log2_brick.x, at.y << log2_brick.y, at.z << log2_brick.z};
  }
  /// Where the halo of the brick that begins at this cell does: a cell, before wrapping.
  PERRIN_HD Vec3<std::int32_t> halo_first(const Vec3<std::int32_t>& cell) const {
    return {halo.x == cells.x ? 0 : cell.x - reach.x, halo.y == cells.y ? 0 : cell.y - reach.y,
            halo.z == cells.z ? 0 : cell.z - reach.z};
  }
  /// What coordinates in a tile are relative to, near the middle of the brick that begins at this
  /// cell.
  PERRIN_HD Vec3<std::uint32_t> origin(const Vec3<std::int32_t>& cell) const {
    const auto middle = [](std::int32_t first, std::int32_t log2, std::uint64_t of_cell) {
      return std::uint32_t((std::uint64_t(2 * first + (1 << log2)) * of_cell) >> 32);
    };
    return {middle(cell.x, log2_brick.x, half_cell.x) & mask.x,
            middle(cell.y, log2_brick.y, half_cell.y) & mask.y,
            middle(cell.z, log2_brick.z, half_cell.z) & mask.z};
  }
  /// `grid` in a box of this height.
  PERRIN_HD std::int32_t multiples_of(int axis, double height) const {
    return std::int32_t(std::lround(height / double(unit[axis])));
  }
  /// On a GPU as they are now.
  PERRIN_HD Vec3<std::int32_t> multiples() const {
#ifdef __CUDA_ARCH__
    Vec3<std::int32_t> n = scale->grid;
    // Or they are widened before a loop, and in it 64 bits are multiplied by 64.
    asm volatile("" : "+r"(n.x), "+r"(n.y), "+r"(n.z));
    return n;
#else
    return grid;
#endif
  }
  /// ⌊p·n/2^32⌋ - ⌊origin·n/2^32⌋ units, of the image of p nearest to the origin: what is left of
  /// the origin decides with p - origin where the next unit begins.
  PERRIN_HD static Real length(std::uint32_t p, std::uint32_t origin, std::int32_t n, Real unit) {
    const std::int64_t left = origin * std::uint32_t(n);
    const std::int64_t all = std::int64_t(std::int32_t(p - origin)) * n + left;
    return Real(std::int32_t(all >> 32)) * unit;
  }
  template <bool General>
  PERRIN_HD Real3 local(const Position& p, const Vec3<std::uint32_t>& origin) const {
    if (sizeof(Real) == 4 && (!General || lengths)) {
      const Vec3<std::int32_t> n = multiples();
      return {length(p.x, origin.x, n.x, unit.x), length(p.y, origin.y, n.y, unit.y),
              length(p.z, origin.z, n.z, unit.z)};
    }
    return {Real(std::int32_t(((p.x + half.x) & mask.x) - origin.x)),
            Real(std::int32_t(((p.y + half.y) & mask.y) - origin.y)),
            Real(std::int32_t(((p.z + half.z) & mask.z) - origin.z))};
  }
  /// From the difference of two local coordinates to a vector in length units. General: the box
  /// may be triclinic, or so small that the minimum image must be taken here.
  template <bool General>
  PERRIN_HD Real3 vector(const Metric& metric, Real3 d) const {
    if (sizeof(Real) == 4 && (!General || lengths)) return d;
    if constexpr (!General) return {metric.xx * d.x, metric.yy * d.y, metric.zz * d.z};
    const Real period = Real(4294967296.0);
    d.x -= period * std::rint(d.x * inverse_period.x);
    d.y -= period * std::rint(d.y * inverse_period.y);
    d.z -= period * std::rint(d.z * inverse_period.z);
    return {metric.xx * d.x + metric.xy * d.y + metric.xz * d.z, metric.yy * d.y + metric.yz * d.z,
            metric.zz * d.z};
  }
};

/// Counting particles into the cells of tiles, on a GPU. Nothing on the CPU: loops there must not
/// be held up by a branch that is never taken.
struct TileCounter {
  TileGeometry geometry;
  CellCounter cells;

  PERRIN_HD explicit operator bool() const { return cells.count; }
  PERRIN_HD void operator()([[maybe_unused]] std::int64_t i,
                            [[maybe_unused]] const Position& p) const {
#ifdef __CUDA_ARCH__
    cells(i, geometry.key(p));
#endif
  }
};

}  // namespace perrin
