// Verlet lists of tiles: the GPU's neighbour list.
//
// The box is cut into bricks of a few cells. The particles of a brick and all that can be within
// the list's range of them, the halo, are loaded into shared memory once; the lists then name
// neighbours by their 16-bit place there. Compared with lists of memory indices a step reads
// half as many bytes of list, and fetches each position once per brick instead of once per pair.
//
// Coordinates in a tile are relative to the brick and rounded to multiples of a power of two of the
// fixed-point unit, such that differences of them are exact in Real: the vector of a pair is, bit
// by bit, opposite for its two particles whichever bricks they are in. In single precision the
// grid is about 1e-7 of the halo's edge.
//
// After E. S. Fomin's traversal of neighbouring cells, and S. Páll, B. Hess, Comput. Phys. Commun.
// 184 (2013) 2641, for reusing loaded particles.
#pragma once

#include "neighbor/strain.h"
#include "neighbor/tiles/tile_bricks.h"
#include "neighbor/tiles/tile_ghosts.h"
#include "neighbor/tiles/tile_sort.h"

namespace perrin {

/// One brick: its particles are first … first+count-1 in memory; its halo's memory indices are
/// halo[halo_begin …]; its units, the shares of 32 threads with 32/lanes particles, start at
/// unit_begin; coordinates are relative to origin.
struct alignas(16) Tile {
  std::uint32_t first;
  std::uint32_t count : 31, has_ghosts : 1;  // … in the halo: particles of other domains
  std::uint32_t halo_begin, halo_count, unit_begin;
  Vec3<std::uint32_t> origin;
};

/// Chunk c of unit u and its thread t is chunks[(u·unit_rows + c)·32 + t]: four 16-bit places in
/// the halo, the place halo_count where there is no neighbour. Eight threads share a list, each
/// takes an eighth of it. With four threads to a particle they share two: places 0 and 1 are of the
/// first, 2 and 3 of the second.
struct alignas(8) TileChunk {
  std::uint16_t place[4];
};

/// The list as a kernel sees it.
struct TileView {
  TileGeometry geometry;
  const Tile* tiles;
  const std::uint32_t* halo;
  const std::uint32_t* rows;  // of chunks, per unit
  const TileChunk* chunks;
  std::uint32_t unit_rows;      // room of a unit
  std::uint32_t halo_capacity;  // of a tile
  int log2_lanes;               // threads that share a particle
  Share own;                    // only tiles with some of these particles have lists:
  OwnTiles own_tiles;           // these, for which a kernel has
  std::int64_t tiles_at_most;   // this number of blocks
};

class TileList {
 public:
  static constexpr const char* name = "tiles";
  static constexpr const char* help = "lists per tile of the box (GPU)";
  static constexpr bool lists = true;
  static constexpr bool on_gpu = true, on_cpu = false;
  static constexpr bool migrates = true;  // Domain::migrate()

  explicit TileList(const TraversalInput& input);
  bool fits() const { return bricks_.fits(); }
  /// Sorts the particles in memory and builds the lists. Device work only. Halts the device
  /// if something was full.
  void build(const ListBuild& build);
  bool enlarge();
  /// Does each domain sort its own particles?
  bool sorts_locally() const { return bricks_.sorts_locally(); }
  void follow_box(Real* limit2) { bricks_.follow_box(limit2); }
  void require_cut() const { bricks_.require_cut(); }
  bool holds() const { return bricks_.holds(); }
  double mean_entries() const;
  std::int64_t bytes() const;
  std::string report() const;
  Strain strain(const Box& box) const { return bricks_.strain(box); }

  const Particles& particles() const { return bricks_.particles(); }
  TileView view() const;
  /// What domains send one another in every step.
  HaloPlan ghosts() const { return ghosts_.view(); }

 private:
  void make_room();
  std::int64_t units() const;
  std::int64_t units_before() const;
  std::uint32_t unit_rows() const { return bricks_.room().list / bricks_.row(); }

  Particles* particles_;
  TileBricks bricks_;
  TileSort sort_;
  TileGhosts ghosts_;
  Buffer<Tile> tiles_;
  Buffer<std::uint32_t> halo_;
  Buffer<std::uint32_t> rows_;
  Buffer<TileChunk> chunks_;
  Buffer<std::uint32_t> used_;   // of TileBuild
  Buffer<std::uint32_t> count_;  // lengths of lists
};

}  // namespace perrin
