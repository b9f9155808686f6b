// Generators that are made afresh for every history, from (purpose, seed, history): which thread
// runs it does not matter.
#pragma once

#include "loops.h"
#include "rng/keyed.h"

namespace neutron {

using perrin::RunKey;

// Not in an unnamed namespace: nvcc wants names for what instantiates a kernel.
template <class Generator>
PERRIN_HD Generator history_generator(const RunKey& key, std::uint64_t history) {
  return perrin::keyed<Generator>(key, history >> 32, std::uint32_t(history));
}

template <class Generator, class Model>
struct KeyedBody {
  Task<Model> task;
  RunKey key;
  HostSums* sums = nullptr;
  HostRecorder recorder{};
  PERRIN_HD void operator()(std::int64_t i) const {
    Generator g = history_generator<Generator>(key, task.first + std::uint64_t(i));
    run_history<Model>(task, g, recorder, sums->scores);
  }
};

#ifdef __CUDACC__
/// One history to a thread: a warp waits for its longest.
template <class Generator, class Model>
__global__ void __launch_bounds__(block_size)
    simple_kernel(const __grid_constant__ Task<Model> task, const RunKey key) {
  extern __shared__ std::uint32_t memory[];
  const BlockRecorder recorder = begin_block<Model>(task, memory);
  Scores scores;
  const std::uint32_t i = blockIdx.x * block_size + threadIdx.x;
  if (i < task.n) {
    Generator g = history_generator<Generator>(key, task.first + i);
    run_history<Model>(task, g, recorder, scores);
  }
  end_block<Model>(task, scores, recorder);
}

/// As many threads as the device holds. A warp takes portions of the histories from one counter,
/// and deals them out to its lanes as they become idle: not one by one, because beginning a history
/// costs the whole warp as much as a step, but once `refill` lanes wait.
template <class Generator, class Model>
__global__ void __launch_bounds__(block_size)
    persistent_kernel(const __grid_constant__ Task<Model> task, const RunKey key) {
  extern __shared__ std::uint32_t memory[];
  const BlockRecorder recorder = begin_block<Model>(task, memory);
  Scores scores;
  constexpr std::uint32_t portion = 256;
  const unsigned lane = threadIdx.x & 31u;
  std::uint32_t next = 0, end = 0;  // of the warp's portion
  bool dry = false;                 // no histories left to begin
  bool alive = false;
  Generator g;
  typename Model::History history;
  for (;;) {
    const unsigned idle = __ballot_sync(~0u, !alive);
    const int wanted = __popc(idle);
    if (dry) {
      if (idle == ~0u) break;
    } else if (wanted >= task.refill) {
      const int left = int(end - next);
      std::uint32_t fresh = 0;
      if (wanted > left) {
        if (lane == 0) fresh = atomicAdd(task.taken, portion);
        fresh = __shfl_sync(~0u, fresh, 0);
      }
      if (!alive) {
        const int rank = __popc(idle & ((1u << lane) - 1u));
        const std::uint32_t i = rank < left ? next + unsigned(rank) : fresh + unsigned(rank - left);
        if (i < task.n) {
          g = history_generator<Generator>(key, task.first + i);
          history = {};
          alive = true;
        }
      }
      if (wanted > left) {
        next = fresh + unsigned(wanted - left);
        end = fresh + portion;
      } else {
        next += unsigned(wanted);
      }
      dry = next >= task.n;
    }
    if (alive) alive = history.advance(g, task.medium, task.bins, recorder, scores);
  }
  end_block<Model>(task, scores, recorder);
}
#endif

template <class Generator, class Model>
class KeyedTransport : public Transport {
 public:
  KeyedTransport(const Device& device, const TransportSettings& settings)
      : workspace_(device, settings),
        key_(perrin::Purpose::neutron, settings.seed),
        persistent_(settings.persistent) {}

  Batch run(std::uint64_t first, std::int64_t n) override {
    const Task<Model> task = workspace_.begin(first, n);
    const Device& device = workspace_.device();
#ifdef __CUDACC__
    if (device.is_cuda()) {
      const std::size_t shared = shared_bytes(task.bins, Model::observe);
      if (persistent_) {
        const auto kernel = persistent_kernel<Generator, Model>;
        if (blocks_ == 0) blocks_ = resident_blocks(device, kernel, shared);
        perrin::launch(device, "neutron histories, persistent", dim3(blocks_), dim3(block_size),
                       shared, kernel, task, key_);
      } else {
        const auto blocks = unsigned((n + block_size - 1) / block_size);
        perrin::launch(device, "neutron histories, simple", dim3(blocks), dim3(block_size), shared,
                       simple_kernel<Generator, Model>, task, key_);
      }
      return workspace_.collect();
    }
#endif
    KeyedBody<Generator, Model> body{task, key_};
    return run_on_host(device, task.bins, n, body);
  }

 private:
  Workspace<Model> workspace_;
  RunKey key_;
  bool persistent_;
  unsigned blocks_ = 0;
};

}  // namespace neutron
