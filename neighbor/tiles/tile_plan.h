// How a box is cut into cells and bricks (neighbor/tiles/tile_geometry.h).
#pragma once

#include "engine/system/particles.h"
#include "neighbor/cells/crowding.h"
#include "neighbor/ranges.h"
#include "neighbor/tiles/tile_geometry.h"

namespace perrin {

struct TileWishes {
  double density = 0;       // as particles see it
  double occupied = 1;      // the share of the box where there are any
  int multiprocessors = 1;  // to be kept busy
  int cells = 0;            // 1 or 2 to the reach; 0: chosen
  int brick = 0;            // cells of a brick, a power of two; 0: chosen
  double growth = 1;        // its coordinates also serve heights longer by this factor
  bool tilts = false;       // that of the box may change
};

/// `reach`: the longest range and the skin.
/// `least`, `most`: receive the heights between which the cut serves.
TileGeometry choose_tile_geometry(const Box& box, double reach, std::int64_t particles,
                                  const TileWishes& wishes, Vec3<double>* least = nullptr,
                                  Vec3<double>* most = nullptr);

/// What lists of tiles would cost, in entries per particle and step: pairs of a row padded to its
/// longest, and the share of a step in a build.
double tile_list_cost(const Particles& particles, const Ranges& reaches, const Crowding& crowding,
                      int cells);

}  // namespace perrin
