// Sorting particles into columns and, along these, with the short sort: what cluster lists and the
// search without lists of the CPU begin with.
#pragma once

#include "engine/core/particles.h"
#include "neighbor/cells/cell_sort.h"
#include "neighbor/columns/column_grid.h"

namespace perrin {

class ColumnSort {
 public:
  /// Finds the order of the particles: by bin of the grid, within a bin along the column (to within
  /// ColumnGrid::slack) or, where `along` is false, by id. It depends on positions and ids alone,
  /// not on the order in memory or the number of threads.
  void sort(const Particles& particles, const ColumnGrid& grid, bool along = true);

  /// Memory indices of the particles in their new order.
  Buffer<std::uint32_t>& order() { return order_; }
  const Buffer<std::uint32_t>& order() const { return order_; }
  /// Bin b has the places start()[b] … start()[b + 1] - 1 of the order.
  const std::int32_t* start() const {  // as the short sort wants it
    return reinterpret_cast<const std::int32_t*>(cells_.start());
  }
  std::int64_t bytes() const {  // of memory
    return cells_.bytes() + order_.bytes() + words_.bytes() + member_.bytes();
  }

 private:
  void sort_along(const Particles& particles, const ColumnGrid& grid);

  CellSort cells_;  // by id
  std::int64_t bins_ = 0;
  Buffer<std::uint32_t> order_, words_, member_;
};

}  // namespace perrin
