// Part of a warp: 8 to 32 lanes that work at one thing, in step with the other parts.
#pragma once

#include "engine/device/parallel.h"

namespace perrin::metropolis {

template <int Lanes>
struct LaneGroup {
  static constexpr unsigned all = 0xffffffffu;
  int lane;         // in the group
  unsigned offset;  // of the group in the warp

  __device__ LaneGroup()
      : lane(int(threadIdx.x) % Lanes), offset(threadIdx.x % 32 / Lanes * Lanes) {}

  /// One bit per lane of the group.
  __device__ __forceinline__ unsigned ballot(bool bit) const {
    const unsigned word = __ballot_sync(all, bit);
    if constexpr (Lanes == 32) return word;
    return (word >> offset) & ((1u << (Lanes % 32)) - 1);
  }
  __device__ __forceinline__ int before(unsigned bits) const {
    return __popc(bits & ((1u << lane) - 1));
  }
  __device__ __forceinline__ static int warp_max(int value) {
    return __reduce_max_sync(all, value);
  }
  template <class T>
  __device__ __forceinline__ static T sum(T value) {
    for (int k = Lanes / 2; k > 0; k /= 2) value += __shfl_xor_sync(all, value, k);
    return value;
  }
  __device__ __forceinline__ static int running_sum(int value, int lane_) {
    for (int step = 1; step < Lanes; step *= 2) {
      const int other = __shfl_up_sync(all, value, step, Lanes);
      if (lane_ >= step) value += other;
    }
    return value;
  }
  template <class T>
  __device__ __forceinline__ static T from(T value, int lane_) {
    return __shfl_sync(all, value, lane_, Lanes);
  }
};

}  // namespace perrin::metropolis
