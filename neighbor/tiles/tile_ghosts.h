// Which particles of other domains the tiles of this one look at, and the other way round
// (engine/domain/decomposition.h).
#pragma once

#include "engine/domain/decomposition.h"
#include "engine/system/particles.h"
#include "neighbor/tiles/tile_geometry.h"

namespace perrin {

/// Particles that are sent in every step: those of every tile next to one that another domain
/// works on, as far as lists, and partners in bonds, are looked for. Found anew with the lists;
/// every domain finds for itself what it will be sent.
class TileGhosts {
 public:
  /// Of all bricks that can look at one: the lowest and the highest number.
  struct Onlookers {
    std::uint32_t lowest, highest;
  };

  TileGhosts() = default;
  /// Nothing where there is one domain.
  /// `listed`: particles that are sent in every step; else only who looks is found.
  TileGhosts(const Particles& particles, const TileGeometry& geometry, bool listed);
  /// Device work, after it is known where cells begin, and counts() are zero. `n`: particles.
  void find(const std::uint32_t* cell_start, std::int64_t n);
  HaloPlan view() const;
  /// [0 … 2 · domains - 1], or nullptr where nothing is listed.
  std::uint32_t* counts() { return count_.size() > 0 ? count_.data() : nullptr; }
  /// [brick]: the domains (bits) that look at its particles.
  const std::uint64_t* who_looks() const { return who_.data(); }
  /// Halts the device where a partner of the domain's particles is not among them and its ghosts.
  /// Device work, after particles have been sorted.
  void require_partners(const Particles& particles, const std::uint32_t* cell_start) const;

 private:
  Device device_;
  TileGeometry geometry_{};
  Vec3<std::int32_t> reach_{};            // cells on each side of a brick
  std::int64_t room_ = 0;                 // elements between two domains
  Buffer<std::uint32_t> send_, receive_;  // [domain][element]
  Buffer<std::uint32_t> count_;           // [domain]: sent; then received
  Buffer<std::uint64_t> who_;             // [brick]
  Buffer<Onlookers> onlookers_;           // [brick]
};

}  // namespace perrin
