// Sorts the particles by (cell, id) for one sweep of the checkerboard.
#pragma once

#include "checkerboard_model.h"
#include "neighbor/cells/cell_sort.h"

namespace perrin::metropolis {

/// The order within a cell is that of the ids, so that nothing depends on threads.
class CheckerboardSort {
 public:
  CheckerboardSort() = default;
  CheckerboardSort(const Device& device, std::int64_t particles, Vec3<std::int32_t> cells)
      : device_(device),
        cells_(device, particles, std::int64_t(cells.x) * cells.y * cells.z),
        sorted_(device, particles),
        sorted_id_(device, particles) {}

  /// Reorders both; start() is then that of `grid`. Device work only.
  void sort(const CheckerboardGrid& grid, Buffer<Position>& position, Buffer<std::uint32_t>& id);
  /// start()[c] … start()[c + 1] - 1 are the particles of cell c.
  const std::uint32_t* start() const { return cells_.start(); }

 private:
  Device device_;
  CellSort cells_;
  Buffer<Position> sorted_;
  Buffer<std::uint32_t> sorted_id_;
};

}  // namespace perrin::metropolis
