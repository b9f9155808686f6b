// Cluster lists on the GPU: pair lists of small groups, worked on by warps.
//
// The box is cut into bricks as for neighbor/tiles/tiles.h. The particles of a brick, in pieces of at most
// 256, are put in order by three short sorts: slabs across z, columns across y, along x within these;
// four that follow one another then are a cluster, about as long as wide. A piece is a tile: a block
// of threads converts its coordinates and those of its surroundings once, into shared memory. A
// row of the list belongs to a cluster and names particles by their 16-bit place there: those in
// reach of any of the four. A warp takes 32 entries at a time, one in each lane, and meets them with the
// four particles of the row, so that what is read for an entry serves four pairs.
//
// Newton's third law: a pair of one tile is listed and evaluated once. What the particles of the row
// get stays in registers until the row ends; what the listed ones get goes to sums in shared memory, one
// set for each warp, added in a fixed order at the end. Pairs of different tiles are evaluated from both
// sides, with vectors that are, bit by bit, opposite (see TileGeometry).
//
// Clusters as units of pair lists: S. Páll, B. Hess, Comput. Phys. Commun. 184, 2641 (2013).
#pragma once

#include <cstdint>

#include "engine/core/particles.h"
#include "neighbor/tiles/tiles.h"

namespace perrin {

class CellSort;
namespace detail {
struct OrderClusters;  // neighbor/warp_clusters/warp_cluster_build.cuh
struct BuildClusters;
}  // namespace detail

constexpr std::uint32_t warp_cluster = 4;  // particles of a cluster
constexpr std::uint32_t warp_piece = 256;  // most of a tile

/// Particles first … first+count-1 in memory; cluster k of it is row `row` + k. Places 0 … count-1 are
/// these particles, the others those with the memory indices halo[halo_begin …].
struct WarpTile {
  std::uint32_t first, count, brick, row, halo_begin, halo_count;
  Vec3<std::uint32_t> origin;
};

/// How many entries a row has, and how many of them, at its beginning, are of its own tile.
struct WarpRow {
  std::uint32_t own, entries;
};

/// The list as a kernel sees it. Entry k of row r is entries[r · row_room + k]: a place, and in bits 28
/// … 31 which particles of the cluster it meets. Rows are filled up to multiples of 32 with entries
/// that meet none.
struct WarpClusterView {
  TileGeometry geometry;
  const WarpTile* tiles;
  const std::uint32_t* tile_count;
  const std::uint32_t* halo;
  const WarpRow* rows;
  const std::uint32_t* entries;
  std::uint32_t row_room;  // entries, a multiple of 32
  std::uint32_t places;    // room of a tile
  std::uint32_t own_room;  // of which its own particles
  std::uint32_t warps;     // that share a tile where sums are few
  std::uint32_t blocks;    // each takes one tile; one more where a brick had too many particles

  /// Warps of a block for a body of so many sums: each has sums of its own in shared memory.
  PERRIN_HD std::uint32_t warps_for(int sums) const {
    const std::uint32_t most = sums <= 6 ? 8 : sums <= 12 ? 4 : 2;
    return warps < most ? warps : most;
  }
};

/// Rooms of a build, and the words that take what it would have needed.
struct WarpClusterRoom {
  std::uint32_t places, entries,
      chunks;            // of a tile, of a row; 32 candidates for a tile's halo each
  std::uint32_t* words;  // [0] set to 1 if something was full; most ever: [1] places, [2] entries,
                         // [3] chunks, [4] all halos together
};

/// Sorts particles and builds lists on a CUDA device.
class WarpClusters {
 public:
  /// Lists reach `reach`. `cells`: 1 or 2 cells to it; 0: chosen.
  WarpClusters(const Particles& particles, double reach, int cells);

  const TileGeometry& geometry() const { return geometry_; }
  WarpClusterView view() const;
  /// Sorts the particles in memory and lists their neighbours. `reference` receives a copy of the
  /// positions. Device work only. Exclusions are by id; begin == nullptr: none. Halts the device if
  /// something was full.
  void build(Particles& particles, CellSort& sort, const std::uint32_t* exclusion_begin,
             const std::uint32_t* excluded, Position* reference,
             const TileList::WhenBuilt& when_built);
  /// What its kernels are given: OrderClusters takes the particles from the spare arrays, where they
  /// are sorted by key().
  detail::OrderClusters ordering(Particles& particles, const std::uint32_t* cell_start,
                                 const std::uint32_t* order_before, Position* reference);
  detail::BuildClusters building(const std::uint32_t* cell_start,
                                 const std::uint32_t* exclusion_begin,
                                 const std::uint32_t* excluded,
                                 const TileList::WhenBuilt& when_built);
  /// After a halt: true if something was full, which then has been enlarged.
  bool enlarge();
  /// False: a tile is too large for shared memory or 16 bits; another kind of list must serve.
  bool fits() const { return fits_; }
  std::int64_t bytes() const {  // of memory
    return tiles_.bytes() + rows_.bytes() + entries_.bytes() + halo_.bytes();
  }
  /// Mean number of pairs that are looked at per particle: those of one tile count once, others
  /// twice (waits).
  double mean_tests() const;

 private:
  void choose_sizes();
  std::uint32_t row_count() const;

  const Particles& particles_;
  double reach_;
  TileGeometry geometry_{};
  Vec3<std::int32_t> around_{};  // bricks that can hold neighbours of a tile, along each axis
  std::uint32_t own_room_ = warp_piece, warps_ = 8, blocks_ = 0;
  std::uint32_t places_ = 0, entries_of_row_ = 0, chunks_ = 0;
  std::size_t build_bytes_ = 0;
  bool fits_ = true;
  Buffer<WarpTile> tiles_;
  Buffer<WarpRow> rows_;
  Buffer<std::uint32_t> entries_, halo_;
  Buffer<std::uint32_t> order_;
  Buffer<std::uint32_t> used_;   // during a build: entries of halo_, blocks done, tiles beyond the
                                 // first of each brick; after it: [3] tiles
  Buffer<std::uint32_t> words_;  // of WarpClusterRoom
};

}  // namespace perrin
