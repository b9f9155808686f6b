// What the handles of one device share: for the files that implement engine/device/device.h.
#pragma once

#include <memory>
#include <unordered_map>

#include "engine/device/device.h"
#include "engine/device/threads.h"

namespace perrin {

struct Device::Shared {
  explicit Shared(int count) : threads(count) {}
  Threads threads;
};

#ifdef PERRIN_CUDA

struct Device::Cuda {
  int index = 0;
  cudaStream_t stream = nullptr;       // where work goes now
  cudaStream_t main_stream = nullptr;  // the device's own
  cudaStream_t body_stream[2]{};       // for recording the body of when(), and one in that
  int depth = 0;                       // bodies that are being recorded
  const void* last = nullptr;          // WorkQueue::note_last()
  bool recording = false;
  bool after_kernel = false;                    // the last work given was a kernel
  std::unordered_map<const void*, bool> waits;  // WorkQueue::waits(), of those asked for
  cudaDeviceProp properties{};
  cudaMemPool_t pool = nullptr;  // what members of a batch have given back stays in it

  explicit Cuda(int device_index);
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;
  ~Cuda();

  /// Members of a batch come and go by the hundred while others work: their memory is taken from
  /// a pool and given back in the order of the stream, without waiting for the device. False: this
  /// device has no pools.
  bool has_pool();
};

struct Device::HaltState {
  bool skipping = false;
  LaunchList* list = nullptr;     // work is noted there
  std::uint32_t* word = nullptr;  // on the device; nullptr on the CPU
  std::shared_ptr<Cuda> cuda;

  explicit HaltState(const std::shared_ptr<Cuda>& of);
  HaltState(const HaltState&) = delete;
  HaltState& operator=(const HaltState&) = delete;
  ~HaltState();
};

#else

struct Device::Cuda {};
struct Device::HaltState {
  explicit HaltState(const std::shared_ptr<Cuda>&) {}
  bool skipping = false;
};

#endif

}  // namespace perrin
