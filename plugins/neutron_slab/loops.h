// How histories are spread over the threads of a CPU or GPU: one history per thread (simple), or
// threads that go on with another (persistent). All histories run to their ends in either.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "energy_history.h"
#include "engine/device/parallel.h"
#include "settings.h"
#include "transport.h"

namespace neutron {

using perrin::Buffer;
using perrin::Device;

/// Neutrons of one speed.
template <bool Weighted, bool Observe>
struct OneSpeed {
  static constexpr bool weighted = Weighted, observe = Observe;
  using Medium = Slab;
  using History = neutron::History<Weighted, Observe>;
};
/// Neutrons with energies.
template <bool Weighted>
struct WithEnergies {
  static constexpr bool weighted = Weighted, observe = true;
  using Medium = Media;
  using History = EnergyHistory<Weighted>;
};

/// What the loops need besides a generator.
template <class Model>
struct Task {
  typename Model::Medium medium;
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
template <class Model, class Generator, class Recorder>
PERRIN_HD void run_history(const Task<Model>& task, Generator& g, Recorder& recorder,
                           Scores& scores) {
  typename Model::History history;
  while (history.advance(g, task.medium, task.bins, recorder, scores)) {
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

/// Blocks add to different places, so that they do not wait for one another.
constexpr int score_slots = 64;

/// Buffers of a transport, and the sums brought home.
template <class Model>
class Workspace {
 public:
  Workspace(const Device& device, const TransportSettings& settings)
      : device_(device), largest_(settings.largest_batch()) {
    if constexpr (std::is_same_v<typename Model::Medium, Slab>) {
      edges_ = Buffer<float>(device, std::span<const float>(settings.edges));
      task_.medium = settings.slab;
      task_.bins = {edges_.data(), std::max(int(settings.edges.size()) - 1, 0), settings.angles};
    } else {
      const EnergyProblem& problem = *settings.problem;
      table_ = Buffer<CrossSections>(device, std::span<const CrossSections>(problem.table));
      x_ = Buffer<float>(device, std::span<const float>(problem.spectrum.x));
      slant_ = Buffer<float>(device, std::span<const float>(problem.spectrum.slant));
      until_ =
          Buffer<std::uint32_t>(device, std::span<const std::uint32_t>(problem.spectrum.until));
      task_.medium = problem.media;
      task_.medium.table = table_.data();
      task_.medium.source.table = {x_.data(), slant_.data(), until_.data(),
                                   int(problem.spectrum.until.size())};
      task_.bins = {nullptr, problem.depth_bins, settings.angles, problem.energy_bins};
    }
    task_.refill = settings.refill;
    if (!device.is_cuda()) return;
    scores_ = Buffer<std::uint64_t>(device, score_slots * Scores::count);
    recorded_ = Buffer<std::uint64_t>(device, task_.bins.size());
    taken_ = Buffer<std::uint32_t>(device, 1);
    task_.scores = scores_.data();
    task_.recorded = recorded_.data();
    task_.taken = taken_.data();
  }

  Task<Model> begin(std::uint64_t first, std::int64_t n) {
    PERRIN_ASSERT(double(n) <= largest_);
    Task<Model> task = task_;
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

 private:
  Device device_;
  double largest_;
  Buffer<float> edges_, x_, slant_;
  Buffer<CrossSections> table_;
  Buffer<std::uint32_t> until_;
  Buffer<std::uint64_t> scores_, recorded_;
  Buffer<std::uint32_t> taken_;
  Task<Model> task_;
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

template <class Model>
__device__ BlockRecorder begin_block(const Task<Model>& task, std::uint32_t* memory) {
  BlockRecorder recorder{memory, memory + task.bins.size()};
  if constexpr (Model::observe) {
    for (int i = int(threadIdx.x); i < 2 * task.bins.size(); i += int(blockDim.x)) memory[i] = 0;
    __syncthreads();
  }
  return recorder;
}

/// Adds a block's sums to those of the device; every thread of the block comes here.
template <class Model>
__device__ void end_block(const Task<Model>& task, const Scores& scores,
                          const BlockRecorder& recorder) {
  constexpr int used = Scores::used(Model::weighted);
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
  const int slot = int(blockIdx.x) % score_slots * Scores::count;
  auto* out = reinterpret_cast<unsigned long long*>(task.scores);
  if (int(threadIdx.x) < used) atomicAdd(out + slot + threadIdx.x, total[threadIdx.x]);
  if constexpr (Model::observe) {
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
