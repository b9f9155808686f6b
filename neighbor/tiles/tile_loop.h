// The pair loop over tiles (neighbor/tiles/tiles.h), on a CUDA device; see neighbor/pair_loop.h.
#pragma once

#include "engine/core/parallel.h"
#include "neighbor/tiles/matrix_search.h"
#include "neighbor/tiles/tiles.h"

namespace perrin::detail {

#ifdef __CUDACC__

/// volatile: or the compiler moves the load to where its result is used.
__device__ inline uint2 load_chunk(const TileChunk* chunk) {
  uint2 word;
  asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(word.x), "=r"(word.y) : "l"(chunk));
  return word;
}

/// A 16-bit place. The compiler must not see through it: it would mask after shifting, and add.
__device__ inline std::uint32_t low_half(std::uint32_t word) {
  std::uint32_t half;
  asm("prmt.b32 %0, %1, 0, 0x4410;" : "=r"(half) : "r"(word));
  return half;
}
__device__ inline std::uint32_t high_half(std::uint32_t word) {
  std::uint32_t half;
  asm("prmt.b32 %0, %1, 0, 0x4432;" : "=r"(half) : "r"(word));
  return half;
}

/// One block per tile. Eight threads go through the lists of two particles together, or of one where rows must be
/// short. A list says first what one row of candidates has, then the next (MatrixSearch): eight threads that
/// begin at eight places of the same list read, at the same time, mostly from different banks.
/// Shared memory: coordinates and type of the halo, behind them the extra words
/// where the body has some. General: triclinic box, or images taken per pair.
template <class Body, bool General>
__global__ void __launch_bounds__(TileList::threads, Body::sums <= 3 && !Body::has_extra ? 5 : 1)
    tile_loop_kernel(const Body body, const Position* position, const Metric metric,
                     const TileView t, const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  extern __shared__ __align__(16) unsigned char memory[];
  Real4* staged = reinterpret_cast<Real4*>(memory);
  Real4* extra = staged + t.halo_capacity + 1;
  const Tile tile = t.tiles[blockIdx.x];
  if (tile.count == 0) return;
  const Vec3<std::uint32_t> origin = tile.origin;
  const std::uint32_t lane = threadIdx.x & 31, of_eight = lane / 8;
  const bool pairs = t.log2_lanes == 2;
  const std::uint32_t per_unit = 32u >> t.log2_lanes;
  const std::uint32_t units = (tile.count + per_unit - 1) / per_unit;

  // What the first unit of this warp needs from memory is on its way while the halo comes.
  std::uint32_t u = threadIdx.x / 32, rows = 0;
  const TileChunk* chunk = nullptr;
  uint2 four{};
  const auto fetch = [&] {
    if (u >= units) return;
    rows = t.rows[tile.unit_begin + u];
    chunk = t.chunks + std::size_t(tile.unit_begin + u) * t.unit_rows * 32 + lane;
    four = load_chunk(chunk);
  };
  fetch();

  // Indices, then positions, then what is made of them: loads must not wait for one another, and those behind the
  // last place are made for nothing, or they would.
  constexpr int at_once = 5;
  for (std::uint32_t k = threadIdx.x; k < tile.halo_count; k += at_once * TileList::threads) {
    std::uint32_t place[at_once], j[at_once];
    Position q[at_once];
    Real4 more[at_once];
#pragma unroll
    for (int e = 0; e < at_once; ++e) {
      place[e] = k + e * TileList::threads;
      j[e] = t.halo[tile.halo_begin + (place[e] < tile.halo_count ? place[e] : k)];
    }
#pragma unroll
    for (int e = 0; e < at_once; ++e) {
      q[e] = position[j[e]];
      if constexpr (Body::has_extra) more[e] = body.extra(j[e]);
    }
#pragma unroll
    for (int e = 0; e < at_once; ++e) {
      const Real3 r = t.geometry.template local<General>(q[e], origin);
      if (place[e] >= tile.halo_count) continue;
      staged[place[e]] = {r.x, r.y, r.z, type_to_real(q[e].type())};
      if constexpr (Body::has_extra) extra[place[e]] = more[e];
    }
  }
  if (threadIdx.x == 0) {
    // Where there is no neighbour: far away (General: told by its place).
    const Real far = General            ? Real(0)
                     : sizeof(Real) > 4 ? Real(1e16)
                                        : Real(1e12) * t.geometry.unit.x;
    staged[tile.halo_count] = {far, far, far, Real(0)};
    if constexpr (Body::has_extra) extra[tile.halo_count] = {};
  }
  __syncthreads();

  while (u < units) {
    // Of the two particles, which without pairs are one.
    std::uint32_t m[2];
    Real3 p[2];
    typename Body::Own own[2];
    Real sum[2][Body::sums] = {};
#pragma unroll
    for (int of = 0; of < 2; ++of) {
      m[of] = u * per_unit + (pairs ? 2 * of_eight + std::uint32_t(of) : of_eight);
      const std::int64_t i = tile.first + (m[of] < tile.count ? m[of] : 0);
      own[of] = body.own(i);
      p[of] = t.geometry.template local<General>(position[i], origin);
    }
    for (std::uint32_t c = 1; c <= rows; ++c) {
      const std::uint32_t places[4] = {low_half(four.x), high_half(four.x), low_half(four.y),
                                       high_half(four.y)};
      four = load_chunk(chunk + c * 32);  // before it is needed; there is room for one row more
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::uint32_t place = places[k];
        const Real4 q = staged[place];
        const Real3 d = t.geometry.template vector<General>(metric, p[k >> 1] - q.xyz());
        Real term[Body::sums];
        body.pair(own[k >> 1], d, real_to_type(q.w), Body::has_extra ? extra[place] : Real4{},
                  !General || place != tile.halo_count, term);
        for (int s = 0; s < Body::sums; ++s) sum[k >> 1][s] += term[s];
      }
    }
    u += TileList::threads / 32;
    fetch();
    // The lower four threads end with the sum of the first particle, the upper four with that of the second.
    const bool upper = lane & 4;
    const std::uint32_t mine = upper ? m[1] : m[0];
    for (int s = 0; s < Body::sums; ++s) {
      if (!pairs) sum[0][s] = sum[1][s] = sum[0][s] + sum[1][s];
      Real total = upper ? sum[1][s] : sum[0][s];
      total += __shfl_xor_sync(0xffffffffu, upper ? sum[0][s] : sum[1][s], 4);
      total += __shfl_xor_sync(0xffffffffu, total, 2);
      total += __shfl_xor_sync(0xffffffffu, total, 1);
      sum[0][s] = total;
    }
    if (mine < tile.count && (lane & (pairs ? 3 : 7)) == 0) body.store(tile.first + mine, sum[0]);
  }
}

template <class Body, bool General>
void start_tile_loop(const Device& device, const char* name, const Particles& particles,
                     const TileView& tiles, const Body& body) {
  const std::size_t shared = (tiles.halo_capacity + 1) * sizeof(Real4) * (Body::has_extra ? 2 : 1);
  if (shared > 48 * 1024)
    check_cuda(cudaFuncSetAttribute(tile_loop_kernel<Body, General>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
               name);
  launch_early(device, name, dim3(unsigned(tiles.tile_count)), dim3(TileList::threads), shared,
               tile_loop_kernel<Body, General>, body, particles.position.data(),
               particles.box.metric(), tiles,
               static_cast<const std::uint32_t*>(device.halt_word()));
}

/// Bodies with many sums (energies, virials) run now and then: one kernel serves them in all boxes.
template <class Body>
constexpr bool runs_in_every_step = Body::sums <= 6;

template <class Body>
void tile_loop(const Device& device, const char* name, const Particles& particles,
               const TileView& tiles, const Body& body) {
  if constexpr (runs_in_every_step<Body>)
    if (!tiles.geometry.is_general())
      return start_tile_loop<Body, false>(device, name, particles, tiles, body);
  start_tile_loop<Body, true>(device, name, particles, tiles, body);
}

/// Without lists: the block of a tile finds the neighbours of its particles and goes through them at
/// once. Shared memory: coordinates and type of the halo, extra words, coordinates with their squares for MatrixSearch, memory
/// indices where there are exclusions, the cells of the halo, what the search needs.
struct DirectLoop {
  TileSearch search;
  TileRoom room;
  std::uint32_t* halt;

  /// Sorted: a thread per particle, candidates in rows that are cut at both ends by x, which is
  /// Fomin's method. Else a warp searches for a few particles together.
  PERRIN_HD bool sorted() const {
    return search.geometry.sorted && !search.general && !search.exclusion_begin;
  }
  PERRIN_HD std::size_t index_bytes() const {
    return search.exclusion_begin ? std::size_t(room.halo + 4) / 4 * 16 : 0;
  }
  template <class Body, bool Matrix>
  PERRIN_HD std::size_t halo_bytes() const {
    const TileGeometry& g = search.geometry;
    return std::size_t(room.halo + 4) * sizeof(Real4) *
               (1 + (Body::has_extra ? 1 : 0) + (Matrix ? 1 : 0)) +
           index_bytes() + std::size_t(g.halo.x * g.halo.y * g.halo.z + 4) / 4 * 16;
  }
  __device__ void full(int word, std::uint32_t wanted) const {
    atomicMax(&room.words[word], wanted);
    room.words[0] = 1;
    *halt = 1;
  }
};

template <class Body, bool General, bool Sorted>
__global__ void __launch_bounds__(TileList::threads, 3)
    direct_loop_kernel(const Body body, const DirectLoop d) {
  if (begin_kernel(d.halt)) return;
  extern __shared__ __align__(16) unsigned char memory[];
  const TileSearch& s = d.search;
  const TileGeometry& g = s.geometry;
  const TileRoom& room = d.room;
  Real4* staged = reinterpret_cast<Real4*>(memory);
  constexpr bool matrix = !General && !Sorted;
  Real4* extra = staged + room.halo + 4;
  Real4* lengths = Body::has_extra ? extra + room.halo + 4 : extra;
  auto* index = reinterpret_cast<std::uint32_t*>(matrix ? lengths + room.halo + 4 : lengths);
  auto* cell_offset = index + d.index_bytes() / 4;
  unsigned char* work = memory + d.halo_bytes<Body, matrix>();
  const TileBlock block(s, blockIdx.x);
  if (block.count == 0) return;
  const std::uint32_t total = block.lay_out(s, cell_offset, staged, room.halo);
  if (total > room.halo) {
    if (threadIdx.x == 0) d.full(1, total);
    return;
  }
  struct Staged {
    Position position;
    Real4 extra;
  };
  block.for_each_place(
      total, staged,
      [&](std::uint32_t j) {
        Staged got{s.position[j], {}};
        if constexpr (Body::has_extra) got.extra = body.extra(j);
        return got;
      },
      [&](std::uint32_t k, std::uint32_t j, const Staged& got) {
        const Real3 r = g.template local<General>(got.position, block.origin);
        staged[k] = {r.x, r.y, r.z, type_to_real(got.position.type())};
        if constexpr (Body::has_extra) extra[k] = got.extra;
        if constexpr (matrix) lengths[k] = {r.x, r.y, r.z, dot(r, r)};
        if (s.exclusion_begin) index[k] = j;
      });
  if (threadIdx.x < 4) staged[total + threadIdx.x] = {};  // may be read, is never used
  if constexpr (matrix)
    if (threadIdx.x == 0) lengths[total] = beyond_reach();
  __syncthreads();

  // Lists of this thread's particle: entry k is list[k · stride].
  constexpr std::uint32_t per_warp = Sorted ? 32 : unit_particles, lanes = 32 / per_warp;
  const std::uint32_t m = (threadIdx.x & 31) / lanes, sub = threadIdx.x & (lanes - 1);
  const UnitScratch scratch(work + threadIdx.x / 32 * UnitScratch::bytes(General, room.list),
                            General, room.list);
  const std::uint32_t stride = Sorted ? blockDim.x : 1;
  std::uint16_t* list = Sorted ? reinterpret_cast<std::uint16_t*>(work) + threadIdx.x
                               : scratch.list + m * scratch.stride();
  for (std::uint32_t first = threadIdx.x / 32 * per_warp; first < block.count;
       first += blockDim.x / 32 * per_warp) {
    const bool present = first + m < block.count;
    const std::int64_t i = block.first + first + (present ? m : 0);
    const auto own = body.own(i);  // on its way while the search goes on
    const Real3 r = g.template local<General>(s.position[i], block.origin);
    std::uint32_t found;
    if constexpr (Sorted)
      found = find_in_rows(s, block, cell_offset, staged, i, list, stride, room.list);
    else if constexpr (General)
      found = UnitSearch{s, block, cell_offset, staged, total, scratch}(first);
    else
      found = MatrixSearch{s, block, cell_offset, lengths, total, scratch}(first);
    if (__any_sync(0xffffffffu, found > room.list)) {
      if (found > room.list) d.full(2, found);
      continue;
    }
    if (!present) found = 0;
    if constexpr (!Sorted)
      if (s.has_filter()) found = filter_list(s, scratch, index, i, m, found);
    // Each thread its part of the list: see tile_loop_kernel.
    const std::uint32_t each = (found + lanes - 1) / lanes, begin = sub * each;
    const std::uint32_t end = begin + each < found ? begin + each : found;
    Real sum[Body::sums] = {};
    for (std::uint32_t k = begin; k < end; ++k) {
      const std::uint32_t place = list[k * stride];
      const Real4 q = staged[place];
      Real term[Body::sums];
      body.pair(own, g.template vector<General>(s.metric, r - q.xyz()), real_to_type(q.w),
                Body::has_extra ? extra[place] : Real4{}, true, term);
      for (int c = 0; c < Body::sums; ++c) sum[c] += term[c];
    }
    for (std::uint32_t step = lanes / 2; step > 0; step /= 2)
      for (int c = 0; c < Body::sums; ++c)
        sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], int(step));
    if (present && sub == 0) body.store(i, sum);
    __syncwarp();
  }
}

template <class Body, bool General, bool Sorted>
void start_direct_loop(const Device& device, const char* name, const DirectLoop& d, int threads,
                       const Body& body) {
  const std::size_t shared = d.halo_bytes < Body,
                    !General &&
                        !Sorted > () + (Sorted ? std::size_t(d.room.list) * std::size_t(threads) *
                                                     sizeof(std::uint16_t)
                                               : std::size_t(threads / 32) *
                                                     UnitScratch::bytes(General, d.room.list));
  if (shared > 48 * 1024)
    check_cuda(cudaFuncSetAttribute(direct_loop_kernel<Body, General, Sorted>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
               name);
  launch_early(device, name, dim3(unsigned(d.search.geometry.brick_count())),
               dim3(unsigned(threads)), shared, direct_loop_kernel<Body, General, Sorted>, body, d);
}

template <class Body>
void direct_loop(const Device& device, const char* name, const TileSearch& search,
                 const TileList& tiles, const Body& body) {
  const DirectLoop d{search, tiles.room(), device.halt_word()};
  const int threads = tiles.search_threads();
  if constexpr (runs_in_every_step<Body>) {
    if (d.sorted())
      return start_direct_loop<Body, false, true>(device, name, d, tiles.single_threads(), body);
    if constexpr (sizeof(Real) == 4)
      if (!search.general)
        return start_direct_loop<Body, false, false>(device, name, d, threads, body);
  }
  start_direct_loop<Body, true, false>(device, name, d, threads, body);
}

#endif

}  // namespace perrin::detail
