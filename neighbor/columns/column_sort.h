// Sorting particles into columns and, along these, with the short sort: what cluster lists and the
// search without lists of the CPU begin with.
#pragma once

#include <vector>

#include "neighbor/clusters/clusters_columns.h"

namespace perrin {

class ColumnSort {
 public:
  /// Finds the order of the particles: by bin of the grid, within a bin along the column (to
  /// within ColumnGrid::slack) or, where `along` is false, by id. It depends on positions and ids alone,
  /// not on the order in memory or the number of threads.
  void sort(const Particles& particles, const ColumnGrid& grid, bool along = true);

  /// Memory indices of the particles in their new order.
  Buffer<std::uint32_t>& order() { return order_; }
  const Buffer<std::uint32_t>& order() const { return order_; }
  /// Bin b has the places start()[b] … start()[b + 1] - 1 of the order.
  const std::int32_t* start() const { return start_.data(); }
  std::int64_t bytes() const {  // of memory
    return bin_.bytes() + order_.bytes() + words_.bytes() + member_.bytes() + start_.bytes() +
           std::int64_t(next_.capacity() * sizeof next_[0]);
  }

 private:
  void distribute(const Particles& particles, std::int64_t bins);

  Buffer<std::uint32_t> bin_, order_, words_, member_;
  Buffer<std::int32_t> start_;
  std::vector<std::int32_t> next_;  // [part of the ids][bin]: where its next particle goes
};

}  // namespace perrin
