#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "engine/base/error.h"
#include "engine/device/batch_replay.h"
#include "engine/device/device_state.h"
#include "engine/device/launch_list.h"

namespace perrin {
namespace {

#ifdef PERRIN_CUDA
/// Before steps are recorded one has run that is not: what is allocated there once may stay there.
void refuse_while_recording(bool recording, const char* what) {
  if (recording)
    throw RunError(
        fmt::format("a force or integrator {} inside a step while the GPU's steps were recorded; "
                    "this must be done in its constructor or in begin()",
                    what));
}

/// Members of a batch put words off: copies must find them written.
void settle(const DeviceRole& role) {
  if (role.batch) role.batch->settle(role.batch_member);
}
#endif

/// Cache-line aligned, of zeros; vector loops may read (never use) up to 512 bytes beyond the end.
/// Pages of large arrays take no room until they are written: so arrays of all particles take, in a
/// process, the room of the part that it writes.
void* allocate_on_cpu(std::size_t bytes) {
  // Large arrays in large pages: pair loops jump about in them.
  constexpr std::size_t large_page = std::size_t(2) << 20;
  const bool large = bytes >= large_page / 4;
  const std::size_t alignment = large ? large_page : 64;
  const std::size_t size = (bytes + 512 + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, size);
  if (!memory) throw RunError(fmt::format("out of memory allocating {} MiB", (bytes >> 20) + 1));
  if (large) madvise(memory, size, MADV_HUGEPAGE);
  // malloc may give what was used before; these pages are of this array alone. New pages cost more
  // than zeros in old ones, which is worth it where parts of arrays may stay unwritten.
  if (size < 2 * large_page || madvise(memory, size, MADV_DONTNEED) != 0)
    std::memset(memory, 0, bytes);
  return memory;
}

}  // namespace

void* DeviceMemory::allocate(std::size_t bytes) const {
#ifdef PERRIN_CUDA
  if (device_.cuda_) {
    refuse_while_recording(device_.queue().recording(), "allocated memory");
    void* memory = nullptr;
    Device::Cuda& cuda = *device_.cuda_;
    check_cuda(cudaSetDevice(cuda.index), "selecting the device");
    const cudaError_t status =
        device_.role_.batch && cuda.has_pool()
            ? cudaMallocFromPoolAsync(&memory, bytes, cuda.pool, cuda.main_stream)
            : cudaMalloc(&memory, bytes);
    if (status != cudaSuccess)
      check_cuda(status, fmt::format("allocating {} MiB", (bytes >> 20) + 1).c_str());
    check_cuda(cudaMemsetAsync(memory, 0, bytes, device_.queue().stream()), "zeroing");
    cuda.after_kernel = false;
    return memory;
  }
#endif
  return allocate_on_cpu(bytes);
}

void DeviceMemory::release(void* memory) const noexcept {
  if (!memory) return;
#ifdef PERRIN_CUDA
  if (device_.cuda_) {
    try {
      settle(device_.role_);
    } catch (...) {  // the next call to the device says so
    }
    device_.role_.batch&& device_.cuda_->pool ? cudaFreeAsync(memory, device_.cuda_->main_stream)
                                              : cudaFree(memory);
    return;
  }
#endif
  std::free(memory);
}

void DeviceMemory::copy_in(void* device, const void* host, std::size_t bytes) const {
#ifdef PERRIN_CUDA
  if (device_.cuda_) {
    refuse_while_recording(device_.queue().recording(), "copied from the host");
    settle(device_.role_);
    check_cuda(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, device_.cuda_->stream),
               "copying to the device");
    // Of so few bytes of ordinary memory the driver has taken a copy of its own.
    constexpr std::size_t taken_at_once = std::size_t(32) << 10;
    if (bytes > taken_at_once) device_.synchronize();
    return;
  }
#endif
  std::memcpy(device, host, bytes);
}

void put_word(const Device& device, std::uint32_t* word, std::uint32_t value) {
#ifdef PERRIN_CUDA
  const DeviceRole& role = device.role();
  if (device.is_cuda() && role.batch && role.batch->put(role.batch_member, word, value)) return;
#endif
  device.memory().copy_in(word, &value, sizeof value);
}

void DeviceMemory::copy_out(void* host, const void* device, std::size_t bytes) const {
#ifdef PERRIN_CUDA
  if (device_.cuda_) {
    refuse_while_recording(device_.queue().recording(), "copied to the host");
    settle(device_.role_);
    check_cuda(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, device_.cuda_->stream),
               "copying from the device");
    return device_.synchronize();
  }
#endif
  std::memcpy(host, device, bytes);
}

void DeviceMemory::copy(void* to, const void* from, std::size_t bytes) const {
  if (bytes == 0 || device_.halt().skipping()) return;
#ifdef PERRIN_CUDA
  if (LaunchList* const list = device_.queue().collects()) return list->add_copy(to, from, bytes);
  if (device_.cuda_) {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, device_.queue().stream()),
               "copying on the device");
    device_.cuda_->after_kernel = false;
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

void DeviceMemory::zero(void* memory, std::size_t bytes) const {
  if (bytes == 0 || device_.halt().skipping()) return;
#ifdef PERRIN_CUDA
  if (LaunchList* const list = device_.queue().collects()) return list->add_zero(memory, bytes);
  if (device_.cuda_) {
    check_cuda(cudaMemsetAsync(memory, 0, bytes, device_.queue().stream()), "zeroing");
    device_.cuda_->after_kernel = false;
    return;
  }
#endif
  std::memset(memory, 0, bytes);
}

}  // namespace perrin
