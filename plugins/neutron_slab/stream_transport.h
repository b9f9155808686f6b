// Generators with a state that is carried on. There is a fixed number of them, the streams, each
// with a fixed share of every batch: histories s, s + streams, s + 2·streams, … So the result
// depends on the number of streams, but neither on the kernel nor on which threads serve them, nor
// on which process: each of several has contiguous streams of its own.
#pragma once

#include <algorithm>
#include <string>

#include "distributed_transport.h"
#include "engine/base/error.h"
#include "engine/communicator/agreement.h"
#include "engine/domain/work_distribution.h"
#include "loops.h"
#include "rng/keyed.h"
#include "rng/per_particle.h"

namespace neutron {

using perrin::StridedWords;

/// How many of n histories fall to stream s.
PERRIN_HD std::uint32_t share(std::uint32_t n, std::uint32_t streams, std::uint32_t s) {
  return s < n ? (n - s - 1) / streams + 1 : 0;
}

/// Where a thread has a generator's state while it runs its histories: in the memory of the
/// streams itself.
template <class Generator>
struct InMemory : perrin::PerParticle<Generator> {
  using Kept = perrin::PerParticle<Generator>;
  static constexpr int scratch = 0;  // words of shared memory for each thread
  /// Blocks that the registers of a multiprocessor must suffice for.
  template <class Model>
  static constexpr int resident() {
    return 1;
  }
  PERRIN_HD static typename Kept::Local load(StridedWords w, const std::uint32_t* parameters,
                                             std::uint32_t s, StridedWords) {
    return Kept::load(w, parameters, s);
  }
  PERRIN_HD static int save(StridedWords w, typename Kept::Local& g, StridedWords) {
    return Kept::save(w, g);
  }
};

/// MT607 in shared memory. Words lie a block apart: whatever places of their states the threads of
/// a warp are at, each has a bank of its own.
struct Mt607InShared : InMemory<perrin::Mt607Generator> {
  static constexpr int scratch = words;
  template <class Model>
  static constexpr int resident() {
    return 4;
  }
  PERRIN_HD static Local load(StridedWords w, const std::uint32_t* parameters, std::uint32_t s,
                              StridedWords own) {
#pragma unroll 4
    for (int i = 0; i < words; ++i) own[i] = w[i];
    return Kept::load(own, parameters, s);
  }
  PERRIN_HD static int save(StridedWords w, Local& g, StridedWords own) {
    g.save();
    for (int i = 0; i < words; ++i) w[i] = own[i];
    return 0;
  }
};

/// MT607 in registers: as many blocks as fit without spilling any (sm_90).
struct Mt607InRegisters : InMemory<perrin::Mt607Generator> {
  using Local = perrin::Mt607Registers;
  template <class Model>
  static constexpr int resident() {
    return (Model::weighted ? 3 : 4) - (std::is_same_v<typename Model::Medium, Slab> ? 0 : 1);
  }
  PERRIN_HD static Local load(StridedWords w, const std::uint32_t* parameters, std::uint32_t s,
                              StridedWords) {
    return Local(Kept::parameters_of(parameters, s), w);
  }
  PERRIN_HD static int save(StridedWords w, const Local& g, StridedWords) {
    g.save(w);
    return 0;
  }
};

/// The streams' states in device memory, as rng/stream.h keeps those of particles.
template <class Kept>
struct StreamView {
  std::uint32_t* words;
  const std::uint32_t* parameters;
  std::uint64_t* drawn;  // numbers, by stream, where the period can be used up
  std::uint32_t streams;
  std::uint32_t first, end;  // of this process

  PERRIN_HD typename Kept::Local load(std::uint32_t s, StridedWords own) const {
    return Kept::load({words + s, std::int64_t(streams)}, parameters, s, own);
  }
  PERRIN_HD void save(std::uint32_t s, typename Kept::Local& g, StridedWords own) const {
    const int count = Kept::save({words + s, std::int64_t(streams)}, g, own);
    if constexpr (Kept::period != 0) drawn[s] += std::uint64_t(std::uint32_t(count));
  }
};

template <class Kept, class Model>
struct StreamBody {
  Task<Model> task;
  StreamView<Kept> view;
  HostSums* sums = nullptr;
  HostRecorder recorder{};
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t s = view.first + std::uint32_t(i);
    std::uint32_t scratch[Kept::scratch + 1];
    const StridedWords own{scratch, 1};
    auto g = view.load(s, own);
    for (std::uint32_t k = share(task.n, view.streams, s); k > 0; --k)
      run_history<Model>(task, g, recorder, sums->scores);
    view.save(s, g, own);
  }
};

#ifdef __CUDACC__
/// A thread takes the stream of its number, and the next that nobody has when it is through with
/// one: streams are of different lengths. It runs what `n` histories leave to each.
template <class Kept, class Model>
__global__ void __launch_bounds__(block_size, Kept::template resident<Model>())
    stream_kernel(const __grid_constant__ Task<Model> task, const StreamView<Kept> view) {
  extern __shared__ std::uint32_t memory[];
  const StridedWords own{memory + threadIdx.x, block_size};
  const BlockRecorder recorder = begin_block<Model>(task, memory + Kept::scratch * block_size);
  Scores scores;
  const std::uint32_t end = view.end < task.n ? view.end : task.n;  // those beyond have no history
  std::uint32_t s = view.first + blockIdx.x * blockDim.x + threadIdx.x;
  if (s < end) {
    auto g = view.load(s, own);
    std::uint32_t left = share(task.n, view.streams, s);
    typename Model::History history;
    // One loop over steps, not one over histories around one over steps: a lane whose history ends
    // begins the next one at once.
    for (;;) {
      if (history.advance(g, task.medium, task.bins, recorder, scores)) continue;
      history = {};
      if (--left > 0) continue;
      view.save(s, g, own);
      s = view.first + gridDim.x * blockDim.x + atomicAdd(task.taken, 1u);
      if (s >= end) break;
      g = view.load(s, own);
      left = share(task.n, view.streams, s);
    }
  }
  end_block<Model>(task, scores, recorder);
}
#endif

template <class Kept, class Model>
class StreamTransport : public Transport {
 public:
  StreamTransport(const Device& device, const TransportSettings& settings)
      : workspace_(device, settings), persistent_(settings.persistent) {
    std::int64_t streams = settings.streams;
    // Own MT607 parameters for each on a CPU; on a GPU enough to fill it (simple: far more than it
    // holds, since each runs one history and stops).
    if (streams == 0) streams = !device.is_cuda() ? 512 : persistent_ ? 1 << 18 : 1 << 20;
    streams_ = std::uint32_t(streams);
    const perrin::RunKey key(perrin::Purpose::neutron, settings.seed);
    std::vector<std::uint32_t> host(std::size_t(streams) * Kept::words);
    std::uint32_t own[Kept::words];
    for (std::uint32_t s = 0; s < streams_; ++s) {
      auto source = perrin::keyed<perrin::Philox>(key, ~std::uint64_t(0), s);
      Kept::seed(own, source);
      for (int i = 0; i < Kept::words; ++i) host[std::size_t(i) * streams_ + s] = own[i];
    }
    words_ = Buffer<std::uint32_t>(device, std::span<const std::uint32_t>(host));
    const auto parameters = Kept::parameters();
    parameters_ = Buffer<std::uint32_t>(device, std::span<const std::uint32_t>(parameters));
    drawn_ = Buffer<std::uint64_t>(device, Kept::period != 0 ? streams : 0);
  }

  Batch run(std::uint64_t first, std::int64_t n) override {
    Task<Model> task = workspace_.begin(first, n);
    const Device& device = workspace_.device();
    const StreamView<Kept> view = this->view();
    const std::uint32_t own = view.end - view.first;
#ifdef __CUDACC__
    if (device.is_cuda()) {
      const std::size_t shared =
          Kept::scratch * block_size * 4 + shared_bytes(task.bins, Model::observe);
      // Few streams are spread over all multiprocessors.
      const auto processors = std::uint32_t(device.multiprocessors());
      const std::uint32_t even = ((own + processors - 1) / processors + 31) / 32 * 32;
      const std::uint32_t threads = std::clamp<std::uint32_t>(even, 32, block_size);
      if constexpr (Kept::scratch > 0)
        perrin::check_cuda(
            cudaFuncSetAttribute(stream_kernel<Kept, Model>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
            "shared memory of the neutron kernel");
      std::uint32_t blocks = (own + threads - 1) / threads;
      // Simple: a launch gives each stream one history and a thread of its own. The order in which
      // a stream runs its share is the same.
      const std::int64_t most = persistent_ ? n : streams_;
      if (persistent_) {
        if (resident_ == 0) resident_ = resident_blocks(device, stream_kernel<Kept, Model>, shared);
        blocks = std::min(blocks, resident_ * (block_size / threads));
      }
      for (std::int64_t done = 0; done < n && own > 0; done += most) {
        task.n = std::uint32_t(std::min(most, n - done));
        perrin::launch(device, "neutron histories, streams", dim3(blocks), dim3(threads), shared,
                       stream_kernel<Kept, Model>, task, view);
      }
      return finished(workspace_.collect());
    }
#endif
    StreamBody<Kept, Model> body{task, view};
    return finished(run_on_host(device, task.bins, own, body));
  }

  void state(perrin::Archive& archive) override {
    auto words = words_.to_host();
    if (archive.is_saving()) perrin::WorkDistribution(streams_).gather(words);
    const std::size_t size = words.size();
    archive("words", words);
    if (words.size() != size)
      throw perrin::UserError(
          "neutron_slab: the checkpoint has another generator or number of streams; to resume on "
          "another device, set `streams`");
    if constexpr (Kept::period != 0) {
      if (archive.is_saving()) {
        auto drawn = drawn_.to_host();
        perrin::WorkDistribution(streams_).gather(drawn);
        drawn_.assign(drawn);
      }
      archive("drawn", drawn_);
      for (const std::uint64_t drawn : drawn_.to_host())
        archive.require(drawn <= Kept::period, "drawn", "at most the generator's period");
    }
    if (archive.is_saving()) return;
    words_.assign(words);
    for (std::uint32_t s = 0; s < streams_; ++s)
      archive.require(Kept::valid({words.data() + s, std::int64_t(streams_)}), "words",
                      std::string("states of the generator ") + Kept::name);
  }

 private:
  StreamView<Kept> view() {
    const perrin::Share own = perrin::WorkDistribution(streams_).own();
    return {words_.data(), parameters_.data(),       drawn_.data(),
            streams_,      std::uint32_t(own.begin), std::uint32_t(own.end)};
  }

  Batch finished(Batch batch) const {
    sum_over_processes(batch);
    check_period();
    return batch;
  }

  void check_period() const {
    if constexpr (Kept::period != 0) {
      const auto drawn = drawn_.to_host();
      const auto most = std::int64_t(*std::max_element(drawn.begin(), drawn.end()));
      if (std::uint64_t(perrin::agreed_max(most)) > Kept::period)
        throw perrin::RunError(std::string("neutron_slab: generator ") + Kept::name +
                               " is exhausted: a stream has used its whole period of " +
                               std::to_string(Kept::period) +
                               " numbers; choose another generator or more streams");
    }
  }

  Workspace<Model> workspace_;
  bool persistent_;
  unsigned resident_ = 0;  // blocks that fit on the device at a time
  std::uint32_t streams_ = 0;
  Buffer<std::uint32_t> words_, parameters_;
  Buffer<std::uint64_t> drawn_;
};

/// A reference to an MT19937, which has no device code.
class HostTwister : public perrin::Distributions<HostTwister> {
 public:
  PERRIN_HD explicit HostTwister(perrin::Mt19937* g) : g_(g) {}
  PERRIN_HD std::uint32_t next() {
#ifdef __CUDA_ARCH__
    return 0;
#else
    return g_->next();
#endif
  }

 private:
  perrin::Mt19937* g_;
};

template <class Model>
struct TwisterBody {
  Task<Model> task;
  perrin::Mt19937* generators;
  std::uint32_t streams, first;  // `first`: of this process
  HostSums* sums = nullptr;
  HostRecorder recorder{};
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t s = first + std::uint32_t(i);
    HostTwister g(generators + s);
    for (std::uint32_t k = share(task.n, streams, s); k > 0; --k)
      run_history<Model>(task, g, recorder, sums->scores);
  }
};

template <class Model>
class TwisterTransport : public Transport {
 public:
  TwisterTransport(const Device& device, const TransportSettings& settings)
      : workspace_(device, settings) {
    if (device.is_cuda())
      throw perrin::UserError("generator mt19937 runs only on the CPU, got the device " +
                              device.name());
    const std::int64_t streams = settings.streams == 0 ? 512 : settings.streams;
    const perrin::RunKey key(perrin::Purpose::neutron, settings.seed);
    for (std::uint32_t s = 0; s < std::uint32_t(streams); ++s)
      generators_.emplace_back(perrin::keyed<perrin::Philox>(key, ~std::uint64_t(0), s).next());
  }
  Batch run(std::uint64_t first, std::int64_t n) override {
    const Task<Model> task = workspace_.begin(first, n);
    const auto streams = std::uint32_t(generators_.size());
    const perrin::Share own = perrin::WorkDistribution(streams).own();
    TwisterBody<Model> body{task, generators_.data(), streams, std::uint32_t(own.begin)};
    Batch batch = run_on_host(workspace_.device(), task.bins, own.size(), body);
    sum_over_processes(batch);
    return batch;
  }
  void state(perrin::Archive& archive) override {
    const std::size_t size = generators_.size();
    if (archive.is_saving()) perrin::WorkDistribution(std::int64_t(size)).gather(generators_);
    archive("generators", generators_);
    if (generators_.size() != size)
      throw perrin::UserError("neutron_slab: the checkpoint has another number of streams");
    for (const auto& g : generators_)
      archive.require(g.valid(), "generators", "states of the generator mt19937");
  }

 private:
  Workspace<Model> workspace_;
  std::vector<perrin::Mt19937> generators_;
};

template <class Kept>
struct Streams {
  template <class Model>
  using Made = StreamTransport<Kept, Model>;
};

/// choose.template operator()<T>(), T being a template of the model, for the generator that is
/// named; nullptr where it is none of these.
template <class Choose>
std::unique_ptr<Transport> with_stream_of(const Device& device, const TransportSettings& settings,
                                          const Choose& choose) {
  const std::string& generator = settings.generator;
  if (generator == "saru_state")
    return choose.template operator()<Streams<InMemory<perrin::Saru>>::Made>();
  if (generator == "hybrid_taus")
    return choose.template operator()<Streams<InMemory<perrin::HybridTaus>>::Made>();
  if (generator == "ran2")
    return choose.template operator()<Streams<InMemory<perrin::Ran2>>::Made>();
  if (generator == "lcg") return choose.template operator()<Streams<InMemory<perrin::Lcg>>::Made>();
  if (generator == "park_miller")
    return choose.template operator()<Streams<InMemory<perrin::ParkMiller>>::Made>();
  if (generator == "mt607") {
    using Place = TransportSettings::TwisterState;
    Place place = settings.twister_state;
    if (place == Place::automatic) place = device.is_cuda() ? Place::registers : Place::memory;
    if (place == Place::registers)
      return choose.template operator()<Streams<Mt607InRegisters>::Made>();
    if (place == Place::shared) return choose.template operator()<Streams<Mt607InShared>::Made>();
    return choose.template operator()<Streams<InMemory<perrin::Mt607Generator>>::Made>();
  }
  if (generator == "mt19937") return choose.template operator()<TwisterTransport>();
  return nullptr;
}

}  // namespace neutron
