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
// After D. G. Fomin's traversal of neighbouring cells, and S. Páll, B. Hess, Comput. Phys. Commun.
// 184 (2013) 2641, for reusing loaded particles.
#pragma once

#include <bit>

#include "engine/core/particles.h"
#include "neighbor/cells/crowding.h"
#include "neighbor/ranges.h"
#include "neighbor/tiles/tile_geometry.h"

namespace perrin {

/// A particle's type in the fourth word of its local coordinates.
PERRIN_HD Real type_to_real(std::uint32_t type) {
#ifdef PERRIN_DOUBLE
  return Real(type);
#else
  return std::bit_cast<float>(type);
#endif
}
PERRIN_HD std::uint32_t real_to_type(Real w) {
#ifdef PERRIN_DOUBLE
  return std::uint32_t(w);
#else
  return std::bit_cast<std::uint32_t>(w);
#endif
}

/// One brick: its particles are first … first+count-1 in memory; its halo's memory indices are
/// halo[halo_begin …]; its units, the shares of 32 threads with 32/lanes particles, start at unit_begin;
/// coordinates are relative to origin.
struct alignas(16) Tile {
  std::uint32_t first, count, halo_begin, halo_count, unit_begin;
  Vec3<std::uint32_t> origin;
};

/// Chunk c of unit u and its thread t is chunks[(u·unit_rows + c)·32 + t]: four 16-bit places in the
/// halo, the place halo_count where there is no neighbour. Eight threads share a list, each takes an eighth of it. With
/// four threads to a particle they share two: places 0 and 1 are of the first, 2 and 3 of the second.
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
  std::int64_t tile_count;
};

struct TileSearch;  // neighbor/tiles/tile_search.h

/// How a box is cut into cells and bricks (choose_tile_geometry()).
struct TileWishes {
  double density = 0;       // as particles see it
  double occupied = 1;      // the share of the box where there are any
  int multiprocessors = 1;  // to be kept busy
  int cells = 0;            // 1 or 2 to the reach; 0: chosen
  int brick = 0;            // cells of a brick, a power of two; 0: chosen
};
TileGeometry choose_tile_geometry(const Box& box, double reach, std::int64_t particles,
                                  const TileWishes& wishes);

/// Capacities of a search, and the words that take what it would have needed.
struct TileRoom {
  std::uint32_t halo, list;  // places of a halo, entries of a particle's list
  std::uint32_t*
      words;  // [0] set to 1 if something was full; most ever: [1] halo, [2] list, [3] halos
};

/// Cells, bricks and lists on a CUDA device.
class TileList {
 public:
  struct Choices {
    bool lists = true;   // else it is there for direct searches only (detail::direct_loop())
    bool sorted = true;  // the particles of a cell by x
    int lanes = 0;       // 4 or 8 threads share a particle; 0: chosen
    int cells = 0;       // 1 or 2 cells to the range of the lists; 0: chosen
    int brick = 0;       // cells of a brick, a power of two; 0: chosen
  };
  /// Chooses cells and bricks. `reaches`: ranges and skin.
  TileList(const Particles& particles, const Ranges& reaches, const Crowding& crowding,
           const Choices& choices);

  /// What lists of tiles would cost, in entries per particle and step: pairs of a row padded to its
  /// longest, and the share of a step in a build.
  static double estimate(const Particles& particles, const Ranges& reaches,
                         const Crowding& crowding, int cells);

  const TileGeometry& geometry() const { return geometry_; }
  TileView view() const;
  /// For a search of one's own among particles sorted by key().
  TileSearch search(const std::uint32_t* cell_start, const std::uint32_t* exclusion_begin,
                    const std::uint32_t* excluded) const;
  /// Builds the lists of particles that are sorted by key(); `cell_start` has cell_count() + 1
  /// entries. count[i]: length of the list of particle i. Device work only. Exclusions are by id;
  /// begin == nullptr: none. Halts the device if something was full.
  struct WhenBuilt {       // and nothing was full
    std::uint32_t* flag;   // set to 0
    std::int64_t* builds;  // add one
  };
  void build(const std::uint32_t* cell_start, const std::uint32_t* exclusion_begin,
             const std::uint32_t* excluded, std::uint32_t* count, const WhenBuilt& when_built);
  /// After a halt: true if something was full, which then has been enlarged.
  bool enlarge();
  /// What a direct search must know, and where it says what was full.
  TileRoom room() const {
    return {halo_capacity_, list_capacity_, const_cast<std::uint32_t*>(words_.data())};
  }
  /// Triclinic, or images taken per pair, or a halo of many reaches.
  bool general() const;
  /// Threads of a block that searches a brick: a warp for unit_particles at a time, or a thread for a
  /// particle.
  int search_threads() const { return search_threads_; }
  int single_threads() const { return single_threads_; }
  int log2_lanes() const { return log2_lanes_; }
  /// False: a tile is too large for shared memory or 16 bits; another kind of list must serve.
  bool fits() const { return fits_; }

  std::int64_t bytes() const;  // of memory

  static constexpr int threads = 256;

 private:
  bool choose_sizes();

  const Particles& particles_;
  double reach_;             // the longest
  Buffer<Real> reach2_;      // [type · types + type] where they differ …
  std::uint32_t types_ = 0;  // … else 0
  TileGeometry geometry_{};
  std::uint32_t unit_rows() const;
  std::int64_t units() const;

  int log2_lanes_ = 2, search_threads_ = threads, single_threads_ = threads;
  std::uint32_t halo_capacity_ = 0, list_capacity_ = 0;
  std::size_t scratch_bytes_ = 0;
  bool lists_ = true, fits_ = true;
  Buffer<Tile> tiles_;
  Buffer<std::uint32_t> halo_;
  Buffer<std::uint32_t> rows_;
  Buffer<TileChunk> chunks_;
  Buffer<std::uint32_t> used_;   // during a build: entries of halo_, tiles done
  Buffer<std::uint32_t> words_;  // of TileRoom
};

}  // namespace perrin
