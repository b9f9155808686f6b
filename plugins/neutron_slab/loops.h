// How histories are spread over the threads of a CPU or GPU: one history per thread (simple), or
// threads that go on with another (persistent). All histories run to their ends in either.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/parallel.h"
#include "settings.h"
#include "transport.h"

namespace neutron {

using perrin::Buffer;
using perrin::Device;

/// What the loops need besides a generator.
struct Task {
  Slab slab;
  Bins bins;
  std::uint64_t first = 0;  // history
  std::uint32_t n = 0;
  // CUDA
  std::uint64_t* scores = nullptr;  // score_slots × Scores::count
  std::uint64_t* recorded = nullptr;
  std::uint32_t* taken = nullptr;  // histories that warps have taken
  int refill = 8;
};

// ---- CPU ----

struct HostRecorder {
  std::int64_t* bins;
  PERRIN_HD void add(int i, std::uint64_t value) const {
    bins[i] = std::int64_t(std::uint64_t(bins[i]) + value);
  }
};

/// A thread's own sums.
struct alignas(64) HostSums {
  Scores scores;
  std::vector<std::int64_t> bins;
};

/// Runs one history with a generator at its disposal.
template <bool Weighted, bool Observe, class Generator, class Recorder>
PERRIN_HD void run_history(const Task& task, Generator& g, Recorder& recorder, Scores& scores) {
  History<Weighted, Observe> history;
  while (history.advance(g, task.slab, task.bins, recorder, scores)) {
  }
}

/// body(i, sums) for 0 ≤ i < n, spread over the threads; Body is a struct template member
/// `operator()(std::int64_t) const` after `sums` was set.
template <class Body>
Batch run_on_host(const Device& device, const Bins& bins, std::int64_t n, const Body& body) {
  std::vector<HostSums> all(std::size_t(device.threads()));
  for (HostSums& sums : all) sums.bins.resize(std::size_t(bins.size()));
  // Histories differ in length, and of generators with a state there may be few.
  const std::int64_t portion = std::clamp<std::int64_t>(n / (device.threads() * 8), 1, 256);
  perrin::for_tasks(device, (n + portion - 1) / portion, [&](std::int64_t p, int thread) {
    HostSums& sums = all[std::size_t(thread)];
    Body mine = body;
    mine.sums = &sums;
    mine.recorder = {sums.bins.data()};
    perrin::run_range(mine, p * portion, std::min((p + 1) * portion, n));
  });
  Batch batch;
  batch.bins.resize(std::size_t(bins.size()));
  for (const HostSums& sums : all) {
    for (int k = 0; k < Scores::count; ++k) batch.scores.sum[k] += sums.scores.sum[k];
    for (std::size_t k = 0; k < sums.bins.size(); ++k) batch.bins[k] += sums.bins[k];
  }
  return batch;
}

/// Buffers of a transport, and the sums brought home.
class Workspace {
 public:
  Workspace(const Device& device, const TransportSettings& settings)
      : device_(device),
        weighted_(settings.weighted),
        edges_(device, std::span<const float>(settings.edges)) {
    task_.slab = settings.slab;
    task_.bins = {edges_.data(), std::max(int(settings.edges.size()) - 1, 0), settings.angles};
    task_.refill = settings.refill;
    if (!device.is_cuda()) return;
    scores_ = Buffer<std::uint64_t>(device, score_slots * Scores::count);
    recorded_ = Buffer<std::uint64_t>(device, task_.bins.size());
    taken_ = Buffer<std::uint32_t>(device, 1);
    task_.scores = scores_.data();
    task_.recorded = recorded_.data();
    task_.taken = taken_.data();
  }

  Task begin(std::uint64_t first, std::int64_t n) {
    PERRIN_ASSERT(double(n) <= largest_batch(double(task_.slab.thickness), weighted_));
    Task task = task_;
    task.first = first;
    task.n = std::uint32_t(n);
    if (device_.is_cuda()) {
      scores_.zero();
      recorded_.zero();
      taken_.zero();
    }
    return task;
  }
  Batch collect() const {
    Batch batch;
    const auto scores = scores_.to_host();
    for (std::size_t i = 0; i < scores.size(); ++i)
      batch.scores.sum[i % Scores::count] += scores[i];
    for (const std::uint64_t value : recorded_.to_host()) batch.bins.push_back(std::int64_t(value));
    return batch;
  }
  const Device& device() const { return device_; }

  /// Blocks add to different places, so that they do not wait for one another.
  static constexpr int score_slots = 64;

 private:
  Device device_;
  bool weighted_;
  Buffer<float> edges_;
  Buffer<std::uint64_t> scores_, recorded_;
  Buffer<std::uint32_t> taken_;
  Task task_;
};

// ---- CUDA ----

#ifdef __CUDACC__
constexpr int block_size = 256;

/// A block's bins in shared memory: 64-bit sums as two words, since only 32-bit atomics are fast
/// there.
struct BlockRecorder {
  std::uint32_t* low;
  std::uint32_t* high;
  // Host code of it is never run.
  PERRIN_HD void add(int i, std::uint64_t value) const {
#ifdef __CUDA_ARCH__
    const std::uint32_t word = std::uint32_t(value);
    const std::uint32_t before = atomicAdd(low + i, word);
    const std::uint32_t carry = std::uint32_t(value >> 32) + (before + word < before ? 1u : 0u);
    if (carry != 0) atomicAdd(high + i, carry);
#else
    (void)i, (void)value;
#endif
  }
};

/// Shared memory of a kernel in bytes.
inline std::size_t shared_bytes(const Bins& bins, bool observe) {
  return observe ? std::size_t(bins.size()) * 8 : 0;
}

template <bool Observe>
__device__ BlockRecorder begin_block(const Task& task, std::uint32_t* memory) {
  BlockRecorder recorder{memory, memory + task.bins.size()};
  if constexpr (Observe) {
    for (int i = int(threadIdx.x); i < 2 * task.bins.size(); i += int(blockDim.x)) memory[i] = 0;
    __syncthreads();
  }
  return recorder;
}

/// Adds a block's sums to those of the device; every thread of the block comes here.
template <bool Weighted, bool Observe>
__device__ void end_block(const Task& task, const Scores& scores, const BlockRecorder& recorder) {
  constexpr int used = Scores::used(Weighted);
  __shared__ unsigned long long total[used];
  if (int(threadIdx.x) < used) total[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < used; ++k) {
    unsigned long long value = scores.sum[k];
    for (int half = 16; half > 0; half /= 2) value += __shfl_down_sync(~0u, value, half);
    if ((threadIdx.x & 31u) == 0 && value != 0) atomicAdd(total + k, value);
  }
  __syncthreads();
  const int slot = int(blockIdx.x) % Workspace::score_slots * Scores::count;
  auto* out = reinterpret_cast<unsigned long long*>(task.scores);
  if (int(threadIdx.x) < used) atomicAdd(out + slot + threadIdx.x, total[threadIdx.x]);
  if constexpr (Observe) {
    auto* bins = reinterpret_cast<unsigned long long*>(task.recorded);
    for (int i = int(threadIdx.x); i < task.bins.size(); i += int(blockDim.x)) {
      const unsigned long long value =
          (static_cast<unsigned long long>(recorder.high[i]) << 32) | recorder.low[i];
      if (value != 0) atomicAdd(bins + i, value);
    }
  }
}

/// Blocks that fit on the device at a time.
template <class Kernel>
unsigned resident_blocks(const Device& device, Kernel kernel, std::size_t shared) {
  int per_processor = 0;
  perrin::check_cuda(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel, block_size, shared),
      "occupancy of the neutron kernel");
  return unsigned(std::max(per_processor, 1) * device.multiprocessors());
}
#endif

}  // namespace neutron
