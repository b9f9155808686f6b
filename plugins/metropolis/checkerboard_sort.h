// Sorts the particles by (cell, id) for one sweep of the checkerboard.
#pragma once

#include "engine/core/buffer.h"
#include "plugins/metropolis/checkerboard_model.h"

namespace perrin::metropolis {

struct SortEntry {
  std::uint32_t id, from;
};

/// The order within a cell is that of the ids, so that nothing depends on threads.
class CheckerboardSort {
 public:
  CheckerboardSort() = default;
  CheckerboardSort(const Device& device, std::int64_t particles, Vec3<std::int32_t> cells);

  /// Reorders both; start() is then that of `grid`. Device work only.
  void sort(const CheckerboardGrid& grid, Buffer<Position>& position, Buffer<std::uint32_t>& id);
  /// start()[c] … start()[c + 1] - 1 are the particles of cell c.
  const std::uint32_t* start() const { return start_.data(); }

 private:
  void sort_cpu(const CheckerboardGrid& grid, const Buffer<Position>& position,
                const Buffer<std::uint32_t>& id);

  Device device_;
  std::int64_t cells_ = 0;
  Buffer<Position> sorted_;
  Buffer<std::uint32_t> sorted_id_, cell_, slot_, count_, start_;
  Buffer<SortEntry> entry_;
  Buffer<char> scratch_;
};

}  // namespace perrin::metropolis
