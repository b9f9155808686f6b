// Runs CUDA kernels on the CPU, one fiber for each thread of a block, so that kernels are tested on
// machines without a GPU. What the kernels under test use of CUDA, no more. Threads take turns at
// collective operations only; all of a warp or block must reach them. Blocks run one after another.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __grid_constant__

namespace perrin::emulation {

struct Index {
  unsigned x = 0;
};

struct Barrier {
  int arrived = 0;
  std::int64_t generation = 0;
};

struct Warp {
  std::uint64_t values[32]{};
  Barrier barrier;
};

/// One block of threads; 1 024 at most, in whole warps.
class Block {
 public:
  static Block*& current() {
    static Block* block = nullptr;
    return block;
  }

  void run(Index block, int threads, const std::function<void()>& kernel) {
    if (threads % 32 != 0) throw std::logic_error("emulated blocks are whole warps");
    current() = this;
    kernel_ = &kernel;
    block_index_ = block;
    threads_ = threads;
    warps_.assign(std::size_t(threads) / 32, {});
    barrier_ = {};
    while (int(fibers_.size()) < threads) fibers_.push_back(std::make_unique<Fiber>());
    for (int i = 0; i < threads; ++i) {
      Fiber& fiber = *fibers_[std::size_t(i)];
      fiber.done = false;
      getcontext(&fiber.context);
      fiber.context.uc_stack = {fiber.stack.data(), 0, fiber.stack.size()};
      fiber.context.uc_link = &scheduler_;
      makecontext(&fiber.context, enter, 0);
    }
    for (int left = threads; left > 0;)
      for (running_ = 0; running_ < threads; ++running_) {
        Fiber& fiber = *fibers_[std::size_t(running_)];
        if (fiber.done) continue;
        swapcontext(&scheduler_, &fiber.context);
        if (fiber.done) --left;
      }
  }

  Index thread() const { return {unsigned(running_)}; }
  Index block() const { return block_index_; }
  Index size() const { return {unsigned(threads_)}; }
  void wait_block() { wait(barrier_, threads_); }
  void wait_warp() { wait(warp().barrier, 32); }
  /// The values of all lanes, each of which gives one.
  template <class T>
  void share(T mine, T (&all)[32]) {
    static_assert(sizeof(T) <= 8);
    Warp& w = warp();
    std::memcpy(&w.values[running_ % 32], &mine, sizeof mine);
    wait_warp();
    for (int i = 0; i < 32; ++i) std::memcpy(&all[i], &w.values[i], sizeof mine);
    wait_warp();
  }

 private:
  struct Fiber {
    ucontext_t context{};
    std::vector<char> stack = std::vector<char>(32768);
    bool done = false;
  };

  static void enter() {
    Block& block = *current();
    (*block.kernel_)();
    block.fibers_[std::size_t(block.running_)]->done = true;
  }
  Warp& warp() { return warps_[std::size_t(running_) / 32]; }
  void wait(Barrier& barrier, int threads) {
    const std::int64_t generation = barrier.generation;
    if (++barrier.arrived == threads) {
      barrier.arrived = 0;
      ++barrier.generation;
    }
    while (barrier.generation == generation)
      swapcontext(&fibers_[std::size_t(running_)]->context, &scheduler_);
  }

  const std::function<void()>* kernel_ = nullptr;
  Index block_index_;
  int threads_ = 0, running_ = 0;
  ucontext_t scheduler_{};
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Warp> warps_;
  Barrier barrier_;
};

/// kernel<<<blocks, threads>>>(arguments…)
template <class... Parameters, class... Arguments>
void launch(std::int64_t blocks, int threads, void (*kernel)(Parameters...),
            Arguments... arguments) {
  static Block block;
  const std::function<void()> body = [&] { kernel(arguments...); };
  for (std::int64_t i = 0; i < blocks; ++i) block.run({unsigned(i)}, threads, body);
}

}  // namespace perrin::emulation

#define threadIdx (::perrin::emulation::Block::current()->thread())
#define blockIdx (::perrin::emulation::Block::current()->block())
#define blockDim (::perrin::emulation::Block::current()->size())

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
using std::max;
using std::min;

inline void __syncthreads() { ::perrin::emulation::Block::current()->wait_block(); }
inline void __syncwarp() { ::perrin::emulation::Block::current()->wait_warp(); }
template <class T>
T __shfl_sync(unsigned, T value, int lane) {
  T all[32];
  perrin::emulation::Block::current()->share(value, all);
  return all[lane & 31];
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  T all[32];
  const int lane = int(threadIdx.x) % 32;
  perrin::emulation::Block::current()->share(value, all);
  return all[lane ^ mask];
}
template <class T>
T __shfl_up_sync(unsigned, T value, unsigned distance) {
  T all[32];
  const unsigned lane = threadIdx.x % 32;
  perrin::emulation::Block::current()->share(value, all);
  return all[lane < distance ? lane : lane - distance];
}
inline unsigned __ballot_sync(unsigned, bool value) {
  bool all[32];
  perrin::emulation::Block::current()->share(value, all);
  unsigned votes = 0;
  for (int i = 0; i < 32; ++i) votes |= unsigned(all[i]) << i;
  return votes;
}
inline int __popc(unsigned bits) { return std::popcount(bits); }
template <class T>
T __reduce_max_sync(unsigned, T value) {
  T all[32];
  perrin::emulation::Block::current()->share(value, all);
  return *std::max_element(all, all + 32);
}
inline void __threadfence() {}
template <class T>
T atomicAdd(T* to, T value) {
  const T before = *to;
  *to += value;
  return before;
}
template <class T>
T atomicMax(T* to, T value) {
  const T before = *to;
  *to = std::max(before, value);
  return before;
}
