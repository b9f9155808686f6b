// Watching how far particles move, for the neighbour list.
#pragma once

#include "engine/box.h"
#include "engine/real.h"
#include "neighbor/tile_geometry.h"

#ifdef __CUDACC__
#include <cuda_device_runtime_api.h>
#endif

namespace perrin {

/// Whether something is to be done, decided by kernels (Device::condition(), Device::when()).
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

/// What a kernel that moves particles calls for each of them, moved or not (drift() does): raises the condition
/// under which the neighbour list is built again, or counts the particles of each cell.
struct MoveCheck {
  const Position* reference = nullptr;  // where the list was built; nullptr: no list
  Real limit2 = 0;                      // square of half the skin
  Condition rebuild;
  std::uint32_t* progress = nullptr;  // which step of a recording is running, for the host
  std::uint32_t step = 0;
  CellCounter cells{};  // without lists, particles are sorted in every step: this begins it

  PERRIN_HD void operator()(std::int64_t i, const Position& p, const Metric& metric) const {
    if (i == 0 && progress) *progress = step;
    if (cells.count) cells(i, p);
    if (!reference) return;
    if (!(metric.distance2(p, reference[i]) <= limit2)) rebuild.raise();
  }
};

}  // namespace perrin
