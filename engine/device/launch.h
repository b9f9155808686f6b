// The one checked launch of a CUDA kernel, and how kernels overlap.
#pragma once

#include <cstdint>
#include <utility>

#include "engine/device/device.h"
#include "engine/device/launch_list.h"

namespace perrin {

#ifdef __CUDACC__
/// The first thing in a kernel that launch_early() starts: lets its successor come in, too.
__device__ inline void admit_successor() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}
/// The same for kernels whose blocks are soon done. They do it one after the other, 1.3 ns each on
/// an H200: with many of them the successor comes in when they end, as it does by itself.
__device__ inline void admit_successor_of_few() {
#if __CUDA_ARCH__ >= 900
  if (gridDim.x <= 256) cudaTriggerProgrammaticLaunchCompletion();
#endif
}
/// Waits until everything before the kernel is done. What comes before this call must not read what
/// any kernel may write that launch_early() started in a row with this one.
__device__ inline void await_all_before() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
/// Both. True: the device is halted, nothing is to be done.
__device__ inline bool begin_kernel(const std::uint32_t* halt) {
  admit_successor();
  await_all_before();
  return *halt != 0;
}

/// Work is being noted, and this is none that can be: only grids are (grid_launch.h).
inline bool refused(const Device& device, const char* name) {
  LaunchList* const list = device.queue().collects();
  if (list) list->refuse(name);
  return list != nullptr;
}

/// The one way a kernel is started: checks the launch and names the kernel in errors. A kernel that
/// may be part of a step takes device.halt().word() and does nothing while that word is set.
template <class... Parameters, class... Arguments>
void launch(const Device& device, const char* name, dim3 grid, dim3 block, std::size_t shared,
            void (*kernel)(Parameters...), Arguments&&... arguments) {
  if (device.halt().skipping() || refused(device, name)) return;
  device.queue().next_may_overlap();  // behind this one, a kernel
  kernel<<<grid, block, shared, device.queue().stream()>>>(std::forward<Arguments>(arguments)...);
  check_cuda(cudaGetLastError(), name);
}

/// The same for kernels that begin with begin_kernel(): their blocks come in while the last blocks
/// of the kernel before still run, if that one lets them, and wait there. Saves most of a launch,
/// which is what the steps of small systems are made of.
template <class... Parameters, class... Arguments>
void launch_early(const Device& device, const char* name, dim3 grid, dim3 block, std::size_t shared,
                  void (*kernel)(Parameters...), Arguments&&... arguments) {
  if (device.halt().skipping() || refused(device, name)) return;
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid, config.blockDim = block, config.dynamicSmemBytes = shared;
  config.stream = device.queue().stream();
  config.attrs = &overlap;
  const bool overlaps = device.queue().next_may_overlap() &&
                        device.queue().waits(reinterpret_cast<const void*>(kernel));
  config.numAttrs = overlaps ? 1 : 0;
  check_cuda(cudaLaunchKernelEx(&config, kernel, Parameters(std::forward<Arguments>(arguments))...),
             name);
}
#endif

}  // namespace perrin
