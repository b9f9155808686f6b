// Launches of the kernels of short_sort_gpu.cuh. For files compiled as CUDA.
#pragma once

#include <cstddef>
#include <utility>

#include "engine/device/parallel.h"
#include "neighbor/sort/short_sort_gpu.cuh"

namespace perrin::short_sort_detail {

template <int L, int E, int Batches, Store store, int Multiply>
void run_uniform(const Device& device, const std::uint32_t* in, std::uint32_t* out,
                 std::int64_t count) {
  using Shape = UniformShape<L, E>;
  const std::int64_t per_block = std::int64_t(Shape::warps) * Shape::arrays * Batches;
  launch(device, "short sort", dim3(unsigned((count + per_block - 1) / per_block)),
         dim3(Shape::threads), 0, sort_uniform_kernel<L, E, Batches, store, Multiply>,
         reinterpret_cast<const uint4*>(in), reinterpret_cast<uint4*>(out), count, std::uint32_t(1),
         ~std::uint32_t(0));
}

inline void run_ragged(const Device& device, const std::uint32_t* in, std::uint32_t* out,
                       Extent extents, std::int64_t count) {
  // A warp works its chunk off one batch after the other: few arrays go to many warps.
  const std::int64_t warps_wanted = std::int64_t(device.multiprocessors()) * 32;
  int chunk = 32;
  while (chunk > 2 && count / chunk < warps_wanted) chunk /= 2;
  const std::int64_t per_block = std::int64_t(ragged_warps) * chunk;
  launch(device, "short sort", dim3(unsigned((count + per_block - 1) / per_block)),
         dim3(32 * ragged_warps), 0, sort_ragged_kernel, in, out, extents, count, chunk);
}

}  // namespace perrin::short_sort_detail
