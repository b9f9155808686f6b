// A decision that kernels take, for work that is recorded.
#pragma once

#include <cstdint>

#include "engine/base/real.h"

#ifdef __CUDACC__
#include <cuda_device_runtime_api.h>
#endif

namespace perrin {

/// Whether something is to be done, decided by kernels (WorkQueue::condition(), WorkQueue::when()).
struct Condition {
  std::uint32_t* flag = nullptr;
  unsigned long long handle = 0;  // of the recording's conditional node; 0 outside of recordings

  PERRIN_HD void raise() const {
#ifndef __CUDA_ARCH__
    __atomic_store_n(flag, 1, __ATOMIC_RELAXED);  // several threads may
#else
    *flag = 1;  // every thread writes the same value
    if (handle != 0) cudaGraphSetConditional(handle, 1);
#endif
  }
};

}  // namespace perrin
