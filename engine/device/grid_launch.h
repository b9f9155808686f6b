// Kernels of steps, which run for one simulation or for many of a batch in one launch.
//
// A Grid is a small trivially copyable struct that says what a block of such a kernel does:
//
//     struct Grid {
//       static constexpr int threads = 128;  // of a block
//       __device__ void run(unsigned block, unsigned blocks) const;
//     };
//
// In a launch for many, some blocks are done one after the other by the same threads: fewer have to
// begin. A Grid whose blocks share what they read from memory does several itself, and says how
// many run on a multiprocessor and how many are done in turn at most:
//
//       static constexpr unsigned resident = 4, most_in_turn = 2;
//       __device__ void run_several(unsigned first, unsigned last, unsigned blocks) const;
//
// `block` of `blocks` is to it what blockIdx.x of gridDim.x is to a kernel; these are not its own.
// run() calls await_all_before() (engine/device/launch.h), and returns where the device is halted.
#pragma once

#include "engine/device/launch.h"
#include "engine/device/launch_list.h"

namespace perrin {

#ifdef __CUDACC__
namespace detail {

template <class Grid>
concept RunsSeveral = requires(const Grid& grid) {
  grid.run_several(0u, 0u, 0u);
};

template <class Grid>
constexpr LaunchList::Turns turns_of() {
  if constexpr (RunsSeveral<Grid>)
    return {Grid::resident, Grid::most_in_turn};
  else
    return {};
}

template <class Grid>
__global__ void __launch_bounds__(Grid::threads) grid_kernel(const __grid_constant__ Grid grid) {
  grid.run(blockIdx.x, gridDim.x);
}

/// The grid of the block's member is in shared memory: its numbers are read often.
template <class Grid>
__global__ void __launch_bounds__(Grid::threads)
    batch_kernel(const Grid* grids, const std::uint32_t* blocks, const std::uint32_t* active,
                 const BatchBlock* table) {
  static_assert(sizeof(Grid) % sizeof(std::uint32_t) == 0);
  constexpr int words = sizeof(Grid) / sizeof(std::uint32_t);
  __shared__ alignas(16) std::uint32_t copy[words];
  const BatchBlock mine = table[blockIdx.x];
  const bool works = active[mine.member] != 0;
  const std::uint32_t of = blocks[mine.member];
  const auto* const from = reinterpret_cast<const std::uint32_t*>(grids + mine.member);
  for (int k = int(threadIdx.x); k < words; k += Grid::threads) copy[k] = from[k];
  if (!works) return await_all_before();
  const auto* const grid = reinterpret_cast<const Grid*>(copy);
  if constexpr (RunsSeveral<Grid>) {
    __syncthreads();
    grid->run_several(mine.first, mine.last, of);
  } else {
    for (std::uint32_t block = mine.first; block < mine.last; ++block) {
      __syncthreads();
      grid->run(block, of);
    }
  }
}

template <class Grid>
void launch_batch(const BatchLaunch& batch) {
  launch_early(*batch.device, batch.name, dim3(batch.count), dim3(Grid::threads), 0,
               batch_kernel<Grid>, static_cast<const Grid*>(batch.grids), batch.blocks,
               batch.active, batch.table);
}

template <class Grid>
inline constexpr LaunchList::Kernel kernel_of{sizeof(Grid), turns_of<Grid>(), &launch_batch<Grid>};

}  // namespace detail

/// Launches the grid with so many blocks, while nothing is noted.
template <class Grid>
void start_grid(const Device& device, const char* name, std::int64_t blocks, const Grid& grid) {
  if (device.halt().skipping() || blocks <= 0) return;
  launch_early(device, name, dim3(unsigned(blocks)), dim3(Grid::threads), 0,
               detail::grid_kernel<Grid>, grid);
}

/// Notes it, while WorkQueue::collects().
template <class Grid>
void note_grid(const Device& device, const char* name, std::int64_t blocks, const Grid& grid) {
  if (!device.halt().skipping() && blocks > 0)
    device.queue().collects()->add(detail::kernel_of<Grid>, name, unsigned(blocks), grid);
}

/// Whichever it is; two kernels to compile.
template <class Grid>
void launch_grid(const Device& device, const char* name, std::int64_t blocks, const Grid& grid) {
  static_assert(std::is_trivially_copyable_v<Grid>);
  device.queue().collects() ? note_grid(device, name, blocks, grid)
                            : start_grid(device, name, blocks, grid);
}
#endif

}  // namespace perrin
