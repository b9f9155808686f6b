// Bringing the particles into the order of the cells of tiles, in memory.
#pragma once

#include "engine/domain/decomposition.h"
#include "engine/system/particles.h"
#include "neighbor/cells/cell_sort.h"
#include "neighbor/tiles/tile_geometry.h"

namespace perrin {

class TileGhosts;

/// Which tiles the blocks of a kernel work on: all, or where there are several domains those with
/// particles of this one.
struct OwnTiles {
  const std::uint32_t* range;  // the first and the end; nullptr: all

  /// False: there is none for this block.
  PERRIN_HD bool of_block(std::uint32_t block, std::uint32_t& tile) const {
    tile = block;
    if (!range) return true;
    tile += range[0];
    return tile < range[1];
  }
  /// Their number if there are more than `blocks`, otherwise 0.
  PERRIN_HD std::uint32_t beyond(std::uint32_t blocks) const {
    const std::uint32_t tiles = range ? range[1] - range[0] : 0;
    return tiles > blocks ? tiles : 0;
  }
};

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
  /// The same, leaving the buffers swapped (MemoryOrder::swap_buffers()).
  void sort_exchanging();
  /// Each domain sorts the particles that it takes care of, and with them those that its tiles
  /// look at; afterwards it has these, at the places in memory that they would have if all were
  /// sorted. Particles that come into another share move there. `positions`: receives those of its
  /// own particles. Finds the ghosts as well, and notes the step as Votes does.
  /// `exchanging`: leaving the arrays exchanged.
  void sort_locally(Position* positions, TileGhosts& ghosts, bool exchanging = false,
                    std::uint32_t* progress = nullptr, std::uint32_t step = 0);
  /// After sort(), where there are several domains: what sort_locally() knows of the cells.
  /// Before TileGhosts::find().
  void find_shares(TileGhosts& ghosts);
  OwnTiles own_tiles() const {
    return {shares_.size() > 0 ? shares_.data() + Decomposition::most + 1 : nullptr};
  }
  const std::uint32_t* cell_start() const { return cells_.start(); }
  /// Where particles were before; known where other arrays follow them, and to domains.
  const std::uint32_t* order() const { return order_.data(); }

 private:
  void into_spare_arrays();

  Particles* particles_ = nullptr;
  TileGeometry geometry_{};
  CellSort cells_;
  Buffer<std::uint32_t> order_;  // for arrays that follow the particles; or who travels
  // Several domains: the cells where their shares begin [0 … most]; first and end of the
  // tiles of this one; and of the cells.
  Buffer<std::uint32_t> shares_;
  Buffer<std::uint32_t> going_;  // strays; migrants for each domain; ghosts
  Buffer<ReceiveBuffer> arrivals_;
};

}  // namespace perrin
