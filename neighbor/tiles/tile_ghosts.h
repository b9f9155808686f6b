// Which particles of other processes the tiles of this one look at, and the other way round
// (engine/core/team.h).
#pragma once

#include "engine/core/team.h"
#include "neighbor/tiles/tile_geometry.h"

namespace perrin {

struct Tile;

/// Particles that are sent in every step: those of every tile next to one that another process
/// works on. Found anew with the lists; every process finds for itself what it will be sent.
class TileGhosts {
 public:
  TileGhosts() = default;
  /// Nothing where there is one process.
  TileGhosts(const Device& device, std::int64_t particles);
  /// Device work, after the tiles are known. `n`: particles.
  void find(const Tile* tiles, const TileGeometry& geometry, std::int64_t n);
  Ghosts view() const;

 private:
  Device device_;
  std::int64_t room_ = 0;                 // elements between two processes
  Buffer<std::uint32_t> send_, receive_;  // [process][element]
  Buffer<std::uint32_t> count_;           // [process]: sent; then received
};

}  // namespace perrin
