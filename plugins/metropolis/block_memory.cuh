// What the pipelined kernel asks of the hardware and C++ has no name for: ordered reads and writes
// between blocks, and the memory that a block's threads share. The tests bring another version of
// this file, for a GPU emulated on the CPU.
#pragma once

#include "system.h"

namespace perrin::metropolis {

__device__ __forceinline__ char* block_memory() {
  extern __shared__ __align__(32) char memory[];
  return memory;
}

__device__ __forceinline__ std::uint32_t load_acquire(const std::uint32_t* p) {
  std::uint32_t v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ void store_release(std::uint32_t* p, std::uint32_t v) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ unsigned long long load_word(const unsigned long long* p) {
  unsigned long long v;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ void store_word(unsigned long long* p, unsigned long long v) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
/// Past the first-level cache, which does not see what other blocks write.
__device__ __forceinline__ Position load_fresh(const Position* p) {
  const uint4 v = __ldcg(reinterpret_cast<const uint4*>(p));
  Position position;
  position.x = v.x, position.y = v.y, position.z = v.z, position.tail = v.w;
  return position;
}
__device__ __forceinline__ Quaternion load_fresh(const Quaternion* p) {
  const double2* q = reinterpret_cast<const double2*>(p);
  const double2 a = __ldcg(q), b = __ldcg(q + 1);
  return {a.x, a.y, b.x, b.y};
}

}  // namespace perrin::metropolis
