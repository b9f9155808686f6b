// An exchange of ghosts in blocks of a kernel that does something else beside it (engine/core/team.h,
// Team::prepare_beside()).
//
// Its first blocks exchange, and are the first to run; some of the others need what comes and wait
// for it. That rests on blocks beginning in the order of their numbers, as in CUB's scan: else
// those that wait could take the room of those that exchange.
#pragma once

#include "engine/core/team_exchange.cuh"

namespace perrin::detail {

struct ExchangeBeside {
  TeamView team;
  TeamExchange exchange;
  Beside beside;

  /// The kernel's blocks before this one exchange.
  __device__ unsigned blocks() const { return exchange.blocks; }
  /// Has it been done before the kernel? To be read behind await_all_before().
  __device__ bool is_done() const { return *beside.done != 0; }
  /// By one of those blocks.
  __device__ void run() const {
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    if (is_done()) {
      if (first && *exchange.warnings[1]) beside.next.raise();
      return;
    }
    typename Talk<false>::Heard heard;
    const auto brought = [&] {
      __syncthreads();
      if (threadIdx.x == 0)
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(beside.arrived) : "memory");
    };
    if (!exchange_ghosts<false>(team, exchange, brought, heard)) return;
    if (heard.warning) beside.next.raise();
    if (heard.flag) *exchange.halt = beside.halt;
  }
  /// By all threads of another block, unless it is done.
  __device__ void await_arrivals() const {
    if (threadIdx.x == 0) {
      std::uint32_t arrived = 0;
      do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                     : "=r"(arrived)
                     : "l"(beside.arrived)
                     : "memory");
      while (arrived != exchange.blocks);
    }
    __syncthreads();
  }
};

}  // namespace perrin::detail
