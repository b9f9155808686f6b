// Reduction: sums of all elements, whose bits do not depend on threads, devices or processes.
//
// As in engine/device/parallel.h, in a CUDA build this header is for files compiled as CUDA.
#pragma once

#include <cstdint>
#include <type_traits>

#include "engine/base/real.h"
#include "engine/device/buffer.h"
#include "engine/device/device.h"
#include "engine/device/grid_launch.h"
#include "engine/device/parallel.h"
#include "engine/device/share.h"
#include "engine/device/tasks.h"
#include "engine/domain/decomposition.h"

namespace perrin {

namespace detail {

constexpr int sum_block = 128;  // threads of a block of sum()

struct NothingMore {
  PERRIN_HD void operator()() const {}
};

/// Of a sum: what its chunks have come to, where the whole goes, and what is done then.
template <class T, class Then>
struct SumOfChunks {
  T *partial, *result;
  Then then;
};
/// The arguments of sum().
template <class T, class F, class Then>
struct Sum {
  using Value = T;
  using Whole = SumOfChunks<T, Then>;
  F f;
  Whole whole;
};
template <class S, int Count>
struct SeveralSums {
  S of[Count];
};

#ifdef __CUDACC__
template <int Block, class T>
__device__ void block_sum(T& value) {
  __shared__ T shared[Block];
  shared[threadIdx.x] = value;
  for (int half = Block / 2; half > 0; half /= 2) {
    __syncthreads();
    if (int(threadIdx.x) < half) shared[threadIdx.x] += shared[threadIdx.x + half];
  }
  value = shared[0];
}

/// A block for each chunk of each sum.
template <class S, int Count>
struct SumChunksGrid {
  static constexpr int threads = sum_block;
  SeveralSums<S, Count> sums;
  std::int64_t n, first, chunks;  // these chunks
  const std::uint32_t* halt;

  __device__ void run(unsigned block, unsigned) const {
    if (begin_kernel(halt)) return;
    using T = typename S::Value;
    const S& sum = sums.of[Count == 1 ? 0 : block / chunks];
    T total{};
    const int chunk = int(first + (Count == 1 ? block : block % chunks));
    const std::int64_t end = sum_chunk_begin(n, chunk + 1);
    for (std::int64_t i = sum_chunk_begin(n, chunk) + threadIdx.x; i < end; i += sum_block)
      total += sum.f(i);
    block_sum<sum_block>(total);
    if (threadIdx.x == 0) sum.whole.partial[chunk] = total;
  }
};

/// A block for each sum.
template <class T, class Then, int Count>
struct SumPartialsGrid {
  static constexpr int threads = sum_block;
  SeveralSums<SumOfChunks<T, Then>, Count> sums;
  const std::uint32_t* halt;

  __device__ void run(unsigned block, unsigned) const {
    if (begin_kernel(halt)) return;
    const SumOfChunks<T, Then>& sum = sums.of[Count == 1 ? 0 : block];
    T total{};
    for (int chunk = int(threadIdx.x); chunk < sum_chunks; chunk += sum_block)
      total += sum.partial[chunk];
    block_sum<sum_block>(total);
    if (threadIdx.x != 0) return;
    *sum.result = total;
    sum.then();
  }
};

/// Both for few elements, with the same bits: a thread for each chunk, a block for each sum.
template <class S, int Count>
struct ShortSumGrid {
  static constexpr int threads = sum_chunks;
  static constexpr int of_chunk = 8;  // elements, at most
  static constexpr std::int64_t most = (of_chunk - 1) * sum_chunks;
  using T = typename S::Value;
  SeveralSums<S, Count> sums;
  std::int64_t n;
  const std::uint32_t* halt;

  /// Elements k, k + Step, … below m, in the order in which block_sum() adds those of a chunk.
  template <int Step>
  static __device__ T tree(const S& sum, std::int64_t begin, int k, int m) {
    T total{};
    if constexpr (Step == of_chunk) {
      if (k < m) total += sum.f(begin + k);
    } else {
      total = tree<2 * Step>(sum, begin, k, m);
      total += tree<2 * Step>(sum, begin, k + Step, m);
    }
    return total;
  }

  __device__ void run(unsigned block, unsigned) const {
    if (begin_kernel(halt)) return;
    const S& sum = sums.of[Count == 1 ? 0 : block];
    const int thread = int(threadIdx.x);
    const std::int64_t begin = sum_chunk_begin(n, thread);
    sum.whole.partial[thread] = tree<1>(sum, begin, 0, int(sum_chunk_begin(n, thread + 1) - begin));
    __syncthreads();
    __shared__ T shared[sum_block];
    if (thread < sum_block) {
      T total{};
      for (int chunk = thread; chunk < sum_chunks; chunk += sum_block)
        total += sum.whole.partial[chunk];
      shared[thread] = total;
    }
    for (int half = sum_block / 2; half > 0; half /= 2) {
      __syncthreads();
      if (thread < half) shared[thread] += shared[thread + half];
    }
    if (thread != 0) return;
    *sum.whole.result = shared[0];
    sum.whole.then();
  }
};
#endif

/// As sum() below, of several at once.
template <class S, int Count>
void sum_each(const Device& device, [[maybe_unused]] const char* name, std::int64_t n,
              const SeveralSums<S, Count>& sums) {
  using T = typename S::Value;
  static_assert(std::is_trivially_copyable_v<S>);
  if (device.halt().skipping()) return;
  Decomposition& decomposition = decomposition_of(device);
  const Share mine = decomposition.share(sum_chunks);
  const auto gather = [&] {
    for (const S& one : sums.of) decomposition.all_gather(one.whole.partial, sizeof(T), sum_chunks);
  };
#ifdef __CUDACC__
  if (device.is_cuda()) {
    if (n <= ShortSumGrid<S, Count>::most && !decomposition.several())
      return launch_grid(device, name, Count,
                         ShortSumGrid<S, Count>{sums, n, device.halt().word()});
    launch_grid(device, name, mine.size() * Count,
                SumChunksGrid<S, Count>{sums, n, mine.begin, mine.size(), device.halt().word()});
    gather();
    SeveralSums<typename S::Whole, Count> wholes;
    for (int k = 0; k < Count; ++k) wholes.of[k] = sums.of[k].whole;
    launch_grid(device, name, Count,
                SumPartialsGrid<T, decltype(S::Whole::then), Count>{wholes, device.halt().word()});
    return;
  }
#endif
  for (const S& one : sums.of) {
    const auto add_up = [&](std::int64_t first, std::int64_t last) {
      for (auto chunk = int(mine.begin + first); chunk < mine.begin + last; ++chunk) {
        T total{};
        const std::int64_t end = sum_chunk_begin(n, chunk + 1);
        for (std::int64_t i = sum_chunk_begin(n, chunk); i < end; ++i) total += one.f(i);
        one.whole.partial[chunk] = total;
      }
    };
    for_pieces(device, mine.size(), n > 4096 ? 64 : sum_chunks, add_up);
  }
  gather();
  for (const S& one : sums.of) {
    T total{};
    for (int chunk = 0; chunk < sum_chunks; ++chunk) total += one.whole.partial[chunk];
    *one.whole.result = total;
    one.whole.then();
  }
}

}  // namespace detail

/// result[0] = sum of f(i), 0 ≤ i < n, added in an order that does not depend on the number of
/// threads; then() is called behind it, once. T needs a zero T{} and +=. `scratch` has at least
/// sum_chunks elements. Device work only: the host does not wait. Where several processes run the
/// simulation, each adds its share of the elements (of particles, those it takes care of), and all
/// have the result.
template <class T, class F, class Then = detail::NothingMore>
void sum(const Device& device, const char* name, std::int64_t n, const F& f, Buffer<T>& scratch,
         T* result, const Then& then = {}) {
  PERRIN_ASSERT(scratch.size() >= sum_chunks);
  using S = detail::Sum<T, F, Then>;
  detail::sum_each(device, name, n,
                   detail::SeveralSums<S, 1>{{S{f, {scratch.data(), result, then}}}});
}

/// The same, waiting for the result.
template <class T, class F>
T sum(const Device& device, const char* name, std::int64_t n, const F& f) {
  Buffer<T> scratch(device, sum_chunks + 1);
  sum(device, name, n, f, scratch, scratch.data() + sum_chunks);
  return scratch.to_host(sum_chunks);
}

}  // namespace perrin
