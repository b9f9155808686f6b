// Bringing the particles into the order of the cells of tiles, in memory.
#pragma once

#include "engine/core/particles.h"
#include "neighbor/cells/cell_sort.h"
#include "neighbor/tiles/tile_geometry.h"

namespace perrin {

/// Sorts by (TileGeometry::key(), id), or by (key, x, id): TileGeometry::sorted. On a CUDA device;
/// device work only.
class TileSort {
 public:
  TileSort() = default;
  TileSort(Particles& particles, const TileGeometry& geometry);

  /// To be called for every particle, once, before sort().
  TileCounter counter() { return {geometry_, cells_.counter()}; }
  void count();
  /// `positions`: receives a copy of the sorted positions, or nullptr.
  void sort(Position* positions);
  /// The same, leaving the arrays exchanged (Particles::exchange()).
  void sort_exchanging();
  const std::uint32_t* cell_start() const { return cells_.start(); }
  /// Where particles were before; known where something is attached to them, and to processes.
  const std::uint32_t* order() const { return order_.data(); }

 private:
  void into_spare_arrays();

  Particles* particles_ = nullptr;
  TileGeometry geometry_{};
  CellSort cells_;
  Buffer<std::uint32_t> order_;  // for what is attached to the particles
};

}  // namespace perrin
