// Loops over a Device.
//
// A loop body is a small trivially copyable struct with `PERRIN_HD void operator()(std::int64_t i)
// const` (structs rather than lambdas: nvcc hides host-device lambdas from the host optimiser). It
// is compiled for the GPU and, for the CPU, for several instruction sets of which the best is
// chosen at run time. In a CUDA build this header is for files compiled as CUDA (KERNELS in CMake).
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/base/instruction_set.h"
#include "engine/base/real.h"
#include "engine/device/buffer.h"
#include "engine/device/device.h"
#include "engine/device/grid_launch.h"
#include "engine/device/share.h"
#include "engine/device/tasks.h"

#if defined(PERRIN_CUDA) && !defined(__CUDACC__)
#error "parallel.h needs nvcc in a CUDA build: list this file under KERNELS, before HOST"
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

#ifdef __CUDACC__
template <class F>
struct EachOf {
  static constexpr int threads = 128;
  F f;
  std::int64_t n;
  const std::uint32_t* halt;

  __device__ void run(unsigned block, unsigned) const {
    admit_successor_of_few();
    await_all_before();
    if (*halt) return;
    const std::int64_t i = std::int64_t(block) * threads + threadIdx.x;
    if (i < n) f(i);
  }
};
#endif

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
  if (n <= 0 || device.halt().skipping()) return;
#ifdef __CUDACC__
  if (device.is_cuda()) {
    using Grid = detail::EachOf<F>;
    return launch_grid(device, name, (n + Grid::threads - 1) / Grid::threads,
                       Grid{f, n, device.halt().word()});
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

}  // namespace perrin
