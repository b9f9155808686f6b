// The cell grids that neighbor/verlet_list/verlet_list.h searches: one for each class of particles.
//
// Cells are as wide as suits the density where the particles are. Where a box that is nearly empty
// would have too many of them, the grid is folded: coordinates are taken modulo 2^-fold of the
// box's edge, which for fixed-point fractions is a shift. Cells that touch still touch, so what is
// near is found; what is found besides, from other parts of the box, is told by its distance.
// Memory follows the particles, however large the box.
#pragma once

#include "engine/system/box.h"
#include "neighbor/cells/cell_of.h"

namespace perrin {

/// Row-major, x fastest.
struct RowGrid {
  Vec3<std::int32_t> cells;  // of the folded box
  Vec3<std::int32_t> fold;   // the box's edge is 2^fold edges of the folded one
  Real3 edge;                // height of a cell (length)
  Real3 unit;                // height of the box in units of the fixed-point fraction (length)
  Real3 packet;  // how far particles may be apart that are searched for together (length) …
  Real3 widest;  // … and where the box leaves room for it, …
  Real longest;  // … which is half of it behind this reach (length)
  std::uint32_t first_cell;  // of all grids' cells, one behind the other

  /// The lengths, for a box with these heights.
  PERRIN_HD void fit(const Vec3<double>& heights) {
    for (int axis = 0; axis < 3; ++axis) {
      edge[axis] = Real(heights[axis] / double(std::int64_t(cells[axis]) << fold[axis]));
      unit[axis] = Real(heights[axis] / 4294967296.0);
      const double half = heights[axis] / 2, room = half - 1.001 * double(longest);
      if (room < double(packet[axis]) || packet[axis] < widest[axis])
        packet[axis] = room < 0 ? Real(0) : room < double(widest[axis]) ? Real(room) : widest[axis];
    }
  }
  PERRIN_HD std::uint32_t key(const Position& p) const {
    const std::int32_t x = cell_along(p.x << fold.x, cells.x),
                       y = cell_along(p.y << fold.y, cells.y),
                       z = cell_along(p.z << fold.z, cells.z);
    return first_cell + std::uint32_t((z * cells.y + y) * cells.x + x);
  }
};

/// Cells at least as wide as wanted, folded until there are `limit` at most.
RowGrid make_row_grid(const Box& box, double width, double limit);

/// What particles of one class look for in the grid of another.
struct RowPair {
  Real reach2;  // square of the longest range of any two types, and the skin; 0: nothing
  Vec3<std::int32_t> reach;  // in cells
  bool mixed;                // the ranges of their types differ
};

/// Two ranges of memory.
struct CellRun {
  std::uint32_t begin, count, begin2, count2;
};

/// The rows of cells along x in which neighbours can be: of particles in a box around p that
/// reaches from `low` to `high` as seen from p, along the heights of the periodic box.
class RowWalk {
 public:
  PERRIN_HD RowWalk(const RowGrid& grid, const RowPair& pair, const std::uint32_t* cell_start,
                    bool orthogonal, const Position& p, const Real3& low = {},
                    const Real3& high = {})
      : cells_(grid.cells),
        edge_(grid.edge),
        start_(cell_start + grid.first_cell),
        orthogonal_(orthogonal),
        reach2_(pair.reach2 * Real(1.0001)) {
    const std::uint32_t f[3] = {p.x << grid.fold.x, p.y << grid.fold.y, p.z << grid.fold.z};
    const Real reach = std::sqrt(reach2_);
    for (int axis = 0; axis < 3; ++axis) {
      const std::uint64_t place = std::uint64_t(f[axis]) * std::uint32_t(cells_[axis]);
      cell_[axis] = std::int32_t(place >> 32);
      const Real inside = Real(std::uint32_t(place)) * Real(1.0 / 4294967296.0) * edge_[axis];
      low_[axis] = inside + low[axis], high_[axis] = inside + high[axis];
      span(axis, reach, from_[axis], count_[axis]);
    }
  }

  PERRIN_HD std::int32_t rows_y() const { return count_.y; }
  PERRIN_HD std::int32_t rows_z() const { return count_.z; }
  /// The particles in row (ky, kz) that may be within reach; none if there is no such row. No
  /// particle is in two rows.
  PERRIN_HD CellRun row(std::int32_t ky, std::int32_t kz) const {
    if (ky >= count_.y || kz >= count_.z) return {0, 0, 0, 0};
    Real left = reach2_;  // of the square, behind the distance to the row
    const std::int32_t y = place(1, ky, left), z = place(2, kz, left), n = cells_.x;
    if (left < Real(0)) return {0, 0, 0, 0};
    const std::uint32_t* row = start_ + (z * cells_.y + y) * n;
    std::int32_t from = from_.x, count = count_.x;
    if (orthogonal_) span(0, std::sqrt(left), from, count);
    if (count == n) return {row[0], row[n] - row[0], 0, 0};
    const std::int32_t x0 = cell_.x + from, x1 = x0 + count;  // behind the last one
    const std::uint32_t begin = row[x0 < 0 ? 0 : x0];
    CellRun run{begin, row[x1 < n ? x1 : n] - begin, 0, 0};
    if (x0 < 0) run.begin2 = row[n + x0], run.count2 = row[n] - run.begin2;
    if (x1 > n) run.begin2 = row[0], run.count2 = row[x1 - n] - run.begin2;
    return run;
  }

 private:
  /// The cells within a distance along an axis, counted from the one of p; all: from the first.
  PERRIN_HD void span(int axis, Real distance, std::int32_t& from, std::int32_t& count) const {
    const Real per_cell = Real(1) / edge_[axis];
    const Real first = std::floor((low_[axis] - distance) * per_cell),
               last = std::floor((high_[axis] + distance) * per_cell);
    const bool all = last - first + Real(1) >= Real(cells_[axis]);
    from = all ? 0 : std::int32_t(first);
    count = all ? cells_[axis] : std::int32_t(last - first) + 1;
  }
  /// The cell of row k along an axis; `left` loses the square of the distance to it.
  PERRIN_HD std::int32_t place(int axis, std::int32_t k, Real& left) const {
    const std::int32_t n = cells_[axis];
    if (count_[axis] == n) return k;
    const std::int32_t d = from_[axis] + k, c = cell_[axis] + d;
    if (orthogonal_) {
      const Real above = Real(d) * edge_[axis] - high_[axis],
                 below = low_[axis] - Real(d + 1) * edge_[axis];
      const Real gap = above > below ? above : below;
      if (gap > Real(0)) left -= gap * gap;
    }
    return c < 0 ? c + n : c >= n ? c - n : c;
  }

  Vec3<std::int32_t> cells_;
  Real3 edge_;
  const std::uint32_t* start_;
  bool orthogonal_;
  Real reach2_;
  Vec3<std::int32_t> cell_, from_, count_;
  Real3 low_, high_;  // from the lower faces of the cell of p
};

}  // namespace perrin
