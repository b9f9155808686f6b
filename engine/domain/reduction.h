// Reduction: sums of all elements, whose bits do not depend on threads, devices or processes.
//
// As in engine/device/parallel.h, in a CUDA build this header is for files compiled as CUDA.
#pragma once

#include <cstdint>
#include <type_traits>

#include "engine/base/real.h"
#include "engine/device/buffer.h"
#include "engine/device/device.h"
#include "engine/device/launch.h"
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

/// A row of blocks for each sum.
template <class S, int Count>
__global__ void sum_chunks_kernel(const __grid_constant__ SeveralSums<S, Count> sums,
                                  std::int64_t n, int first, const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  using T = typename S::Value;
  const S& sum = sums.of[Count == 1 ? 0 : blockIdx.y];
  T total{};
  const int chunk = first + int(blockIdx.x);
  const std::int64_t end = sum_chunk_begin(n, chunk + 1);
  for (std::int64_t i = sum_chunk_begin(n, chunk) + threadIdx.x; i < end; i += sum_block)
    total += sum.f(i);
  block_sum<sum_block>(total);
  if (threadIdx.x == 0) sum.whole.partial[chunk] = total;
}

/// A block for each sum.
template <class T, class Then, int Count>
__global__ void sum_partials_kernel(
    const __grid_constant__ SeveralSums<SumOfChunks<T, Then>, Count> sums,
    const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  const SumOfChunks<T, Then>& sum = sums.of[Count == 1 ? 0 : blockIdx.x];
  T total{};
  for (int chunk = int(threadIdx.x); chunk < sum_chunks; chunk += sum_block)
    total += sum.partial[chunk];
  block_sum<sum_block>(total);
  if (threadIdx.x != 0) return;
  *sum.result = total;
  sum.then();
}
#endif

/// As sum() below, of several at once.
template <class S, int Count>
void sum_each(const Device& device, [[maybe_unused]] const char* name, std::int64_t n,
              const SeveralSums<S, Count>& sums) {
  using T = typename S::Value;
  static_assert(std::is_trivially_copyable_v<S>);
  if (device.skipping()) return;
  Decomposition& decomposition = decomposition_of(device);
  const Share mine = decomposition.share(sum_chunks);
  const auto gather = [&] {
    for (const S& one : sums.of) decomposition.all_gather(one.whole.partial, sizeof(T), sum_chunks);
  };
#ifdef __CUDACC__
  if (device.is_cuda()) {
    if (mine.size() > 0)
      launch_early(device, name, dim3(unsigned(mine.size()), Count), dim3(sum_block), 0,
                   sum_chunks_kernel<S, Count>, sums, n, int(mine.begin), device.halt_word());
    gather();
    SeveralSums<typename S::Whole, Count> wholes;
    for (int k = 0; k < Count; ++k) wholes.of[k] = sums.of[k].whole;
    launch_early(device, name, dim3(Count), dim3(sum_block), 0,
                 sum_partials_kernel<T, decltype(S::Whole::then), Count>, wholes,
                 device.halt_word());
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
