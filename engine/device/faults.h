// What went wrong on the device: the first fault of a run, looked at by the host when it next
// waits.
#pragma once

#include "engine/base/real.h"
#include "engine/device/buffer.h"

namespace perrin {

enum class FaultKind : std::uint32_t {
  none = 0,
  not_finite,       // a position, velocity or force is NaN or infinite
  too_fast,         // a particle moved further in one step than the neighbour list allows
  left_the_box,     // a particle left a non-periodic axis
  bond_too_long,    // a FENE bond beyond its largest extension
  box_too_fast,     // an edge of the box changes by more in a step than lists have room for
  box_too_small,    // half of the smallest height is below the range of the forces
  box_too_far,      // the box differs more from that of the job's start than wave vectors allow
  not_constrained,  // a distance that is to stay: no forces that hold it; axis: the other particle
};

struct Fault {
  std::uint32_t claimed;  // 0: none yet
  FaultKind kind;
  std::uint32_t id;  // particle
  std::uint32_t axis;
  std::uint64_t step;
  double value;  // the offending quantity
  double limit;
};

/// Kernel side: the first caller wins.
struct FaultSink {
  Fault* fault;
  const std::uint64_t* step;
  std::uint32_t* halt;  // of the device; nullptr on the CPU, where the host looks after every step

  PERRIN_HD void report(FaultKind kind, std::uint32_t id, double value, double limit,
                        std::uint32_t axis = 0) const {
#ifdef __CUDA_ARCH__
    if (atomicCAS(&fault->claimed, 0u, 1u) != 0u) return;
#else
    std::uint32_t free = 0;
    if (!__atomic_compare_exchange_n(&fault->claimed, &free, 1u, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
      return;
#endif
    fault->kind = kind;
    fault->id = id;
    fault->axis = axis;
    fault->value = value;
    fault->limit = limit;
    fault->step = *step;
    if (halt) *halt = 1;
  }
};

}  // namespace perrin
