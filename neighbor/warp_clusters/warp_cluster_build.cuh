// Ordering particles into clusters, and their lists (neighbor/warp_clusters/warp_clusters.h), on a CUDA device.
//
// Only CUDA's own names are used, so that the unit tests can run the same code on emulated blocks
// (PERRIN_EMULATED). Including file: the CUDA names (or their emulation) first. Elsewhere the structs hold
// what a kernel is given, and no code.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>

#include "neighbor/warp_clusters/warp_clusters.h"
#if defined(__CUDACC__) || defined(PERRIN_EMULATED)
#include "neighbor/sort/short_sort_gpu.cuh"
#endif

namespace perrin::detail {

PERRIN_HD std::uint32_t round_up(std::uint32_t n, std::uint32_t to) {
  return (n + to - 1) / to * to;
}

/// Ways to cut n particles of a box with these edges (x, y, z) into clusters as wide as long: so many
/// to a slab across z, so many of a slab to a column across y. Multiples of a cluster.
struct ClusterCuts {
  std::uint32_t slab, column;

  PERRIN_HD ClusterCuts(std::uint32_t n, Real3 edge) {
    bool flat[3] = {false, false, false};
    Real wanted = 0;
    for (bool again = true; again;) {  // axes along which there is less than a cluster do not count
      Real volume = Real(warp_cluster) / Real(n);
      int axes = 0;
      for (int k = 0; k < 3; ++k)
        if (!flat[k]) volume *= edge[k], ++axes;
      wanted = axes == 3 ? std::cbrt(volume) : axes == 2 ? std::sqrt(volume) : volume;
      again = false;
      for (int k = 0; k < 3 && axes > 1; ++k)
        if (!flat[k] && edge[k] < wanted) flat[k] = again = true;
      if (flat[0] && flat[1] && flat[2]) again = false;
    }
    const auto parts = [&](int axis) {
      const Real p = flat[axis] || !(wanted > Real(0)) ? Real(1) : std::rint(edge[axis] / wanted);
      return p < Real(1) ? 1u : p > Real(64) ? 64u : std::uint32_t(p);
    };
    const std::uint32_t slabs = parts(2), columns = parts(1);
    slab = round_up((n + slabs - 1) / slabs, warp_cluster);
    column = round_up((slab + columns - 1) / columns, warp_cluster);
  }
};

/// One warp for a brick: puts the particles of each piece into the order of clusters, on their way
/// from the spare arrays, where CellSort has left them, to where they belong.
struct OrderClusters {
  static constexpr int warps = 4;  // of a block
  TileGeometry geometry;
  Real3 brick_edge;
  const std::uint32_t* cell_start;
  Particles::Arrays from, to;
  Position* reference;
  std::uint32_t* index;
  const std::uint32_t* order_before;
  std::uint32_t* order;  // nullptr: nobody asks
  WarpTile* tiles;
  std::uint32_t* more_tiles;
  std::uint32_t own_room;

#if defined(__CUDACC__) || defined(PERRIN_EMULATED)
  static constexpr unsigned whole_warp = 0xffffffffu;

  /// A warp's shared memory: coordinates within the brick, and who comes at which place.
  struct Scratch {
    std::uint16_t at[3][warp_piece];
    std::uint8_t source[warp_piece];
  };

  /// 16 bits of the place within the brick.
  __device__ std::uint32_t in_brick(std::uint32_t fraction, int axis) const {
    const std::uint64_t cells = std::uint64_t(fraction) * std::uint32_t(geometry.cells[axis]);
    return std::uint32_t(cells >> (geometry.log2_brick[axis] + 16)) & 0xffffu;
  }

  /// scratch.source[place] = number of the particle that goes there. E keys to a lane.
  template <int E>
  __device__ void sort(std::uint32_t n, Scratch& scratch) const {
    const std::uint32_t lane = threadIdx.x % 32;
    Real3 edge;
    for (int axis = 0; axis < 3; ++axis) {
      std::uint32_t high = 0, low = 0;  // `low` by the complement
      for (std::uint32_t k = lane; k < n; k += 32) {
        const std::uint32_t at = scratch.at[axis][k];
        high = max(high, at), low = max(low, 0xffffu - at);
      }
      __syncwarp();  // reductions must find a warp's threads together
      high = __reduce_max_sync(whole_warp, high);
      low = __reduce_max_sync(whole_warp, low);
      edge[axis] = brick_edge[axis] * Real(high + low - 0xffffu + 1) * Real(1.0 / 65536);
    }
    const ClusterCuts cuts(n, edge);
    const std::uint32_t columns = (cuts.slab + cuts.column - 1) / cuts.column;
    // The group that must stay together in the upper bits; equal coordinates by number.
    const auto word = [&](std::uint32_t group, int axis, std::uint32_t k) {
      return group << 24 | std::uint32_t(scratch.at[axis][k]) << 8 | k;
    };
    std::uint32_t keys[E];
    short_sort_detail::WarpOps<0> ops{lane, 1, 0};
#pragma unroll
    for (int e = 0; e < E; ++e) {
      const std::uint32_t k = lane + 32 * std::uint32_t(e);
      keys[e] = k < n ? word(0, 2, k) : short_sort_detail::padding;
    }
    short_sort_detail::warp::sort_lanes<32>(ops, keys);
#pragma unroll
    for (int e = 0; e < E; ++e) {
      const std::uint32_t rank = lane * E + std::uint32_t(e);
      if (rank < n) keys[e] = word(rank / cuts.slab, 1, keys[e] & 0xffu);
    }
    short_sort_detail::warp::sort_lanes<32>(ops, keys);
#pragma unroll
    for (int e = 0; e < E; ++e) {
      const std::uint32_t rank = lane * E + std::uint32_t(e);
      const std::uint32_t slab = rank / cuts.slab, column = rank % cuts.slab / cuts.column;
      if (rank < n) keys[e] = word(slab * columns + column, 0, keys[e] & 0xffu);
    }
    short_sort_detail::warp::sort_lanes<32>(ops, keys);
#pragma unroll
    for (int e = 0; e < E; ++e) {
      const std::uint32_t rank = lane * E + std::uint32_t(e);
      if (rank < n) scratch.source[rank] = std::uint8_t(keys[e] & 0xffu);
    }
    __syncwarp();
  }

  __device__ void operator()(std::uint32_t brick, Scratch& scratch) const {
    const std::uint32_t lane = threadIdx.x % 32;
    const int bits = geometry.log2_cells_per_brick();
    const std::uint32_t begin = cell_start[std::size_t(brick) << bits],
                        all = cell_start[std::size_t(brick + 1) << bits] - begin;
    if (all == 0 && lane == 0) tiles[brick] = {begin, 0, brick, 0, 0, 0, {}};
    if (all == 0) return;
    // Equal pieces, the last one shorter. Every brick rounds up to whole clusters: a row more for each
    // brick before this one is enough.
    const std::uint32_t wanted = (all + own_room - 1) / own_room;
    const std::uint32_t size = round_up((all + wanted - 1) / wanted, warp_cluster);
    const std::uint32_t row = begin / warp_cluster + brick;
    for (std::uint32_t offset = 0; offset < all; offset += size) {
      const std::uint32_t first = begin + offset, n = min(size, all - offset);
      if (lane == 0) {
        const std::uint32_t tile =
            offset == 0 ? brick : std::uint32_t(geometry.brick_count()) + atomicAdd(more_tiles, 1u);
        tiles[tile] = {first,
                       n,
                       brick,
                       row + offset / warp_cluster,
                       0,
                       0,
                       geometry.origin(geometry.first_cell(brick))};
      }
      for (std::uint32_t k = lane; k < n; k += 32) {
        const Position p = from.position[first + k];
        scratch.at[0][k] = std::uint16_t(in_brick(p.x, 0));
        scratch.at[1][k] = std::uint16_t(in_brick(p.y, 1));
        scratch.at[2][k] = std::uint16_t(in_brick(p.z, 2));
      }
      __syncwarp();
      n <= 64 ? sort<2>(n, scratch) : sort<int(warp_piece / 32)>(n, scratch);
      for (std::uint32_t k = lane; k < n; k += 32) {
        const std::uint32_t source = first + scratch.source[k], at = first + k;
        to.copy(at, from, source);
        reference[at] = from.position[source];
        index[from.id[source]] = at;
        if (order) order[at] = order_before[source];
      }
      __syncwarp();
    }
  }
#endif
};

/// A block builds the lists of a tile. General: triclinic boxes, or images taken per pair.
struct BuildClusters {
  static constexpr std::uint32_t group = 8;  // places that share a bounding box
  TileGeometry geometry;
  Metric metric;
  // General: length per unit of a coordinate along the normal of its faces; 0 where images are taken
  // per pair.
  Real3 edge;
  Real reach;
  Vec3<std::int32_t> around;  // bricks that can hold neighbours of a tile, along each axis
  const Position* position;
  const std::uint32_t* id;
  const std::uint32_t* cell_start;
  const std::uint32_t *exclusion_begin, *excluded;  // by id
  WarpTile* tiles;
  std::uint32_t* halo;
  WarpRow* rows;
  std::uint32_t* entries;
  std::uint32_t* used;  // entries of halo, blocks done, tiles beyond the first of each brick, tiles
  std::uint32_t* halt;
  TileList::WhenBuilt when_built;
  WarpClusterRoom room;
  std::uint32_t halo_pool, warps, blocks;

  PERRIN_HD std::uint32_t brick_room() const {
    return std::uint32_t(around.x * around.y * around.z) + 1;
  }
  PERRIN_HD std::uint32_t group_room() const { return room.places / group + 1; }
  PERRIN_HD std::size_t bytes() const {
    return (room.places + 1) * sizeof(Real4) + group_room() * 6 * sizeof(Real) +
           (std::size_t(brick_room()) + room.chunks + 1) * 3 * sizeof(std::uint32_t) +
           std::size_t(warps) * group_room() * sizeof(std::uint16_t);
  }
#if defined(__CUDACC__) || defined(PERRIN_EMULATED)
  static constexpr unsigned whole_warp = 0xffffffffu;

  /// Shared memory of a block.
  struct Memory {
    Real4* staged;     // coordinates of all places: lengths, or local ones (General)
    Real *low, *high;  // boxes of groups: x of all, y of all, z of all
    std::uint32_t *brick_begin, *brick_count, *brick_chunk;
    std::uint32_t *chunk_mask, *chunk_place, *chunk_first;
    std::uint16_t* hits;   // groups, of each warp
    std::uint32_t groups;  // room
  };
  __device__ Memory divide(unsigned char* memory) const {
    Memory m;
    m.groups = group_room();
    m.staged = reinterpret_cast<Real4*>(memory);
    m.low = reinterpret_cast<Real*>(m.staged + room.places + 1);
    m.high = m.low + 3 * m.groups;
    m.brick_begin = reinterpret_cast<std::uint32_t*>(m.high + 3 * m.groups);
    m.brick_count = m.brick_begin + brick_room();
    m.brick_chunk = m.brick_count + brick_room();
    m.chunk_mask = m.brick_chunk + brick_room();
    m.chunk_place = m.chunk_mask + room.chunks + 1;
    m.chunk_first = m.chunk_place + room.chunks + 1;
    m.hits = reinterpret_cast<std::uint16_t*>(m.chunk_first + room.chunks + 1) +
             threadIdx.x / 32 * m.groups;
    return m;
  }

  /// The number of this warp in its block; through a shuffle, so that the compiler knows it to be the same
  /// in all lanes and makes no provisions for lanes that part.
  __device__ static std::uint32_t own_warp() {
    return __shfl_sync(whole_warp, threadIdx.x / 32, 0);
  }

  /// What boxes hold low and high ends of.
  struct Bounds {
    Real3 low, high;
    __device__ void add(Real3 r) {
      for (int k = 0; k < 3; ++k) low[k] = min(low[k], r[k]), high[k] = max(high[k], r[k]);
    }
  };
  static constexpr Real infinite = Real(1e30);

  template <bool General>
  __device__ Real3 for_boxes(Real3 staged) const {
    return General ? Real3{staged.x * edge.x, staged.y * edge.y, staged.z * edge.z} : staged;
  }
  /// May something between these gaps along the axes be in reach?
  template <bool General>
  __device__ bool within(Real3 gap) const {
    for (int k = 0; k < 3; ++k) gap[k] = max(gap[k], Real(0));
    if constexpr (General) return max(gap.x, max(gap.y, gap.z)) < reach;
    return dot(gap, gap) < reach * reach;
  }
  __device__ bool is_excluded(std::uint32_t me, std::uint32_t other) const {
    for (std::uint32_t k = exclusion_begin[me]; k < exclusion_begin[me + 1]; ++k)
      if (excluded[k] == other) return true;
    return false;
  }

  /// Exclusive sums in place, the total behind; all lanes of one warp.
  __device__ static void scan(std::uint32_t* values, std::uint32_t n) {
    const std::uint32_t lane = threadIdx.x % 32;
    std::uint32_t before = 0;
    for (std::uint32_t begin = 0; begin < n; begin += 32) {
      const std::uint32_t own = begin + lane < n ? values[begin + lane] : 0;
      std::uint32_t until = own;
      for (unsigned step = 1; step < 32; step *= 2) {
        const std::uint32_t other = __shfl_up_sync(whole_warp, until, step);
        if (lane >= step) until += other;
      }
      if (begin + lane < n) values[begin + lane] = before + until - own;
      before += __shfl_sync(whole_warp, until, 31);
    }
    if (lane == 0) values[n] = before;
  }

  /// The bricks that may hold neighbours, in chunks of 32 particles (chunk_mask: how many there are);
  /// returns the number of chunks.
  __device__ std::uint32_t list_bricks(const Memory& m, std::uint32_t brick) const {
    const int bits = geometry.log2_cells_per_brick();
    const std::int32_t own[3] = {
        std::int32_t(brick % std::uint32_t(geometry.bricks(0))),
        std::int32_t(brick / std::uint32_t(geometry.bricks(0)) % std::uint32_t(geometry.bricks(1))),
        std::int32_t(brick / std::uint32_t(geometry.bricks(0)) /
                     std::uint32_t(geometry.bricks(1)))};
    for (std::uint32_t k = threadIdx.x; k + 1 < brick_room(); k += blockDim.x) {
      std::int32_t left = std::int32_t(k), at[3];
      for (int axis = 0; axis < 3; ++axis) {
        const std::int32_t n = geometry.bricks(axis), along = left % around[axis];
        left /= around[axis];
        at[axis] = around[axis] == n ? along : own[axis] - around[axis] / 2 + along;
        at[axis] += at[axis] < 0 ? n : at[axis] >= n ? -n : 0;
      }
      const std::uint32_t b =
          std::uint32_t((at[2] * geometry.bricks(1) + at[1]) * geometry.bricks(0) + at[0]);
      const std::uint32_t begin = cell_start[std::size_t(b) << bits],
                          count = cell_start[std::size_t(b + 1) << bits] - begin;
      m.brick_begin[k] = begin, m.brick_count[k] = count;
      m.brick_chunk[k] = (count + 31) / 32;
    }
    __syncthreads();
    if (threadIdx.x < 32) scan(m.brick_chunk, brick_room() - 1);
    __syncthreads();
    const std::uint32_t chunks = m.brick_chunk[brick_room() - 1];
    if (chunks > room.chunks) return chunks;
    for (std::uint32_t k = threadIdx.x; k + 1 < brick_room(); k += blockDim.x)
      for (std::uint32_t done = 0, c = m.brick_chunk[k]; done < m.brick_count[k]; done += 32, ++c) {
        m.chunk_first[c] = m.brick_begin[k] + done;
        m.chunk_mask[c] = min(32u, m.brick_count[k] - done);
      }
    __syncthreads();
    return chunks;
  }

  /// Which candidates are in reach of the tile's box, and where they will be in the halo; returns
  /// how many they are.
  template <bool General>
  __device__ std::uint32_t select(const Memory& m, const WarpTile& tile,
                                  std::uint32_t chunks) const {
    const std::uint32_t lane = threadIdx.x % 32;
    Bounds bounds{{infinite, infinite, infinite}, {-infinite, -infinite, -infinite}};
    for (std::uint32_t k = lane; k < tile.count; k += 32)
      bounds.add(for_boxes<General>(m.staged[k].xyz()));
    for (int step = 16; step > 0; step /= 2)
      for (int k = 0; k < 3; ++k) {
        bounds.low[k] = min(bounds.low[k], __shfl_xor_sync(whole_warp, bounds.low[k], step));
        bounds.high[k] = max(bounds.high[k], __shfl_xor_sync(whole_warp, bounds.high[k], step));
      }
    for (std::uint32_t c = own_warp(); c < chunks; c += warps) {
      const std::uint32_t j = m.chunk_first[c] + lane;
      bool near = false;
      if (lane < m.chunk_mask[c] && j - tile.first >= tile.count) {
        const Real3 r = for_boxes<General>(geometry.local<General>(position[j], tile.origin));
        Real3 gap;
        for (int a = 0; a < 3; ++a) gap[a] = max(bounds.low[a] - r[a], r[a] - bounds.high[a]);
        near = within<General>(gap);
      }
      const std::uint32_t mask = __ballot_sync(whole_warp, near);
      __syncwarp();  // all have read how many there are
      if (lane == 0) {
        m.chunk_mask[c] = mask;
        m.chunk_place[c] = std::uint32_t(__popc(mask));
      }
    }
    __syncthreads();
    if (threadIdx.x < 32) scan(m.chunk_place, chunks);
    __syncthreads();
    return m.chunk_place[chunks];
  }

  template <bool General>
  __device__ void make_boxes(const Memory& m, std::uint32_t total) const {
    const std::uint32_t lane = threadIdx.x % 32;
    for (std::uint32_t begin = own_warp() * 32; begin < total; begin += 32 * warps) {
      Bounds bounds{{infinite, infinite, infinite}, {-infinite, -infinite, -infinite}};
      if (begin + lane < total) bounds.add(for_boxes<General>(m.staged[begin + lane].xyz()));
      for (std::uint32_t step = 1; step < group; step *= 2)
        for (int k = 0; k < 3; ++k) {
          bounds.low[k] = min(bounds.low[k], __shfl_xor_sync(whole_warp, bounds.low[k], int(step)));
          bounds.high[k] =
              max(bounds.high[k], __shfl_xor_sync(whole_warp, bounds.high[k], int(step)));
        }
      if (lane % group != 0 || begin + lane >= total) continue;
      const std::uint32_t g = (begin + lane) / group;
      for (int k = 0; k < 3; ++k) {
        m.low[std::uint32_t(k) * m.groups + g] = bounds.low[k];
        m.high[std::uint32_t(k) * m.groups + g] = bounds.high[k];
      }
    }
  }

  /// A place in shared memory; the square of the distance from the origin goes with it, but not where
  /// differences of squares are no use.
  template <bool General>
  __device__ static Real4 place_at(Real3 r) {
    return {r.x, r.y, r.z, General ? Real(0) : dot(r, r)};
  }

  /// The rows of clusters c … c + Rows - 1 of the tile, by one warp.
  template <bool General, int Rows>
  __device__ void search(const Memory& m, const WarpTile& tile, std::uint32_t c,
                         std::uint32_t total) const {
    constexpr std::uint32_t size = warp_cluster * Rows;
    const std::uint32_t lane = threadIdx.x % 32, before = (1u << lane) - 1;
    const std::uint32_t begin = c * warp_cluster, n = tile.count;
    const std::uint32_t members = min(size, n - begin), all = (1u << members) - 1;
    Real4 p[size];  // General: as it is; else times -2, and what |q|² - 2 p·q must be below
    Bounds bounds{{infinite, infinite, infinite}, {-infinite, -infinite, -infinite}};
#pragma unroll
    for (std::uint32_t k = 0; k < size; ++k) {
      p[k] = m.staged[begin + (k < members ? k : 0)];
      bounds.add(for_boxes<General>(p[k].xyz()));
      if constexpr (!General)
        p[k] = {-2 * p[k].x, -2 * p[k].y, -2 * p[k].z, reach * reach - p[k].w};
    }
    // Groups in reach. Of its own tile a row meets only what comes after.
    std::uint32_t hits = 0;
    const std::uint32_t groups = (total + group - 1) / group;
    for (std::uint32_t first = begin / group; first < groups; first += 32) {
      const std::uint32_t g = first + lane;
      bool near = false;
      if (g < groups) {
        Real3 gap;
        for (int k = 0; k < 3; ++k)
          gap[k] = max(m.low[std::uint32_t(k) * m.groups + g] - bounds.high[k],
                       bounds.low[k] - m.high[std::uint32_t(k) * m.groups + g]);
        near = within<General>(gap);
      }
      const std::uint32_t votes = __ballot_sync(whole_warp, near);
      if (near) m.hits[hits + std::uint32_t(__popc(votes & before))] = std::uint16_t(g);
      hits += std::uint32_t(__popc(votes));
    }
    __syncwarp();
    std::uint32_t* row = entries + std::size_t(tile.row + c) * room.entries;
    std::uint32_t found[Rows] = {}, own[Rows] = {};
    for (std::uint32_t h = 0; h < hits; h += 32 / group) {
      const std::uint32_t mine = h + lane / group;
      const std::uint32_t place = mine < hits ? m.hits[mine] * group + lane % group : total;
      const Real4 q = m.staged[place < total ? place : begin];
      std::uint32_t met = 0;
#pragma unroll
      for (std::uint32_t k = 0; k < size; ++k) {
        bool near;
        if constexpr (General) {
          const Real3 d = geometry.vector<true>(metric, p[k].xyz() - q.xyz());
          near = dot(d, d) < reach * reach;
        } else {
          near = p[k].x * q.x + (p[k].y * q.y + (p[k].z * q.z + q.w)) < p[k].w;
        }
        if (near) met |= 1u << k;
      }
      if (place < begin + size) met &= place > begin ? (1u << (place - begin)) - 1 : 0u;
      met = place < total ? met & all : 0u;
      if (exclusion_begin && met != 0) {
        const std::uint32_t other =
            id[place < n ? tile.first + place : halo[tile.halo_begin + place - n]];
        for (std::uint32_t k = 0; k < members; ++k)
          if (is_excluded(id[tile.first + begin + k], other)) met &= ~(1u << k);
      }
      const std::uint32_t of_tile = __ballot_sync(whole_warp, place < n);
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        const std::uint32_t which = met >> (unsigned(r) * warp_cluster) & 15u;
        const std::uint32_t votes = __ballot_sync(whole_warp, which != 0);
        const std::uint32_t at = found[r] + std::uint32_t(__popc(votes & before));
        if (which != 0 && at < room.entries)
          row[unsigned(r) * room.entries + at] = place | which << 28;
        found[r] += std::uint32_t(__popc(votes));
        own[r] += std::uint32_t(__popc(votes & of_tile));
      }
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      if (unsigned(r) * warp_cluster >= members) break;
      if (found[r] <= room.entries && found[r] + lane < round_up(found[r], 32))
        row[unsigned(r) * room.entries + found[r] + lane] = 0;
      if (lane != 0) continue;
      rows[tile.row + c + unsigned(r)] = {own[r], found[r]};
      if (found[r] > room.entries) {
        atomicMax(&room.words[2], found[r]);
        room.words[0] = 1;
      }
    }
    __syncwarp();
  }

  template <bool General>
  __device__ void build(WarpTile tile, WarpTile* stored, const Memory& m) const {
    __shared__ std::uint32_t halo_begin, full;
    const std::uint32_t t = threadIdx.x, lane = t % 32;
    for (std::uint32_t k = t; k < tile.count; k += blockDim.x) {
      const Real3 r = geometry.local<General>(position[tile.first + k], tile.origin);
      m.staged[k] = place_at<General>(r);
    }
    const std::uint32_t chunks = list_bricks(m, tile.brick);  // which waits for all threads
    if (chunks > room.chunks) {
      if (t == 0) atomicMax(&room.words[3], chunks), room.words[0] = 1;
      return;
    }
    const std::uint32_t count = select<General>(m, tile, chunks);
    const std::uint32_t total = tile.count + count;
    if (t == 0) {
      halo_begin = atomicAdd(&used[0], count);
      full = total > room.places || halo_begin + count > halo_pool;
      if (total > room.places) atomicMax(&room.words[1], total);
      if (full) room.words[0] = 1;
      stored->halo_begin = halo_begin, stored->halo_count = count;
    }
    __syncthreads();
    if (full) return;
    tile.halo_begin = halo_begin;
    for (std::uint32_t c = own_warp(); c < chunks; c += warps) {
      const std::uint32_t mask = m.chunk_mask[c];
      if ((mask >> lane & 1u) == 0) continue;
      const std::uint32_t place =
          m.chunk_place[c] + std::uint32_t(__popc(mask & ((1u << lane) - 1)));
      const std::uint32_t j = m.chunk_first[c] + lane;
      const Real3 r = geometry.local<General>(position[j], tile.origin);
      m.staged[tile.count + place] = place_at<General>(r);
      halo[tile.halo_begin + place] = j;
    }
    __syncthreads();
    make_boxes<General>(m, total);
    __syncthreads();
    // Two rows at a time, for they have most candidates in common; one where there are few.
    const std::uint32_t clusters = (tile.count + warp_cluster - 1) / warp_cluster;
    if (clusters > warps)
      for (std::uint32_t c = 2 * own_warp(); c < clusters; c += 2 * warps)
        search<General, 2>(m, tile, c, total);
    else if (own_warp() < clusters)
      search<General, 1>(m, tile, own_warp(), total);
  }

  template <bool General>
  __device__ void operator()(unsigned char* memory) const {
    const Memory m = divide(memory);
    const std::uint32_t count = std::uint32_t(geometry.brick_count()) + used[2];
    for (std::uint32_t tile = blockIdx.x; tile < count; tile += blocks) {
      if (tiles[tile].count > 0) build<General>(tiles[tile], &tiles[tile], m);
      __syncthreads();
    }
    // The last block to arrive sees what all have written.
    if (threadIdx.x != 0) return;
    __threadfence();
    if (atomicAdd(&used[1], 1u) + 1 < blocks) return;
    __threadfence();
    used[3] = count;
    if (*static_cast<volatile std::uint32_t*>(&room.words[0])) {
      room.words[4] = *static_cast<volatile std::uint32_t*>(&used[0]);
      *halt = 1;  // nothing goes on before the host has made room
    } else {
      *when_built.flag = 0;
      *when_built.builds += 1;
    }
    used[0] = used[1] = used[2] = 0;  // for the next build
  }
#endif
};

}  // namespace perrin::detail
