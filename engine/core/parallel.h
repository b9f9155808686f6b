// Loops and sums over a Device.
//
// A loop body is a small trivially copyable struct with `PERRIN_HD void operator()(std::int64_t i)
// const` (structs rather than lambdas: nvcc hides host-device lambdas from the host optimiser). It
// is compiled for the GPU and, for the CPU, for several instruction sets of which the best is
// chosen at run time. In a CUDA build this header is for files compiled as CUDA (KERNELS in CMake).
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/core/buffer.h"
#include "engine/core/device.h"
#include "engine/core/instruction_set.h"
#include "engine/core/launch.h"
#include "engine/core/real.h"
#include "engine/core/share.h"
#include "engine/core/tasks.h"
#include "engine/core/team.h"

#if defined(PERRIN_CUDA) && !defined(__CUDACC__)
#error "engine/core/parallel.h needs nvcc in a CUDA build: list this file under KERNELS"
#endif

namespace perrin {

namespace detail {

// noipa: else GCC 12 may pass vectors that f holds in registers, about which a caller and a callee
// of different targets do not agree.
template <class F>
__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,prefer-vector-width=512"),
               flatten, noipa)) void
run_avx512(const F f, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) f(i);
}
template <class F>
__attribute__((target("avx2,fma"), flatten, noipa)) void run_avx2(const F f, std::int64_t begin,
                                                                  std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) f(i);
}
template <class F>
__attribute__((flatten)) void run_baseline(const F f, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) f(i);
}
}  // namespace detail

/// f(i) for begin ≤ i < end on the calling thread, compiled for the best instruction set.
template <class F>
void run_range(const F& f, std::int64_t begin, std::int64_t end) {
  const InstructionSet set = instruction_set();
  if constexpr (has_instruction_set(InstructionSet::avx512))
    if (set == InstructionSet::avx512) return detail::run_avx512(f, begin, end);
  if constexpr (has_instruction_set(InstructionSet::avx2))
    if (set == InstructionSet::avx2) return detail::run_avx2(f, begin, end);
  if constexpr (has_instruction_set(InstructionSet::baseline)) detail::run_baseline(f, begin, end);
}

namespace detail {

constexpr int sum_block = 128;  // threads of a block of sum()

#ifdef __CUDACC__
template <class F>
__global__ void for_each_kernel(const F f, std::int64_t n, const std::uint32_t* halt) {
  admit_successor_of_few();
  await_all_before();
  if (*halt) return;
  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}

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
  const std::int64_t end = portion_begin(n, chunk + 1);
  for (std::int64_t i = portion_begin(n, chunk) + threadIdx.x; i < end; i += sum_block)
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

namespace detail {
template <class F>
void for_each_on_cpu(const Device& device, std::int64_t n, const F& f, std::int64_t least = 256) {
  // Calling the threads together costs more than a short loop.
  for_pieces(device, n, least,
             [&](std::int64_t begin, std::int64_t end) { run_range(f, begin, end); });
}
}  // namespace detail

/// f(i) for 0 ≤ i < n, in any order. `name` appears in errors and profiles.
template <class F>
void for_each(const Device& device, const char* name, std::int64_t n, const F& f) {
  static_assert(std::is_trivially_copyable_v<F>);
  if (n <= 0 || device.skipping()) return;
#ifdef __CUDACC__
  if (device.is_cuda()) {
    constexpr int block = 128;
    launch_early(device, name, dim3(unsigned((n + block - 1) / block)), dim3(block), 0,
                 detail::for_each_kernel<F>, f, n, device.halt_word());
    return;
  }
#endif
  (void)name;
  detail::for_each_on_cpu(device, n, f);
}

namespace detail {
template <class F>
struct Shifted {
  F f;
  std::int64_t begin;
  PERRIN_HD void operator()(std::int64_t i) const { f(begin + i); }
};
}  // namespace detail

/// f(i) for a part of the elements: of particles, those that this process takes care of
/// (Particles::share()).
template <class F>
void for_each(const Device& device, const char* name, const Share& share, const F& f) {
  for_each(device, name, share.size(), detail::Shifted<F>{f, share.begin});
}

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
  Team* const team = device.team();
  const Share mine = team ? team->share(sum_chunks) : Share{0, sum_chunks};
#ifdef __CUDACC__
  if (device.is_cuda()) {
    if (mine.size() > 0)
      launch_early(device, name, dim3(unsigned(mine.size())), dim3(detail::sum_block), 0,
                   detail::sum_chunks_kernel<T, F>, f, n, int(mine.begin), scratch.data(),
                   device.halt_word());
    if (team) team->complete(scratch.data(), sizeof(T), sum_chunks);
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
      const std::int64_t end = portion_begin(n, chunk + 1);
      for (std::int64_t i = portion_begin(n, chunk); i < end; ++i) total += f(i);
      partial[chunk] = total;
    }
  };
  for_pieces(device, mine.size(), n > 4096 ? 64 : sum_chunks, add_up);
  if (team) team->complete(partial, sizeof(T), sum_chunks);
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
