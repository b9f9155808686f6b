// The pair loop over clusters on a CUDA device (neighbor/warp_clusters/warp_clusters.h); see neighbor/pair_loop.h.
#pragma once

#include <type_traits>

#include "neighbor/warp_clusters/warp_clusters.h"
#ifdef __CUDACC__
#include "engine/core/parallel.h"
#endif

namespace perrin::detail {

#if defined(__CUDACC__) || defined(PERRIN_EMULATED)

/// A block for a tile. Shared memory: coordinates and types of all places, extra words where the body
/// has some, sums of the tile's own particles for each warp.
template <class Body, bool General>
struct WarpClusterLoop {
  static constexpr int sums = Body::sums, size = int(warp_cluster), words = (sums + 3) / 4;
  static constexpr unsigned whole_warp = 0xffffffffu;
  Body body;
  const Position* position;
  Metric metric;
  WarpClusterView list;
  std::uint32_t warps;

  PERRIN_HD std::size_t bytes() const {
    return std::size_t(list.places) * sizeof(Real4) * (Body::has_extra ? 2 : 1) +
           std::size_t(warps) * words * list.own_room * sizeof(Real4);
  }

  struct Memory {
    Real4 *staged, *extra;
    Real4*
        given;  // to the tile's particles, by this warp: four sums in given[w · own_room + place]
  };

  __device__ void stage(const WarpTile& tile, const Memory& m) const {
    const std::uint32_t total = tile.count + tile.halo_count, threads = 32 * warps;
    constexpr std::uint32_t at_once = 4;  // indices, then positions
    for (std::uint32_t k = threadIdx.x; k < total; k += at_once * threads) {
      std::uint32_t j[at_once];
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e) {
        const std::uint32_t place = k + e * threads;
        if (place < total)
          j[e] = place < tile.count ? tile.first + place
                                    : list.halo[tile.halo_begin + place - tile.count];
      }
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e) {
        const std::uint32_t place = k + e * threads;
        if (place >= total) break;
        const Position q = position[j[e]];
        const Real3 r = list.geometry.template local<General>(q, tile.origin);
        m.staged[place] = {r.x, r.y, r.z, type_to_real(q.type())};
        if constexpr (Body::has_extra) m.extra[place] = body.extra(j[e]);
      }
    }
  }

  /// value[k] summed over all lanes, for k = lane / 8.
  __device__ static Real sum_over_lanes(const Real (&value)[size]) {
    const bool upper = (threadIdx.x & 16) != 0, odd = (threadIdx.x & 8) != 0;
    Real a = upper ? value[2] : value[0], b = upper ? value[3] : value[1];
    a += __shfl_xor_sync(whole_warp, upper ? value[0] : value[2], 16);
    b += __shfl_xor_sync(whole_warp, upper ? value[1] : value[3], 16);
    Real sum = odd ? b : a;
    sum += __shfl_xor_sync(whole_warp, odd ? a : b, 8);
    for (int step = 4; step > 0; step /= 2) sum += __shfl_xor_sync(whole_warp, sum, step);
    return sum;
  }

  /// Adds to what this warp has for a particle of the tile.
  __device__ void give(const Memory& m, std::uint32_t place, const Real (&share)[sums]) const {
    Real4* to = m.given + place;
#pragma unroll
    for (int w = 0; w < words; ++w, to += list.own_room) {
      Real4 four = *to;
      four.x += share[4 * w];
      if (4 * w + 1 < sums) four.y += share[(4 * w + 1) % sums];
      if (4 * w + 2 < sums) four.z += share[(4 * w + 2) % sums];
      if (4 * w + 3 < sums) four.w += share[(4 * w + 3) % sums];
      *to = four;
    }
  }

  /// Does the entry meet particle k of the cluster? By the sign of the shifted word: left to itself the
  /// compiler takes three instructions instead of two.
  __device__ static bool meets(std::uint32_t entry, int k) {
#ifdef __CUDA_ARCH__
    std::int32_t word = std::int32_t(entry << (3 - k));
    asm("" : "+r"(word));
    return word < 0;
#else
    return (entry & (1u << (28 + k))) != 0;
#endif
  }

  /// What is fetched of a row before its turn: its extent, and the first entry of this lane.
  struct Ahead {
    WarpRow extent;
    std::uint32_t entry;
  };
  __device__ Ahead fetch(const WarpTile& tile, std::uint32_t c) const {
    if (c * warp_cluster >= tile.count) return {};
    const std::size_t row = tile.row + c;
    return {list.rows[row], list.entries[row * list.row_room + threadIdx.x % 32]};
  }

  /// The row of cluster c of the tile.
  __device__ __forceinline__ void row(const WarpTile& tile, std::uint32_t c, const Ahead& ahead,
                                      const Memory& m) const {
    using Own = decltype(body.own(0));
    const std::uint32_t lane = threadIdx.x % 32;
    const WarpRow extent = ahead.extent;
    std::uint32_t entry = ahead.entry;
    const std::uint32_t* entries = list.entries + std::size_t(tile.row + c) * list.row_room + lane;
    const std::uint32_t begin = c * warp_cluster;
    const auto particle = [&](int k) {
      const std::uint32_t place = begin + std::uint32_t(k);
      return place < tile.count ? place : tile.count - 1;
    };
    Own own[size];
    Real3 p[size];
#pragma unroll
    for (int k = 0; k < size; ++k) {
      own[k] = body.own(tile.first + particle(k));
      p[k] = m.staged[particle(k)].xyz();
    }
    Real sum[sums][size] = {};

    // 32 entries; where some are of the tile itself, they get their share.
    const auto meet = [&](auto newton, std::uint32_t e) {
      const std::uint32_t place = e & 0xffffu;
      const Real4 q = m.staged[place];
      Real4 more{};
      if constexpr (Body::has_extra) more = m.extra[place];
      Real share[sums] = {};
#pragma unroll
      for (int k = 0; k < size; ++k) {
        const Real3 d = list.geometry.template vector<General>(metric, p[k] - q.xyz());
        Real term[sums];
        body.pair(own[k], d, real_to_type(q.w), more, meets(e, k), term);
#pragma unroll
        for (int s = 0; s < sums; ++s) {
          sum[s][k] += term[s];
          if constexpr (newton) share[s] = s < Body::odd ? share[s] - term[s] : share[s] + term[s];
        }
      }
      if constexpr (newton) {
        if (place < tile.count && e > 0xffffu)
          give(m, place, share);  // a place comes once in a row
      }
    };
    std::uint32_t k = 0;
    // General: all by the same loop, one copy of the body less to compile.
    for (const std::uint32_t end = General ? extent.entries : extent.own; k < end; k += 32) {
      const std::uint32_t e = entry;
      entry = entries[k + 32];  // before it is needed; there is room for 32 more
      meet(std::true_type{}, e);
    }
    if constexpr (!General)
      for (; k < extent.entries; k += 32) {
        const std::uint32_t e = entry;
        entry = entries[k + 32];
        meet(std::false_type{}, e);
      }
    __syncwarp();
    Real total[sums];
#pragma unroll
    for (int s = 0; s < sums; ++s) total[s] = sum_over_lanes(sum[s]);
    const std::uint32_t place = begin + lane / 8;
    if (lane % 8 == 0 && place < tile.count) give(m, place, total);
    __syncwarp();
  }

  __device__ __forceinline__ void operator()(unsigned char* memory) const {
    Memory m;
    m.staged = reinterpret_cast<Real4*>(memory);
    m.extra = m.staged + list.places;
    Real4* given = Body::has_extra ? m.extra + list.places : m.extra;
    const std::uint32_t set = std::uint32_t(words) * list.own_room;
    // Through a shuffle the compiler learns that it is the same in all lanes.
    const std::uint32_t warp = __shfl_sync(whole_warp, threadIdx.x / 32, 0);
    m.given = given + warp * set;
    const std::uint32_t tiles = *list.tile_count;
    for (std::uint32_t t = blockIdx.x; t < tiles; t += list.blocks) {
      const WarpTile tile = list.tiles[t];
      if (tile.count == 0) continue;
      Ahead ahead = fetch(tile, warp);  // on its way while the places come
      stage(tile, m);
      for (std::uint32_t k = threadIdx.x; k < warps * set; k += 32 * warps) given[k] = {};
      __syncthreads();
      for (std::uint32_t c = warp; c * warp_cluster < tile.count; c += warps) {
        const Ahead next = fetch(tile, c + warps);
        row(tile, c, ahead, m);
        ahead = next;
      }
      __syncthreads();
      for (std::uint32_t k = threadIdx.x; k < tile.count; k += 32 * warps) {
        Real total[sums];
        for (int w = 0; w < words; ++w) {
          const Real4* from = given + std::uint32_t(w) * list.own_room + k;
          Real4 four = *from;
#pragma unroll 1
          for (std::uint32_t warp_of = 1; warp_of < warps; ++warp_of) {
            const Real4 more = *(from += set);
            four.x += more.x, four.y += more.y, four.z += more.z, four.w += more.w;
          }
          total[4 * w] = four.x;
          if (4 * w + 1 < sums) total[(4 * w + 1) % sums] = four.y;
          if (4 * w + 2 < sums) total[(4 * w + 2) % sums] = four.z;
          if (4 * w + 3 < sums) total[(4 * w + 3) % sums] = four.w;
        }
        body.store(tile.first + k, total);
      }
      __syncthreads();
    }
  }
};

#endif
#ifdef __CUDACC__

template <class Body, bool General>
__global__ void __launch_bounds__(256, sizeof(Real) > 4                      ? 1
                                       : Body::sums <= 3 && !Body::has_extra ? 4
                                                                             : 2)
    warp_cluster_loop_kernel(const WarpClusterLoop<Body, General> loop, const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  extern __shared__ __align__(32) unsigned char cluster_memory[];
  loop(cluster_memory);
}

template <class Body, bool General>
void start_warp_cluster_loop(const Device& device, const char* name, const Particles& particles,
                             const WarpClusterView& list, const Body& body) {
  const WarpClusterLoop<Body, General> loop{body, particles.position.data(), particles.box.metric(),
                                            list, list.warps_for(Body::sums)};
  const std::size_t shared = loop.bytes();
  if (shared > 48 * 1024)
    check_cuda(cudaFuncSetAttribute(warp_cluster_loop_kernel<Body, General>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
               name);
  launch_early(device, name, dim3(list.blocks), dim3(32 * loop.warps), shared,
               warp_cluster_loop_kernel<Body, General>, loop,
               static_cast<const std::uint32_t*>(device.halt_word()));
}

/// Bodies with many sums run now and then: one kernel serves them in all boxes.
template <class Body>
void warp_cluster_loop(const Device& device, const char* name, const Particles& particles,
                       const WarpClusterView& list, const Body& body) {
  static_assert(Body::sums <= 24, "sums of a tile's particles are kept in shared memory");
  if constexpr (Body::sums <= 6)
    if (list.geometry.lengths)
      return start_warp_cluster_loop<Body, false>(device, name, particles, list, body);
  start_warp_cluster_loop<Body, true>(device, name, particles, list, body);
}

#endif

}  // namespace perrin::detail
