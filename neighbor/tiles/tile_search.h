// What a block of a CUDA device needs to find the neighbours of a brick's particles
// (neighbor/tiles/tile_list.h): the particles of the brick and of its halo.
#pragma once

#include "neighbor/exclusions.h"
#include "neighbor/tiles/tile_geometry.h"

namespace perrin {

/// What is searched.
struct TileSearch {
  TileGeometry geometry;
  Current<Metric> metric;
  Real reach2;
  const Real* reach2_of_types;  // [type · types + type]; nullptr: reach2 for all (lists only)
  std::uint32_t types;
  const Position* position;
  const std::uint32_t* id;
  const std::uint32_t* cell_start;
  ExclusionView exclusions;
  bool general;  // triclinic, or images taken per pair, or a halo of many reaches

  /// Are there pairs in reach that lists leave out?
  PERRIN_HD bool has_filter() const { return exclusions || reach2_of_types; }
};

/// What the list of particle i leaves out, of particles in reach.
struct ListFilter {
  const TileSearch& s;
  Position own;
  const Real* reach2;        // of its type with each; nullptr: all are alike
  std::uint32_t lone;        // the first of its exclusions; `none`: there is none
  std::uint32_t first, end;  // the others, as ExclusionView::excludes() takes them
  std::uint32_t lowest, highest;

  static constexpr std::uint32_t none = 0xffffffffu;  // nobody's id

  PERRIN_HD ListFilter(const TileSearch& search, std::int64_t i)
      : s(search),
        own(search.position[i]),
        reach2(nullptr),
        lone(none),
        first(0),
        end(0),
        lowest(none),
        highest(0) {
    if (s.reach2_of_types) reach2 = s.reach2_of_types + own.type() * s.types;
    if (!s.exclusions) return;
    const std::uint32_t id = s.id[i];
    first = s.exclusions.begin[id], end = s.exclusions.begin[id + 1];
    if (first == end) return;
    lone = s.exclusions.excluded[first++];
    if (first == end) return;
    lowest = s.exclusions.excluded[first], highest = s.exclusions.excluded[end - 1];
  }

  /// Nobody is in the list of a type that interacts with none.
  PERRIN_HD bool leaves_out_all() const {
    if (reach2 == nullptr) return false;
    for (std::uint32_t type = 0; type < s.types; ++type)
      if (reach2[type] > Real(0)) return false;
    return true;
  }
  /// What leaves_out() asks of the particle j.
  PERRIN_HD std::uint32_t id_of(std::uint32_t j) const { return lone != none ? s.id[j] : 0; }
  PERRIN_HD Position position_of(std::uint32_t j) const { return reach2 ? s.position[j] : own; }
  PERRIN_HD bool leaves_out(std::uint32_t id, const Position& other) const {
    if (reach2) {
      const Real3 d = s.metric->vector(own, other);
      if (!(dot(d, d) < reach2[other.type()])) return true;
    }
    if (id == lone) return true;
    if (id < lowest || id > highest) return false;
    for (std::uint32_t k = first; k < end; ++k)
      if (s.exclusions.excluded[k] == id) return true;
    return false;
  }
};

#ifdef __CUDACC__
namespace detail {

/// The brick of this block and the cells of its halo.
struct TileBlock {
  Vec3<std::int32_t> halo_first;
  Vec3<std::uint32_t> origin;
  std::uint32_t first, count;  // the brick's particles in memory

  __device__ TileBlock(const TileSearch& s, std::uint32_t brick) {
    const Vec3<std::int32_t> cell = s.geometry.first_cell(brick);
    halo_first = s.geometry.halo_first(cell);
    origin = s.geometry.origin(cell);
    const int bits = s.geometry.log2_cells_per_brick();
    first = s.cell_start[std::size_t(brick) << bits];
    count = s.cell_start[(std::size_t(brick) + 1) << bits] - first;
  }

  __device__ std::uint32_t cell_key(const TileGeometry& g, std::uint32_t c) const {
    std::uint32_t of_x, of_y;
    const std::uint32_t of_z = g.halo_y(g.halo_x(c, of_x), of_y);
    std::int32_t x = halo_first.x + std::int32_t(of_x), y = halo_first.y + std::int32_t(of_y),
                 z = halo_first.z + std::int32_t(of_z);
    x += x < 0 ? g.cells.x : x >= g.cells.x ? -g.cells.x : 0;
    y += y < 0 ? g.cells.y : y >= g.cells.y ? -g.cells.y : 0;
    z += z < 0 ? g.cells.z : z >= g.cells.z ? -g.cells.z : 0;
    return g.key(x, y, z);
  }
  /// Fills cell_offset (halo cells + 1): the first place of every cell of the halo, and
  /// staged[place].w, if there are no more than `room`, with the memory index of who is there.
  /// Returns the number of places. All threads of the block.
  __device__ std::uint32_t lay_out(const TileSearch& s, std::uint32_t* cell_offset, Real4* staged,
                                   std::uint32_t room) const {
    const TileGeometry& g = s.geometry;
    __shared__ std::uint32_t warp_sum[32];
    const std::uint32_t cells = std::uint32_t(g.halo.x * g.halo.y * g.halo.z);
    const std::uint32_t t = threadIdx.x, lane = t & 31, warp = t >> 5;
    // A few cells that follow one another for each thread, then sums over threads.
    const std::uint32_t each = (cells + blockDim.x - 1) / blockDim.x;
    const std::uint32_t begin = t * each < cells ? t * each : cells,
                        end = begin + each < cells ? begin + each : cells;
    constexpr std::uint32_t at_once = 3;  // loads that do not wait for one another
    std::uint32_t index[at_once], here[at_once];
    const auto look = [&](std::uint32_t c) {
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e) {
        const std::uint32_t* start = s.cell_start + cell_key(g, c + e < end ? c + e : c);
        index[e] = start[0], here[e] = start[1];
      }
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e) here[e] = c + e < end ? here[e] - index[e] : 0;
    };
    std::uint32_t own = 0;
    for (std::uint32_t c = begin; c < end; c += at_once) {
      look(c);
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e) own += here[e];
    }
    std::uint32_t until = own;
    for (std::uint32_t step = 1; step < 32; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(0xffffffffu, until, step);
      if (lane >= step) until += other;
    }
    if (lane == 31) warp_sum[warp] = until;
    __syncthreads();
    // The barrier does not bring a warp's threads together, and reductions must find them so.
    __syncwarp();
    const std::uint32_t of_warp = lane < blockDim.x / 32 ? warp_sum[lane] : 0;
    const std::uint32_t before = __reduce_add_sync(0xffffffffu, lane < warp ? of_warp : 0);
    const std::uint32_t total = __reduce_add_sync(0xffffffffu, of_warp);
    for (std::uint32_t c = begin, at = before + until - own; c < end; c += at_once) {
      if (each > at_once) look(c);
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e) {
        if (c + e < end) cell_offset[c + e] = at;
        for (std::uint32_t k = 0; k < here[e]; ++k, ++at)
          if (total <= room) staged[at].w = type_to_real(index[e] + k);
      }
    }
    if (t == 0) cell_offset[cells] = total;
    __syncthreads();
    return total;
  }
  /// put(place, memory index, get(memory index)) for each of the `total` places that lay_out() has
  /// found; it is to fill staged[place]. A thread gets several before it puts the first.
  template <class Get, class Put>
  __device__ static void for_each_place(std::uint32_t total, const Real4* staged, Get&& get,
                                        Put&& put) {
    constexpr std::uint32_t at_once = 4;
    const std::uint32_t threads = blockDim.x;
    for (std::uint32_t k = threadIdx.x; k < total; k += at_once * threads) {
      std::uint32_t j[at_once];
      decltype(get(0u)) got[at_once];
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e) {
        const std::uint32_t place = k + e * threads;
        j[e] = real_to_type(staged[place < total ? place : k].w);
      }
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e) got[e] = get(j[e]);
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e)
        if (k + e * threads < total) put(k + e * threads, j[e], got[e]);
    }
  }
};

}  // namespace detail
#endif

}  // namespace perrin
