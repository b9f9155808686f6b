// Interactions sorted along axes, on a GPU, after E. S. Fomin (docs/papers.md): the particles of
// each cell in order along the 13 axes (2D: 4) that join the middles of two neighbouring cells.
// neighbor/sorted_cells/sorted_cells.h is the same for the CPU.
//
// Cells are as wide as the range or wider. Of a neighbour a particle meets those that are no
// further away along the axis of the two cells than the range.
#pragma once

#include "engine/system/particles.h"
#include "neighbor/tiles/tile_search.h"

namespace perrin {

/// From a cell to a neighbour, and back.
struct JoiningAxis {
  Vec3<std::int32_t> step;  // in cells
  Vec3<Real> along;         // unit vector between the middles
  Real low, scale;          // the place (r · along - low) · scale, r from the cell's middle
  std::int32_t left;        // places that the distance of the middles leaves of the range
};

struct AxisOrdersView {
  static constexpr int most_axes = 13;
  static constexpr std::int32_t last_place = 0xffff;

  std::int32_t axes;
  std::int64_t n;
  const JoiningAxis* axis;
  // [axis · n + memory index]: within each cell in order along the axis; the place on the axis
  // above the index in the cell (neighbor/sort/short_sort.h).
  const std::uint32_t* words;
};

/// For a geometry with one cell to a brick. All functions are device work only.
class AxisOrders {
 public:
  AxisOrders() = default;
  AxisOrders(const Particles& particles, const TileGeometry& geometry);

  /// Orders the particles, sorted by TileGeometry::key() in memory, in the box as it is now.
  void make(const TileSearch& search, const Particles& particles);
  AxisOrdersView view() const {
    return {axes_, axes_ > 0 ? words_.size() / axes_ : 0, axis_.data(), words_.data()};
  }
  std::int64_t bytes() const { return words_.bytes() + offsets_.bytes(); }

 private:
  std::int32_t axes_ = 0;
  Buffer<JoiningAxis> axis_;
  Buffer<std::uint32_t> words_;
  Buffer<std::int32_t> offsets_;  // [axis][cell]: where each order begins in words
};

}  // namespace perrin
