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

template <class T, class F>
__global__ void sum_chunks_kernel(const F f, std::int64_t n, int first, T* partial,
                                  const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  T total{};
  const int chunk = first + int(blockIdx.x);
  const std::int64_t end = sum_chunk_begin(n, chunk + 1);
  for (std::int64_t i = sum_chunk_begin(n, chunk) + threadIdx.x; i < end; i += sum_block)
    total += f(i);
  block_sum<sum_block>(total);
  if (threadIdx.x == 0) partial[chunk] = total;
}

template <class T>
__global__ void sum_partials_kernel(const T* partial, T* result, const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  T total{};
  for (int chunk = int(threadIdx.x); chunk < sum_chunks; chunk += sum_block)
    total += partial[chunk];
  block_sum<sum_block>(total);
  if (threadIdx.x == 0) *result = total;
}
#endif

}  // namespace detail

/// result[0] = sum of f(i), 0 ≤ i < n, added in an order that does not depend on the number of
/// threads. T needs a zero T{} and +=. `scratch` has at least sum_chunks elements. Device
/// work only: the host does not wait. Where several processes run the simulation, each adds its
/// share of the elements (of particles, those it takes care of), and all have the result.
template <class T, class F>
void sum(const Device& device, const char* name, std::int64_t n, const F& f, Buffer<T>& scratch,
         T* result) {
  static_assert(std::is_trivially_copyable_v<F>);
  PERRIN_ASSERT(scratch.size() >= sum_chunks);
  if (device.skipping()) return;
  Decomposition& decomposition = decomposition_of(device);
  const Share mine = decomposition.share(sum_chunks);
#ifdef __CUDACC__
  if (device.is_cuda()) {
    if (mine.size() > 0)
      launch_early(device, name, dim3(unsigned(mine.size())), dim3(detail::sum_block), 0,
                   detail::sum_chunks_kernel<T, F>, f, n, int(mine.begin), scratch.data(),
                   device.halt_word());
    decomposition.all_gather(scratch.data(), sizeof(T), sum_chunks);
    launch_early(device, name, dim3(1), dim3(detail::sum_block), 0, detail::sum_partials_kernel<T>,
                 static_cast<const T*>(scratch.data()), result, device.halt_word());
    return;
  }
#endif
  (void)name;
  T* partial = scratch.data();
  const auto add_up = [&](std::int64_t first, std::int64_t last) {
    for (auto chunk = int(mine.begin + first); chunk < mine.begin + last; ++chunk) {
      T total{};
      const std::int64_t end = sum_chunk_begin(n, chunk + 1);
      for (std::int64_t i = sum_chunk_begin(n, chunk); i < end; ++i) total += f(i);
      partial[chunk] = total;
    }
  };
  for_pieces(device, mine.size(), n > 4096 ? 64 : sum_chunks, add_up);
  decomposition.all_gather(partial, sizeof(T), sum_chunks);
  T total{};
  for (int chunk = 0; chunk < sum_chunks; ++chunk) total += partial[chunk];
  *result = total;
}

/// The same, waiting for the result.
template <class T, class F>
T sum(const Device& device, const char* name, std::int64_t n, const F& f) {
  Buffer<T> scratch(device, sum_chunks + 1);
  sum(device, name, n, f, scratch, scratch.data() + sum_chunks);
  return scratch.to_host(sum_chunks);
}

}  // namespace perrin
