// Sorting particles into columns and, along these, with the short sort: what cluster lists and the
// search without lists of the CPU begin with.
#pragma once

#include "engine/system/particles.h"
#include "neighbor/cells/cell_sort.h"
#include "neighbor/columns/column_grid.h"

namespace perrin {

class ColumnSort {
 public:
  /// Finds the order of the particles: by bin of the grid, within a bin along the column (to within
  /// ColumnGrid::slack) or, where `along` is false, by id. It depends on positions and ids alone,
  /// not on the order in memory or the number of threads.
  void sort(const Particles& particles, const ColumnGrid& grid, bool along = true);
  /// The same along columns for n particles that stand elsewhere.
  void sort(const Device& device, const Position* position, const std::uint32_t* id, std::int64_t n,
            const ColumnGrid& grid);

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
  /// Particles that come one after another by id, or in an order of no meaning.
  struct Sorted {
    const Position* position;
    const std::uint32_t* index;  // [id]; nullptr: in the order of memory …
    const std::uint32_t* id;     // … with these ids
    std::int64_t n;
  };
  void sort_into_bins(const Device& device, const Sorted& sorted, const ColumnGrid& grid);
  void sort_along(const Device& device, const Sorted& sorted, const ColumnGrid& grid);

  CellSort cells_;
  std::int64_t bins_ = 0;
  Buffer<std::uint32_t> order_, words_, member_;
};

}  // namespace perrin
