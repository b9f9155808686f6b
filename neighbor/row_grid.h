// The cell grids that neighbor/rows.h searches: one for each class of particles.
//
// Cells are as wide as suits the density where the particles are. Where a box that is nearly empty
// would have too many of them, the grid is folded: coordinates are taken modulo 2^-fold of the box's
// edge, which for fixed-point fractions is a shift. Cells that touch still touch, so what is near is
// found; what is found besides, from other parts of the box, is told by its distance. Memory follows
// the particles, however large the box.
#pragma once

#include "engine/box.h"

namespace perrin {

/// Row-major, x fastest.
struct RowGrid {
  Vec3<std::int32_t> cells;  // of the folded box
  Vec3<std::int32_t> fold;   // the box's edge is 2^fold edges of the folded one
  Vec3<Real> edge;           // height of a cell (length)
  std::uint32_t first_cell;  // of all grids' cells, one behind the other

  PERRIN_HD static std::int32_t along(std::uint32_t fraction, std::int32_t n) {
    return std::int32_t((std::uint64_t(fraction) * std::uint32_t(n)) >> 32);
  }
  /// A fraction times the number of cells: nobody is ever outside.
  PERRIN_HD std::uint32_t key(const Position& p) const {
    const std::int32_t x = along(p.x << fold.x, cells.x), y = along(p.y << fold.y, cells.y),
                       z = along(p.z << fold.z, cells.z);
    return first_cell + std::uint32_t((z * cells.y + y) * cells.x + x);
  }
};

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

/// The rows of cells along x in which neighbours of one position can be.
class RowWalk {
 public:
  PERRIN_HD RowWalk(const RowGrid& grid, const RowPair& pair, const std::uint32_t* cell_start,
                    bool orthogonal, const Position& p)
      : grid_(grid), pair_(pair), start_(cell_start + grid.first_cell), orthogonal_(orthogonal) {
    const std::uint32_t f[3] = {p.x << grid.fold.x, p.y << grid.fold.y, p.z << grid.fold.z};
    for (int axis = 0; axis < 3; ++axis) {
      const std::uint64_t place = std::uint64_t(f[axis]) * std::uint32_t(grid.cells[axis]);
      cell_[axis] = std::int32_t(place >> 32);
      inside_[axis] = Real(std::uint32_t(place)) * Real(1.0 / 4294967296.0) * grid.edge[axis];
    }
  }

  PERRIN_HD std::int32_t rows_y() const { return rows(1); }
  PERRIN_HD std::int32_t rows_z() const { return rows(2); }
  /// The particles in row (ky, kz) that may be within reach; those of a cell are in one row only.
  PERRIN_HD CellRun row(std::int32_t ky, std::int32_t kz) const {
    const Vec3<std::int32_t>& n = grid_.cells;
    Real left = pair_.reach2 * Real(1.0001);  // of its square, behind the distance to the row
    const std::int32_t y = place(1, ky, left), z = place(2, kz, left);
    if (left < Real(0)) return {0, 0, 0, 0};
    const std::uint32_t* row = start_ + (z * n.y + y) * n.x;
    if (all(0)) return {row[0], row[n.x] - row[0], 0, 0};
    std::int32_t from = -pair_.reach.x, to = pair_.reach.x;
    if (orthogonal_) {
      const Real chord = std::sqrt(left), per_cell = Real(1) / grid_.edge.x;
      const auto low = std::int32_t(std::floor((inside_.x - chord) * per_cell)),
                 high = std::int32_t(std::floor((inside_.x + chord) * per_cell));
      from = low > from ? low : from;
      to = high < to ? high : to;
    }
    const std::int32_t x0 = cell_.x + from, x1 = cell_.x + to;
    const std::uint32_t begin = row[x0 < 0 ? 0 : x0], end = row[(x1 < n.x ? x1 : n.x - 1) + 1];
    CellRun run{begin, end - begin, 0, 0};
    if (x0 < 0) run.begin2 = row[n.x + x0], run.count2 = row[n.x] - run.begin2;
    if (x1 >= n.x) run.begin2 = row[0], run.count2 = row[x1 - n.x + 1] - run.begin2;
    return run;
  }

 private:
  PERRIN_HD bool all(int axis) const { return 2 * pair_.reach[axis] + 1 >= grid_.cells[axis]; }
  PERRIN_HD std::int32_t rows(int axis) const {
    return all(axis) ? grid_.cells[axis] : 2 * pair_.reach[axis] + 1;
  }
  /// The cell of row k along an axis; `left` loses the square of the distance to it.
  PERRIN_HD std::int32_t place(int axis, std::int32_t k, Real& left) const {
    if (all(axis)) return k;
    const std::int32_t d = k - pair_.reach[axis], n = grid_.cells[axis];
    if (orthogonal_) {
      const Real edge = grid_.edge[axis];
      const Real gap = d == 0  ? Real(0)
                       : d > 0 ? Real(d) * edge - inside_[axis]
                               : inside_[axis] - Real(d + 1) * edge;
      left -= gap * gap;
    }
    const std::int32_t c = cell_[axis] + d;
    return c < 0 ? c + n : c >= n ? c - n : c;
  }

  const RowGrid& grid_;
  const RowPair& pair_;
  const std::uint32_t* start_;
  bool orthogonal_;
  Vec3<std::int32_t> cell_;
  Real3 inside_;  // from the lower faces of its cell
};

}  // namespace perrin
