// The loop over all neighbours of all particles, once for CPU and GPU.
//
// A Body is a small trivially copyable struct that says what happens for one pair:
//
//     struct Body {
//       static constexpr int sums = 4;        // Reals added up per particle
//       static constexpr int odd = 3;         // the first so many change sign when i and j do
//       static constexpr bool has_extra = …;  // a pair needs more of j than position and type
//       struct Own { … };                     // what is loaded once for particle i
//       PERRIN_HD Own own(std::int64_t i) const;
//       PERRIN_HD Real4 extra(std::uint32_t j) const;  // one 16-byte word; {} without has_extra
//       PERRIN_HD void pair(const Own&, Real3 d, std::uint32_t type, const Real4& extra, bool real,
//                           Real (&term)[sums]) const;
//       PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const;
//     };
//
// d is the minimum image vector from j to i; type and extra are those of j. pair() fills all of
// `term`, with zeros where the pair does not count: branches would keep the CPU loop from
// vectorising. `real` is false for lanes beyond the end of the list (d is then zero).
// Each pair is seen from both sides; what i gets from j is added in the order of the list, in a
// fixed pattern of partial sums, so that the result does not depend on the number of threads.
#pragma once

#ifndef __CUDA_ARCH__
#include <emmintrin.h>
#endif

#include "engine/parallel.h"
#include "neighbor/cluster_loop.h"
#include "neighbor/column_loop.h"
#include "neighbor/neighbors.h"
#include "neighbor/tile_loop.h"

namespace perrin {
namespace detail {

#ifndef __CUDA_ARCH__
/// Four positions by coordinate: whole 16-byte words, transposed (a gather of single words takes
/// twice as long). SSE2, which every x86-64 has.
inline __attribute__((always_inline)) void fetch4(const Position* position,
                                                  const std::uint32_t* index, std::uint32_t* x,
                                                  std::uint32_t* y, std::uint32_t* z,
                                                  std::uint32_t* type) {
  const auto load = [](const Position& p) __attribute__((always_inline)) {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(&p));
  };
  const auto store = [](std::uint32_t * to, __m128i v) __attribute__((always_inline)) {
    _mm_store_si128(reinterpret_cast<__m128i*>(to), v);
  };
  const __m128i a = load(position[index[0]]), b = load(position[index[1]]);
  const __m128i c = load(position[index[2]]), d = load(position[index[3]]);
  const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
  const __m128i ab2 = _mm_unpackhi_epi32(a, b), cd2 = _mm_unpackhi_epi32(c, d);
  store(x, _mm_unpacklo_epi64(ab, cd));
  store(y, _mm_unpackhi_epi64(ab, cd));
  store(z, _mm_unpacklo_epi64(ab2, cd2));
  store(type, _mm_unpackhi_epi64(ab2, cd2));
}
#endif

template <class Body>
struct PairLoopOnCpu {
  static constexpr int width = 16;  // partial sums; one 512-bit vector of floats
  static constexpr int block_size = 128;
  Body body;
  const Position* position;
  Metric metric;
  NeighborListView list;

  // A function of its own: GCC does not vectorise over structs declared in the simd loop.
  template <class Own>
  PERRIN_HD void evaluate(const Own& own, const Position& p, std::uint32_t x, std::uint32_t y,
                          std::uint32_t z, std::uint32_t type, std::uint32_t j, bool real,
                          Real (&term)[Body::sums]) const {
    const Real3 d =
        metric.vector(std::int32_t(p.x - x), std::int32_t(p.y - y), std::int32_t(p.z - z));
    if constexpr (Body::has_extra)
      body.pair(own, d, type, body.extra(j), real, term);
    else
      body.pair(own, d, type, Real4{}, real, term);
  }

  PERRIN_HD void operator()([[maybe_unused]] std::int64_t i) const {
#ifndef __CUDA_ARCH__
    const auto own = body.own(i);
    const Position p = position[i];
    const std::uint32_t* entries = list.entries + list.row(i);
    const int n = int(list.count[i]);
    // The next particle's row, which the processor's own prefetcher does not see coming.
    for (int k = 0; k < n; k += 16) __builtin_prefetch(entries + list.capacity + k);
    Real partial[Body::sums][width] = {};
    // Positions are fetched into a contiguous block first, by coordinate: the loop over the block
    // then is plain vector arithmetic.
    alignas(64) std::uint32_t x[block_size], y[block_size], z[block_size], type[block_size];
    alignas(64) std::uint32_t index[block_size];
    for (int start = 0; start < n; start += block_size) {
      const int m = n - start < block_size ? n - start : block_size;
      const int padded = (m + width - 1) / width * width;
      for (int k = 0; k < padded; ++k) index[k] = k < m ? entries[start + k] : std::uint32_t(i);
      for (int k = 0; k < padded; k += 4)
        fetch4(position, index + k, x + k, y + k, z + k, type + k);
      for (int first = 0; first < padded; first += width) {
#pragma omp simd simdlen(width)
        for (int k = 0; k < width; ++k) {
          Real term[Body::sums];
          const int at = first + k;
          evaluate(own, p, x[at], y[at], z[at], type[at], index[at], at < m, term);
          for (int c = 0; c < Body::sums; ++c) partial[c][k] += term[c];
        }
      }
    }
    Real sum[Body::sums];
    for (int c = 0; c < Body::sums; ++c) {
      for (int half = width / 2; half > 0; half /= 2)
        for (int k = 0; k < half; ++k) partial[c][k] += partial[c][k + half];
      sum[c] = partial[c][0];
    }
    body.store(i, sum);
#endif
  }
};

#ifdef __CUDACC__
template <class Body>
__global__ void __launch_bounds__(128)
    pair_loop_kernel(const Body body, const Position* position, const Metric metric,
                     const NeighborListView list, std::int64_t n, const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  const std::int64_t thread = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const int lanes = list.lanes(), lane = int(thread) & (lanes - 1);
  std::int64_t i = thread >> list.log2_lanes;
  const bool present = i < n;
  if (!present) i = n - 1;  // the lanes of a warp stay together for the shuffles below
  const auto own = body.own(i);
  const Position p = position[i];
  const int count = present ? int(list.count[i]) : 0;
  const std::uint32_t* entries = list.entries + list.row(i) + lane;
  Real sum[Body::sums] = {};
#pragma unroll 4
  for (int m = lane; m < count; m += lanes, entries += 32) {
    Real term[Body::sums];
    const std::uint32_t j = *entries;
    const Position q = position[j];
    body.pair(own, metric.vector(p, q), q.type, Body::has_extra ? body.extra(j) : Real4{}, true,
              term);
    for (int c = 0; c < Body::sums; ++c) sum[c] += term[c];
  }
  for (int step = lanes / 2; step > 0; step /= 2)
    for (int c = 0; c < Body::sums; ++c) sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], step);
  if (present && lane == 0) body.store(i, sum);
}
#endif

}  // namespace detail

/// Runs the body over all pairs of the neighbour list. `name` appears in errors and profiles.
template <class Body>
void pair_loop(const char* name, Neighbors& neighbors, const Body& body) {
  static_assert(std::is_trivially_copyable_v<Body> && Body::odd <= Body::sums);
  const Particles& particles = neighbors.particles();
  const Device& device = particles.device();
  const std::int64_t n = particles.size();
  if (n == 0) return;
  const NeighborListView list = neighbors.list();
#ifdef __CUDACC__
  if (const TileList* tiles = neighbors.tiles()) {
    if (!neighbors.direct()) return detail::tile_loop(device, name, particles, tiles->view(), body);
    detail::direct_loop(device, name, neighbors.search(), *tiles, body);
    // A search that found no room halts the device; a recorded one is looked after by the host later.
    if (!device.recording() && !device.skipping() && neighbors.recover())
      pair_loop(name, neighbors, body);
    return;
  }
  if (device.is_cuda()) {
    const std::int64_t threads = n * list.lanes();
    launch_early(device, name, dim3(unsigned((threads + 127) / 128)), dim3(128), 0,
                 detail::pair_loop_kernel<Body>, body, particles.position.data(),
                 particles.box.metric(), list, n,
                 static_cast<const std::uint32_t*>(device.halt_word()));
    return;
  }
#endif
  if (const ClusterList* clusters = neighbors.clusters())
    return cluster_loop(name, *clusters, particles, body);
  if (neighbors.direct()) return column_loop(name, device, neighbors.columns(), body);
  for_each(
      device, name, n,
      detail::PairLoopOnCpu<Body>{body, particles.position.data(), particles.box.metric(), list});
}

}  // namespace perrin
