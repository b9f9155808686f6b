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
#include <cmath>

#include "engine/particles.h"

namespace perrin {

/// How the box is cut. Cells are numbered brick by brick (key()), so that a brick's particles are
/// contiguous in memory.
struct TileGeometry {
  Vec3<std::int32_t> cells;       // along each axis, a multiple of 2^log2_brick
  Vec3<std::int32_t> log2_brick;  // cells of a brick
  Vec3<std::int32_t> reach;       // cells on each side of a brick that can hold neighbours
  Vec3<std::int32_t> halo;        // cells of brick and surroundings; all of the axis at most
  Vec3<std::uint32_t> mask;       // which bits of a fixed-point coordinate count …
  Vec3<std::uint32_t> half;       // … after adding half of the first that does
  Vec3<Real> inverse_period;      // 2^-32 along axes whose minimum image is taken per pair, else 0
  bool orthogonal, wraps;
  bool sorted;  // the particles of a cell by x: candidates can be cut at both ends

  PERRIN_HD std::int32_t bricks(int axis) const { return cells[axis] >> log2_brick[axis]; }
  PERRIN_HD std::int64_t brick_count() const {
    return std::int64_t(bricks(0)) * bricks(1) * bricks(2);
  }
  PERRIN_HD int log2_cells_per_brick() const { return log2_brick.x + log2_brick.y + log2_brick.z; }
  PERRIN_HD std::int64_t cell_count() const { return brick_count() << log2_cells_per_brick(); }

  PERRIN_HD static std::int32_t along(std::uint32_t fraction, std::int32_t n) {
    return std::int32_t((std::uint64_t(fraction) * std::uint32_t(n)) >> 32);
  }
  PERRIN_HD std::uint32_t key(std::int32_t x, std::int32_t y, std::int32_t z) const {
    const std::int32_t brick =
        ((z >> log2_brick.z) * bricks(1) + (y >> log2_brick.y)) * bricks(0) + (x >> log2_brick.x);
    const std::int32_t inside =
        ((((z & ((1 << log2_brick.z) - 1)) << log2_brick.y) | (y & ((1 << log2_brick.y) - 1)))
         << log2_brick.x) |
        (x & ((1 << log2_brick.x) - 1));
    return (std::uint32_t(brick) << log2_cells_per_brick()) | std::uint32_t(inside);
  }
  PERRIN_HD std::uint32_t key(const Position& p) const {
    return key(along(p.x, cells.x), along(p.y, cells.y), along(p.z, cells.z));
  }
  /// The first cell of a brick along an axis.
  PERRIN_HD std::int32_t first_cell(std::int64_t brick, int axis) const {
    const std::int64_t b = axis == 0   ? brick % bricks(0)
                           : axis == 1 ? brick / bricks(0) % bricks(1)
                                       : brick / (std::int64_t(bricks(0)) * bricks(1));
    return std::int32_t(b) << log2_brick[axis];
  }
  /// Where the halo of a brick begins along an axis: a cell, before wrapping.
  PERRIN_HD std::int32_t halo_first(std::int64_t brick, int axis) const {
    return halo[axis] == cells[axis] ? 0 : first_cell(brick, axis) - reach[axis];
  }
  /// What coordinates in a tile are relative to: the middle of the brick, on the grid of `mask`.
  PERRIN_HD Vec3<std::uint32_t> origin(std::int64_t brick) const {
    Vec3<std::uint32_t> o;
    for (int axis = 0; axis < 3; ++axis) {
      const std::uint64_t twice =
          2 * std::uint64_t(first_cell(brick, axis)) + (std::uint64_t(1) << log2_brick[axis]);
      o[axis] = std::uint32_t((twice << 31) / std::uint64_t(cells[axis])) & mask[axis];
    }
    return o;
  }
  PERRIN_HD Real3 local(const Position& p, const Vec3<std::uint32_t>& origin) const {
    return {Real(std::int32_t(((p.x + half.x) & mask.x) - origin.x)),
            Real(std::int32_t(((p.y + half.y) & mask.y) - origin.y)),
            Real(std::int32_t(((p.z + half.z) & mask.z) - origin.z))};
  }
  /// From the difference of two local coordinates to a vector in length units. General: the box
  /// is triclinic, or so small that the minimum image must be taken here.
  template <bool General>
  PERRIN_HD Real3 vector(const Metric& metric, Real3 d) const {
    if constexpr (!General) return {metric.xx * d.x, metric.yy * d.y, metric.zz * d.z};
    const Real period = Real(4294967296.0);
    d.x -= period * std::rint(d.x * inverse_period.x);
    d.y -= period * std::rint(d.y * inverse_period.y);
    d.z -= period * std::rint(d.z * inverse_period.z);
    return {metric.xx * d.x + metric.xy * d.y + metric.xz * d.z, metric.yy * d.y + metric.yz * d.z,
            metric.zz * d.z};
  }
};

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
/// halo[halo_begin …]; its work units start at unit_begin.
struct Tile {
  std::uint32_t first, count, halo_begin, halo_count, unit_begin;
};

/// 32 threads' share of a tile: 32/lanes particles. Chunk c of thread t is entries[(begin + c)·32 +
/// t]: four 16-bit places in the halo, the place halo_count where there is no neighbour.
struct TileUnit {
  std::uint32_t begin, chunks;
};
struct alignas(8) TileChunk {
  std::uint16_t place[4];
};

/// The list as a kernel sees it.
struct TileView {
  TileGeometry geometry;
  const Tile* tiles;
  const std::uint32_t* halo;
  const TileUnit* units;
  const TileChunk* chunks;
  std::uint32_t halo_capacity;  // of a tile
  int log2_lanes;               // threads that share a particle
  std::int64_t tile_count;
};

struct TileSearch;  // neighbor/tile_search.h

/// Capacities of a search, and the words that take what it would have needed.
struct TileRoom {
  std::uint32_t halo, list;  // places of a halo, entries of a particle's list
  std::uint32_t* words;      // [0] set to 1 if something was full; most ever: [1] halo, [2] list
};

/// Cells, bricks and lists on a CUDA device.
class TileList {
 public:
  /// Chooses cells and bricks for lists of length `reach`. Without `lists` it is there for direct
  /// searches only (detail::direct_loop()).
  TileList(const Particles& particles, double reach, bool lists, bool sorted = true);

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
  int build_threads() const { return build_threads_; }
  /// False: a tile is too large for shared memory or 16 bits; another kind of list must serve.
  bool fits() const { return fits_; }

  static constexpr int threads = 256;

 private:
  bool choose_sizes();

  const Particles& particles_;
  double reach_;
  TileGeometry geometry_{};
  int log2_lanes_ = 2, build_threads_ = 192;
  std::uint32_t halo_capacity_ = 0, list_capacity_ = 0;
  std::size_t scratch_bytes_ = 0;
  bool fits_ = true;
  Buffer<Tile> tiles_;
  Buffer<TileUnit> units_;
  Buffer<std::uint32_t> halo_;
  Buffer<TileChunk> chunks_;
  Buffer<std::uint32_t> used_;   // by the last build: entries of halo_, rows of chunks; tiles done
  Buffer<std::uint32_t> words_;  // of TileRoom
};

}  // namespace perrin
