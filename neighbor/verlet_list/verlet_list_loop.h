// The pair loop over rows (neighbor/verlet_list/verlet_list.h), for any Body of
// neighbor/pair_loop.h.
#pragma once

#include "engine/device/parallel.h"
#include "neighbor/four_positions.h"
#include "neighbor/inline.h"
#include "neighbor/pair_extra.h"
#include "neighbor/verlet_list/verlet_list.h"

namespace perrin {
namespace detail {

#ifndef __CUDA_ARCH__
/// Four positions by coordinate.
PERRIN_INLINE void fetch4(const Position* position, const std::uint32_t* index, std::uint32_t* x,
                          std::uint32_t* y, std::uint32_t* z, std::uint32_t* type) {
  const auto load = [&](int k) __attribute__((always_inline)) {
    return FourPositions::load(position + index[k]);
  };
  const auto store = [](std::uint32_t * to, __m128i v) __attribute__((always_inline)) {
    _mm_store_si128(reinterpret_cast<__m128i*>(to), v);
  };
  const FourPositions four(load(0), load(1), load(2), load(3));
  store(x, four.x), store(y, four.y), store(z, four.z);
  store(type, _mm_srli_epi32(four.w, 24));  // Position::type()
}
#endif

template <class Body>
struct RowsOnCpu {
  static constexpr int width = 16;  // partial sums; one 512-bit vector of floats
  static constexpr int block_size = 128;
  Body body;
  const Position* position;
  Metric metric;
  RowView list;

  // A function of its own: GCC does not vectorise over structs declared in the simd loop.
  template <class Own>
  PERRIN_INLINE void evaluate(const Own& own, const Position& p, std::uint32_t x, std::uint32_t y,
                              std::uint32_t z, std::uint32_t type, std::uint32_t j, bool real,
                              Real (&term)[Body::sums]) const {
    const Real3 d =
        metric.vector(std::int32_t(p.x - x), std::int32_t(p.y - y), std::int32_t(p.z - z));
    body.pair(own, d, type, extra_of(body, j), real, term);
  }

  PERRIN_INLINE void operator()([[maybe_unused]] std::int64_t i) const {
#ifndef __CUDA_ARCH__
    const auto own = body.own(i);
    const Position p = position[i];
    const std::uint32_t* entries = list.row(i);
    const int n = int(list.count[i]);
    // The next particle's row, which the processor's own prefetcher does not see coming.
    for (int k = 0; k < n; k += 16) __builtin_prefetch(entries + n + k);
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
constexpr int row_block = 128;

/// One warp per group.
template <class Body>
__global__ void __launch_bounds__(row_block)
    row_loop_kernel(const Body body, const Position* position, const Metric* kept_metric,
                    const RowView list, const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  const std::int64_t g = std::int64_t(blockIdx.x) * (row_block / 32) + threadIdx.x / 32;
  if (g >= list.group_count) return;
  const RowGroup group = list.groups[g];
  if (!list.own.meets(group.first, group.count)) return;
  const std::uint32_t lane = threadIdx.x & 31, lanes = 1u << group.log2_lanes;
  const std::uint32_t sub = lane & (lanes - 1), m = lane >> group.log2_lanes;
  const bool present = m < group.count;  // the lanes of a warp stay together for the shuffles below
  const std::int64_t i = group.first + (present ? m : 0);
  const auto own = body.own(i);
  const Position p = position[i];
  const std::uint32_t count = present ? list.count[i] : 0;
  const std::uint32_t* entry = list.row(i) + sub;
  const Metric metric = *kept_metric;
  Real sum[Body::sums] = {};
#pragma unroll 4
  for (std::uint32_t k = sub; k < count; k += lanes, entry += lanes) {
    Real term[Body::sums];
    const std::uint32_t j = *entry;
    const Position q = position[j];
    body.pair(own, metric.vector(p, q), q.type(), extra_of(body, j), true, term);
    for (int c = 0; c < Body::sums; ++c) sum[c] += term[c];
  }
  for (int step = int(lanes) / 2; step > 0; step /= 2)
    for (int c = 0; c < Body::sums; ++c) sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], step);
  if (present && sub == 0) body.store(i, sum);
}
#endif

}  // namespace detail

/// Runs the body over all rows.
template <class Body>
void run_pairs([[maybe_unused]] const char* name, const VerletList& rows, const Body& body) {
  const Particles& particles = rows.particles();
  const Device& device = particles.device();
  if (device.halt().skipping()) return;
  const RowView list = rows.view();
  const Position* position = particles.position().data();
  const Current<Metric> metric = particles.metric();
#ifdef __CUDACC__
  if (device.is_cuda()) {
    constexpr int warps = detail::row_block / 32;
    launch_early(device, name, dim3(unsigned((list.group_count + warps - 1) / warps)),
                 dim3(detail::row_block), 0, detail::row_loop_kernel<Body>, body, position,
                 metric.kept, list, static_cast<const std::uint32_t*>(device.halt().word()));
    return;
  }
#endif
  // Rows differ in length: threads take what comes next, some particles at a time.
  constexpr std::int64_t at_once = 128;
  const std::int64_t n = list.own.size(), pieces = (n + at_once - 1) / at_once;
  const detail::RowsOnCpu<Body> loop{body, position, *metric, list};
  const auto evaluate = [&](std::int64_t p, int) {
    const std::int64_t first = list.own.begin + p * at_once;
    run_range(loop, first, std::min(first + at_once, list.own.end));
  };
  for_tasks(device, pieces, evaluate, n > 256);
}

}  // namespace perrin
