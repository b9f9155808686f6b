// Generators with a state that is carried on. There is a fixed number of them, the streams, each
// with a fixed share of every batch: histories s, s + streams, s + 2·streams, … So the result
// depends on the number of streams, but neither on the kernel nor on which threads serve them, nor
// on which process: each of several has contiguous streams of its own.
#include <algorithm>
#include <string>

#include "dealt_out.h"
#include "engine/core/error.h"
#include "loops.h"
#include "rng/keyed.h"
#include "rng/per_particle.h"

namespace neutron {

/// How many of n histories fall to stream s.
PERRIN_HD std::uint32_t share(std::uint32_t n, std::uint32_t streams, std::uint32_t s) {
  return s < n ? (n - s - 1) / streams + 1 : 0;
}

/// The streams' states in device memory, as rng/stream.h keeps those of particles.
template <class Kept>
struct StreamView {
  std::uint32_t* words;
  const std::uint32_t* parameters;
  std::uint64_t* drawn;  // numbers, by stream, where the period can be used up
  std::uint32_t streams;
  std::uint32_t first, end;  // of this process

  PERRIN_HD typename Kept::Local load(std::uint32_t s) const {
    return Kept::load({words + s, std::int64_t(streams)}, parameters, s);
  }
  PERRIN_HD void save(std::uint32_t s, typename Kept::Local& g) const {
    const int count = Kept::save({words + s, std::int64_t(streams)}, g);
    if constexpr (Kept::period != 0) drawn[s] += std::uint64_t(std::uint32_t(count));
  }
};

template <class Kept, bool Weighted, bool Observe>
struct StreamBody {
  Task task;
  StreamView<Kept> view;
  HostSums* sums = nullptr;
  HostRecorder recorder{};
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t s = view.first + std::uint32_t(i);
    auto g = view.load(s);
    for (std::uint32_t k = share(task.n, view.streams, s); k > 0; --k)
      run_history<Weighted, Observe>(task, g, recorder, sums->scores);
    view.save(s, g);
  }
};

#ifdef __CUDACC__
template <class Kept, bool Weighted, bool Observe>
__global__ void __launch_bounds__(block_size)
    stream_kernel(const __grid_constant__ Task task, const StreamView<Kept> view) {
  extern __shared__ std::uint32_t memory[];
  const BlockRecorder recorder = begin_block<Observe>(task, memory);
  Scores scores;
  const std::uint32_t s = view.first + blockIdx.x * block_size + threadIdx.x;
  if (s < view.end) {
    std::uint32_t left = share(task.n, view.streams, s);
    if (left > 0) {
      auto g = view.load(s);
      History<Weighted, Observe> history;
      // One loop over steps, not one over histories around one over steps: a lane whose history
      // ends begins the next one at once.
      while (left > 0)
        if (!history.advance(g, task.slab, task.bins, recorder, scores)) {
          history = {};
          --left;
        }
      view.save(s, g);
    }
  }
  end_block<Weighted, Observe>(task, scores, recorder);
}
#endif

template <class Generator, bool Weighted, bool Observe>
class StreamTransport : public Transport {
  using Kept = perrin::PerParticle<Generator>;

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
    Task task = workspace_.begin(first, n);
    const Device& device = workspace_.device();
    const StreamView<Kept> view = this->view();
    const std::uint32_t own = view.end - view.first;
#ifdef __CUDACC__
    if (device.is_cuda()) {
      const std::size_t shared = shared_bytes(task.bins, Observe);
      const auto blocks = dim3((own + block_size - 1) / block_size);
      // Simple: a launch gives each stream one history. The order in which a stream runs its share
      // is the same.
      const std::int64_t most = persistent_ ? n : streams_;
      for (std::int64_t done = 0; done < n && own > 0; done += most) {
        task.n = std::uint32_t(std::min(most, n - done));
        perrin::launch(device, "neutron histories, streams", blocks, dim3(block_size), shared,
                       stream_kernel<Kept, Weighted, Observe>, task, view);
      }
      return finished(workspace_.collect());
    }
#endif
    StreamBody<Kept, Weighted, Observe> body{task, view};
    return finished(run_on_host(device, task.bins, own, body));
  }

  void state(perrin::Archive& archive) override {
    auto words = words_.to_host();
    if (archive.is_saving()) gather_rows(words, streams_);
    const std::size_t size = words.size();
    archive("words", words);
    if (words.size() != size)
      throw perrin::UserError(
          "neutron_slab: the checkpoint is of another generator or number of streams; set `streams`"
          " where it is to be resumed on another device");
    if constexpr (Kept::period != 0) {
      if (archive.is_saving()) {
        auto drawn = drawn_.to_host();
        gather_rows(drawn, streams_);
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
    const int rank = perrin::Processes::world().rank();
    return {words_.data(),
            parameters_.data(),
            drawn_.data(),
            streams_,
            std::uint32_t(share_begin(streams_, rank)),
            std::uint32_t(share_begin(streams_, rank + 1))};
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
      if (std::uint64_t(perrin::Processes::world().max(most)) > Kept::period)
        throw perrin::RunError(std::string("neutron_slab: generator ") + Kept::name +
                               " is exhausted: a stream has used up its period of " +
                               std::to_string(Kept::period) +
                               " numbers; choose another generator or more streams");
    }
  }

  Workspace workspace_;
  bool persistent_;
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

template <bool Weighted, bool Observe>
struct TwisterBody {
  Task task;
  perrin::Mt19937* generators;
  std::uint32_t streams, first;  // `first`: of this process
  HostSums* sums = nullptr;
  HostRecorder recorder{};
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t s = first + std::uint32_t(i);
    HostTwister g(generators + s);
    for (std::uint32_t k = share(task.n, streams, s); k > 0; --k)
      run_history<Weighted, Observe>(task, g, recorder, sums->scores);
  }
};

template <bool Weighted, bool Observe>
class TwisterTransport : public Transport {
 public:
  TwisterTransport(const Device& device, const TransportSettings& settings)
      : workspace_(device, settings) {
    if (device.is_cuda())
      throw perrin::UserError("generator mt19937 runs on the CPU alone, got the device " +
                              device.name());
    const std::int64_t streams = settings.streams == 0 ? 512 : settings.streams;
    const perrin::RunKey key(perrin::Purpose::neutron, settings.seed);
    for (std::uint32_t s = 0; s < std::uint32_t(streams); ++s)
      generators_.emplace_back(perrin::keyed<perrin::Philox>(key, ~std::uint64_t(0), s).next());
  }
  Batch run(std::uint64_t first, std::int64_t n) override {
    const Task task = workspace_.begin(first, n);
    const auto streams = std::uint32_t(generators_.size());
    const int rank = perrin::Processes::world().rank();
    const std::int64_t begin = share_begin(streams, rank), end = share_begin(streams, rank + 1);
    TwisterBody<Weighted, Observe> body{task, generators_.data(), streams, std::uint32_t(begin)};
    Batch batch = run_on_host(workspace_.device(), task.bins, end - begin, body);
    sum_over_processes(batch);
    return batch;
  }
  void state(perrin::Archive& archive) override {
    const std::size_t size = generators_.size();
    if (archive.is_saving()) gather_rows(generators_, std::int64_t(size));
    archive("generators", generators_);
    if (generators_.size() != size)
      throw perrin::UserError("neutron_slab: the checkpoint is of another number of streams");
    for (const auto& g : generators_)
      archive.require(g.valid(), "generators", "states of the generator mt19937");
  }

 private:
  Workspace workspace_;
  std::vector<perrin::Mt19937> generators_;
};

namespace {

template <template <bool, bool> class Made>
std::unique_ptr<Transport> choose(const Device& device, const TransportSettings& s) {
  const bool observe = !s.edges.empty() || s.angles > 0;
  if (s.weighted && observe) return std::make_unique<Made<true, true>>(device, s);
  if (s.weighted) return std::make_unique<Made<true, false>>(device, s);
  if (observe) return std::make_unique<Made<false, true>>(device, s);
  return std::make_unique<Made<false, false>>(device, s);
}

template <class Generator>
struct Streams {
  template <bool Weighted, bool Observe>
  using Made = StreamTransport<Generator, Weighted, Observe>;
};

}  // namespace

std::unique_ptr<Transport> make_stream_transport(const Device& device, const TransportSettings& s) {
  const std::string& g = s.generator;
  if (g == "saru_state") return choose<Streams<perrin::Saru>::Made>(device, s);
  if (g == "hybrid_taus") return choose<Streams<perrin::HybridTaus>::Made>(device, s);
  if (g == "ran2") return choose<Streams<perrin::Ran2>::Made>(device, s);
  if (g == "lcg") return choose<Streams<perrin::Lcg>::Made>(device, s);
  if (g == "park_miller") return choose<Streams<perrin::ParkMiller>::Made>(device, s);
  if (g == "mt607") return choose<Streams<perrin::Mt607Generator>::Made>(device, s);
  if (g == "mt19937") return choose<TwisterTransport>(device, s);
  return nullptr;
}

}  // namespace neutron
