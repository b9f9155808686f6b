// The search without lists on a GPU: particles are sorted into the cells of tiles in every step,
// and every pair loop looks for pairs anew (neighbor/tiles/direct_loop.h), with interactions sorted
// along axes by cells (neighbor/tiles/axis_loop.h).
#pragma once

#include "neighbor/strain.h"
#include "neighbor/tiles/axis_orders.h"
#include "neighbor/tiles/tile_bricks.h"
#include "neighbor/tiles/tile_ghosts.h"
#include "neighbor/tiles/tile_sort.h"

namespace perrin {

class DirectTiles {
 public:
  static constexpr const char* name = "cells";
  static constexpr const char* help = "a search in every step, without lists";
  static constexpr bool lists = false;
  static constexpr bool on_gpu = true, on_cpu = false;

  explicit DirectTiles(const TraversalInput& input);
  bool fits() const { return bricks_.fits(); }
  /// To be called for every particle, once, before sort(). Where some are not there, which nobody
  /// moves, sort() counts them all itself.
  TileCounter counter() { return counts_ ? TileCounter{} : sort_.counter(); }
  /// Sorts the particles in memory. Device work only.
  void sort(const StepSort& step);
  bool enlarge();
  /// Does each domain sort its own particles?
  bool sorts_locally() const { return bricks_.sorts_locally(); }
  OwnTiles own_tiles() const { return sort_.own_tiles(); }
  void follow_box(Real*);
  void require_cut() const { bricks_.require_cut(); }
  bool holds() const { return bricks_.holds(); }
  double mean_entries() const { return 0; }
  /// Beside as much as the particles have.
  std::int64_t bytes() const { return orders_.bytes(); }
  std::string report() const;
  Strain strain(const Box& box) const { return bricks_.strain(box); }

  const Particles& particles() const { return bricks_.particles(); }
  const TileBricks& bricks() const { return bricks_; }
  AxisOrdersView axis_orders() const { return orders_.view(); }  // `axes` 0: there are none
  TileSearch search() const { return bricks_.search(sort_.cell_start()); }

 private:
  void make_orders();

  TileBricks bricks_;
  TileSort sort_;
  bool counts_ = false;
  TileGhosts ghosts_;
  AxisOrders orders_;
};

}  // namespace perrin
