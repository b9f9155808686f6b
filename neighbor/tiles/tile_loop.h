// The pair loop over lists of tiles (neighbor/tiles/tile_list.h), on a CUDA device; see
// neighbor/pair_loop.h.
#pragma once

#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"
#include "neighbor/tiles/staged_words.h"
#include "neighbor/tiles/tile_list.h"

namespace perrin {

#ifdef __CUDACC__
namespace detail {

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

/// A list of chunks on its way: what a warp has of the lists of its unit, one chunk ahead.
struct ChunkReader {
  const TileView& t;
  const Tile& tile;
  std::uint32_t u, units, rows = 0;
  const TileChunk* chunk = nullptr;
  uint2 four{};

  __device__ __forceinline__ ChunkReader(const TileView& view, const Tile& its_tile)
      : t(view),
        tile(its_tile),
        u(threadIdx.x / 32),
        units((its_tile.count + (32u >> view.log2_lanes) - 1) / (32u >> view.log2_lanes)) {}
  /// The first chunk of unit u; there is room for one row more than it has.
  __device__ __forceinline__ void fetch() {
    if (u >= units) return;
    rows = t.rows[tile.unit_begin + u];
    chunk = t.chunks + std::size_t(tile.unit_begin + u) * t.unit_rows * 32 + (threadIdx.x & 31);
    four = load_chunk(chunk);
  }
  __device__ __forceinline__ void next_unit() {
    u += TileBricks::threads / 32;
    fetch();
  }
};

/// Brings the halo of a tile into shared memory: coordinates and types, behind them what the body
/// needs besides. Indices, then positions, then what is made of them: loads must not wait
/// for one another, and those behind the last place are made for nothing, or they would.
template <class Body, bool General>
__device__ __forceinline__ void stage_halo(const Body& body, const Position* position,
                                           const TileView& t, const Tile& tile, Real4* staged,
                                           ExtraOf<Body>* extra) {
  constexpr int at_once = 5;
  for (std::uint32_t k = threadIdx.x; k < tile.halo_count; k += at_once * TileBricks::threads) {
    std::uint32_t place[at_once], j[at_once];
    Position q[at_once];
    ExtraOf<Body> more[at_once];
#pragma unroll
    for (int e = 0; e < at_once; ++e) {
      place[e] = k + e * TileBricks::threads;
      j[e] = t.halo[tile.halo_begin + (place[e] < tile.halo_count ? place[e] : k)];
    }
#pragma unroll
    for (int e = 0; e < at_once; ++e) {
      q[e] = position[j[e]];
      if constexpr (Body::has_extra) more[e] = body.extra(j[e]);
    }
#pragma unroll
    for (int e = 0; e < at_once; ++e) {
      const Real3 r = t.geometry.template local<General>(q[e], tile.origin);
      if (place[e] >= tile.halo_count) continue;
      staged[place[e]] = {r.x, r.y, r.z, last_word<Body>(q[e], more[e])};
      if constexpr (extra_apart<Body>) extra[place[e]] = more[e];
    }
  }
  if (threadIdx.x == 0) {
    // Where there is no neighbour: far away (General: told by its place).
    const Real far = General            ? Real(0)
                     : sizeof(Real) > 4 ? Real(1e16)
                                        : Real(1e12) * t.geometry.unit.x;
    staged[tile.halo_count] = {far, far, far, Real(0)};
    if constexpr (extra_apart<Body>) extra[tile.halo_count] = {};
  }
}

/// Of the sums of two particles over eight threads: the lower four end with that of the first, the
/// upper four with that of the second. Without `pairs` both are one particle's.
template <int Sums>
__device__ __forceinline__ void add_up(Real (&sum)[2][Sums], bool pairs) {
  const bool upper = threadIdx.x & 4;
  for (int s = 0; s < Sums; ++s) {
    if (!pairs) sum[0][s] = sum[1][s] = sum[0][s] + sum[1][s];
    Real total = upper ? sum[1][s] : sum[0][s];
    total += __shfl_xor_sync(0xffffffffu, upper ? sum[0][s] : sum[1][s], 4);
    total += __shfl_xor_sync(0xffffffffu, total, 2);
    total += __shfl_xor_sync(0xffffffffu, total, 1);
    sum[0][s] = total;
  }
}

/// That a multiprocessor must have room for: registers are spared for as many.
template <class Body>
constexpr int least_blocks = extra_bytes<Body> > 8 || Body::sums > 6 ? 1
                             : Body::sums > 3                        ? 4
                                                                     : 5;

/// A tile, by a block. Eight threads go through the lists of two particles together, or of one
/// where rows must be short. A list says first what one row of candidates has, then the next
/// (MatrixSearch): eight threads that begin at eight places of the same list read, at the same
/// time, mostly from different banks. General: triclinic box, or images taken per pair.
/// `await`: ghosts in the halo are known when all before the kernel is done.
template <class Body, bool General>
__device__ __forceinline__ void loop_over_tile(const Body& body, const Position* position,
                                               const Metric* kept_metric, const TileView& t,
                                               const Tile& tile, bool await) {
  extern __shared__ __align__(16) unsigned char memory[];
  Real4* staged = reinterpret_cast<Real4*>(memory);
  auto* extra = reinterpret_cast<ExtraOf<Body>*>(staged + t.halo_capacity + 1);
  const std::uint32_t lane = threadIdx.x & 31, of_eight = lane / 8;
  const bool pairs = t.log2_lanes == 2;
  const std::uint32_t per_unit = 32u >> t.log2_lanes;
  ChunkReader list(t, tile);
  list.fetch();  // on its way while the halo comes
  if (await) await_all_before();
  const Metric metric = *kept_metric;
  stage_halo<Body, General>(body, position, t, tile, staged, extra);
  __syncthreads();

  while (list.u < list.units) {
    // Of the two particles, which without pairs are one.
    std::uint32_t m[2];
    Real3 p[2];
    typename Body::Own own[2];
    Real sum[2][Body::sums] = {};
#pragma unroll
    for (int of = 0; of < 2; ++of) {
      m[of] = list.u * per_unit + (pairs ? 2 * of_eight + std::uint32_t(of) : of_eight);
      const std::int64_t i = tile.first + (m[of] < tile.count ? m[of] : 0);
      own[of] = body.own(i);
      p[of] = t.geometry.template local<General>(position[i], tile.origin);
    }
    for (std::uint32_t c = 1; c <= list.rows; ++c) {
      const std::uint32_t places[4] = {low_half(list.four.x), high_half(list.four.x),
                                       low_half(list.four.y), high_half(list.four.y)};
      list.four = load_chunk(list.chunk + c * 32);  // before it is needed
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::uint32_t place = places[k];
        const Real4 q = staged[place];
        const Real3 d = t.geometry.template vector<General>(metric, p[k >> 1] - q.xyz());
        Real term[Body::sums];
        body.pair(own[k >> 1], d, type_in<Body>(q.w), extra_in<Body>(q.w, extra, place),
                  !General || place != tile.halo_count, term);
        for (int s = 0; s < Body::sums; ++s) sum[k >> 1][s] += term[s];
      }
    }
    list.next_unit();
    add_up(sum, pairs);
    const std::uint32_t mine = lane & 4 ? m[1] : m[0];
    if (mine < tile.count && (lane & (pairs ? 3 : 7)) == 0) body.store(tile.first + mine, sum[0]);
  }
}

/// A block per tile. `beside`: an exchange of ghosts is under way
/// (Decomposition::exchange_overlapped()), which may just halt the device; the threads of a block
/// must find the same.
template <class Body, bool General>
__global__ void __launch_bounds__(TileBricks::threads, least_blocks<Body>)
    tile_loop_kernel(const Body body, const Position* position, const Metric* metric,
                     const TileView t, const bool beside, const std::uint32_t* halt) {
  admit_successor();
  if (!beside) await_all_before();
  std::uint32_t index = 0;
  const bool none = !t.own_tiles.of_block(blockIdx.x, index);  // read along with the halt word
  bool halted = *halt != 0;
  if (beside) halted = __syncthreads_or(halted);
  if (!halted && !none) {
    const Tile tile = t.tiles[index];
    if (tile.count != 0 && t.own.meets(tile.first, tile.count))
      loop_over_tile<Body, General>(body, position, metric, t, tile, beside && tile.has_ghosts);
  }
  if (beside && blockIdx.x == 0) await_all_before();
}

template <class Body, bool General>
void start_tile_loop(const Device& device, const char* name, const Particles& particles,
                     const TileView& tiles, const Body& body) {
  const std::size_t shared = (tiles.halo_capacity + 1) * (sizeof(Real4) + extra_bytes<Body>);
  if (shared > 48 * 1024)
    check_cuda(cudaFuncSetAttribute(tile_loop_kernel<Body, General>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
               name);
  const bool beside = decomposition_of(device).overlaps();
  launch_early(device, name, dim3(unsigned(tiles.tiles_at_most)), dim3(TileBricks::threads), shared,
               tile_loop_kernel<Body, General>, body, particles.position().data(),
               particles.metric().kept, tiles, beside,
               static_cast<const std::uint32_t*>(device.halt().word()));
}

}  // namespace detail
#endif

/// Runs the body over all pairs of the list.
template <class Body>
void run_pairs([[maybe_unused]] const char* name, [[maybe_unused]] const TileList& list,
               [[maybe_unused]] const Body& body) {
#ifdef __CUDACC__
  const Particles& particles = list.particles();
  const TileView view = list.view();
  if constexpr (detail::runs_in_every_step<Body>)
    if (!view.geometry.is_general())
      return detail::start_tile_loop<Body, false>(particles.device(), name, particles, view, body);
  detail::start_tile_loop<Body, true>(particles.device(), name, particles, view, body);
#endif
}

}  // namespace perrin
