// Sorting particles into cells: a counting sort, in each cell by x.
#pragma once

#include "engine/core/particles.h"
#include "neighbor/tiles/tiles.h"

namespace perrin {

/// Brings the particles into the order of TileGeometry::key(), those of one cell in the order of
/// their ids (or of their x and then ids: TileGeometry::sorted), whatever the order they come in. On a
/// CUDA device; device work only.
class CellSort {
 public:
  CellSort() = default;
  CellSort(const Device& device, std::int64_t particles, std::int64_t cells);

  /// To be called for every particle, once, before sort().
  CellCounter counter(const TileGeometry& geometry) {
    return {geometry, count_.data(), key_.data(), slot_.data()};
  }
  void count(Particles& particles, const TileGeometry& geometry);
  /// What comes after counter() or count(). `positions` receives a copy of the sorted positions.
  void sort(Particles& particles, const TileGeometry& geometry, Position* positions);
  /// The same, leaving the arrays exchanged (Particles::exchange()).
  void sort_exchanging(Particles& particles, const TileGeometry& geometry);
  /// The same up to the copying back: the sorted particles are in the spare arrays, and what is attached
  /// stays where it was. `with_order`: order() will be asked for.
  void sort_into_spare_arrays(Particles& particles, const TileGeometry& geometry, bool with_order);
  /// Where each particle of the sorted ones came from.
  const std::uint32_t* order() const { return order_.data(); }
  /// cell_start()[c] … cell_start()[c+1]-1 are the particles of cell c; valid after sort().
  const std::uint32_t* cell_start() const { return start_.data(); }

 private:
  void into_spare_arrays(Particles& particles, const TileGeometry& geometry);

  std::int64_t cells_ = 0;
  Buffer<std::uint32_t> count_, start_;                   // cells + 1
  Buffer<std::uint32_t> key_, slot_, any_order_, order_;  // particles
  Buffer<std::byte> scratch_;
};

}  // namespace perrin
