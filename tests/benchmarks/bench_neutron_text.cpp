// perrin-bench neutron-text: what the neutron text asks and reports, in the slab Σ = 1.1, Σs = 1,
// h = 10. One line of JSON each for
//  - threads that make a fixed number of steps and begin anew where a history ends, as in the
//    text's appendix: T, R, collisions and flux against the deterministic solution, per history
//    that ended and per history that was begun; and the same where the first steps of each thread
//    are not counted (its § 3.2.6: is that nearer to a stationary flux?);
//  - histories per second against the number of threads, each with an MT607 stream of its own
//    (Figures 3.4 to 3.6): the simple kernel, where as many neutrons as threads are one launch, and
//    the persistent one; with the twister's state in memory, in shared memory and in registers;
//  - the raw rate of MT607, likewise;
//  - the figure of merit 1 / (relative error² · seconds) of T, R and the flux by both estimators.
// The step limits are simulated on the CPU; the plug-in has none. --parts chooses: limits, threads,
// raw, merit.
#include <algorithm>
#include <cmath>
#include <string>

#include "engine/device/parallel.h"
#include "plugins/neutron_slab/loops.h"
#include "plugins/neutron_slab/results.h"
#include "plugins/neutron_slab/stream_transport.h"
#include "rng/keyed.h"
#include "rng/per_particle.h"
#include "tests/benchmarks/bench.h"
#include "tests/plugins/neutron_reference.h"

namespace perrin::bench {

// Not in an unnamed namespace: nvcc wants names for what instantiates a kernel.

/// Numbers of one MT607 stream after another. Kept: where a thread has its state meanwhile.
template <class Kept>
struct RawMt607 {
  std::uint32_t* words;
  const std::uint32_t* parameters;
  std::uint32_t* out;
  std::int64_t streams;
  int numbers;
  PERRIN_HD void operator()(std::int64_t i) const {
    auto g = Kept::load({words + i, streams}, parameters, std::uint32_t(i), {});
    std::uint32_t sum = 0;
#pragma unroll 19  // the words of a state: in registers nothing is moved then
    for (int k = 0; k < numbers; ++k) sum ^= g.next();
    out[i] = sum;
    Kept::save({words + i, streams}, g, {});
  }
};

namespace {

using namespace neutron;

const std::vector<Layer>& text_slab() {
  static const std::vector<Layer> layers{{10, 1.1, 1.0}};
  return layers;
}
constexpr int depth_bins = 10;

struct Exact {
  reference::Solution solution;
  std::vector<double> flux;  // means over the bins
};
const Exact& exact() {
  static const Exact e = [] {
    Exact result;
    std::vector<double> density;
    const auto coarse = reference::integral_equation(text_slab(), 400);
    const auto fine = reference::integral_equation(text_slab(), 800, &density);
    result.solution = reference::extrapolated(coarse, fine);
    result.flux = reference::bin_means(reference::Mesh(text_slab(), 800), density, depth_bins);
    return result;
  }();
  return e;
}

// ---- A fixed number of steps ----

struct Tally {
  Scores scores;
  std::vector<std::int64_t> bins;
  std::int64_t begun = 0, ended = 0;
};

/// Walkers first … last - 1: `skipped` steps each that are not counted, then `steps` that are.
template <bool Weighted>
void walk(const Slab& slab, const Cells& cells, std::int64_t first, std::int64_t last, int skipped,
          int steps, Tally& tally) {
  const Bins bins{cells.edge.data(), int(cells.cell.size()), 0};
  std::vector<std::int64_t> nowhere(tally.bins.size());
  Scores forgotten;
  const RunKey key(Purpose::benchmark, 1);
  for (std::int64_t walker = first; walker < last; ++walker) {
    auto g = keyed<Philox>(key, std::uint64_t(skipped), std::uint32_t(walker));
    History<Weighted, true> history;
    HostRecorder recorder{nowhere.data()};
    for (int step = 0; step < skipped; ++step)
      if (!history.advance(g, slab, bins, recorder, forgotten)) history = {};
    recorder = {tally.bins.data()};
    for (int step = 0; step < steps; ++step) {
      tally.begun += history.cell < 0;  // still in front of the slab
      if (!history.advance(g, slab, bins, recorder, tally.scores)) {
        history = {};
        ++tally.ended;
      }
    }
  }
}

/// What tallies say by history, as relative deviations from the exact solution. Each for itself:
/// the integer sums of all of them might not fit.
nlohmann::json deviations(const Cells& cells, const std::vector<Tally>& tallies,
                          std::int64_t Tally::*histories, bool weighted) {
  Results results(cells, depth_bins, 0, weighted);
  for (const Tally& t : tallies) {
    PERRIN_ASSERT(!weighted || t.ended < std::int64_t(1) << 23);
    if (t.begun > 0) results.add({t.scores, t.bins}, t.*histories);
  }
  const Exact& e = exact();
  const auto of = [](const Estimate& x, double value) {
    return nlohmann::json{{"off", x.mean / value - 1}, {"error", x.error / value}};
  };
  const auto flux = results.flux();
  std::vector<double> off;
  double total = 0, expected = 0;
  for (std::size_t b = 0; b < flux.size(); ++b) {
    off.push_back(std::round((flux[b].mean / e.flux[b] - 1) * 1e5) / 1e5);
    total += flux[b].mean;
    expected += e.flux[b];
  }
  return {{"T", of(results.transmission(), e.solution.transmission)},
          {"R", of(results.reflection(), e.solution.reflection)},
          {"flux_off", total / expected - 1},
          {"flux_off_by_depth", off}};
}

void step_limits(const Options& options) {
  const Device cpu = Device::cpu(options.device.is_cuda() ? 0 : options.device.threads());
  const Slab slab = Slab::of(text_slab(), 0);
  const Cells cells = Cells::of(text_slab(), depth_bins);
  const std::size_t size = std::size_t(Bins{nullptr, int(cells.cell.size()), 0}.size());
  const std::int64_t all_steps =
      std::int64_t(2.5e7 * std::min(options.seconds, 4.0) * cpu.threads());
  for (const bool weighted : {true, false})
    for (const int skipped : {0, 500})
      for (const int steps : {100, 1000, 10000}) {
        const std::int64_t walkers = all_steps / (steps + skipped);
        std::vector<Tally> own(std::size_t(cpu.threads()));
        for (Tally& t : own) t.bins.resize(size);
        constexpr std::int64_t portion = 64;
        for_tasks(cpu, (walkers + portion - 1) / portion, [&](std::int64_t p, int thread) {
          (weighted ? walk<true> : walk<false>)(slab, cells, p * portion,
                                                std::min((p + 1) * portion, walkers), skipped,
                                                steps, own[std::size_t(thread)]);
        });
        std::int64_t ended = 0, begun = 0;
        for (const Tally& t : own) ended += t.ended, begun += t.begun;
        print_line({{"subject", "neutron-text"},
                    {"what", "step limit"},
                    {"estimator", weighted ? "weighted" : "analogue"},
                    {"steps", steps},
                    {"first_steps_not_counted", skipped},
                    {"threads", walkers},
                    {"ended", ended},
                    {"begun", begun},
                    {"per_history_ended", deviations(cells, own, &Tally::ended, weighted)},
                    {"per_history_begun", deviations(cells, own, &Tally::begun, weighted)}});
      }
}

// ---- Threads ----

TransportSettings settings_of(const std::string& generator, bool weighted, bool observe) {
  TransportSettings t;
  t.slab = Slab::of(text_slab(), 0);
  if (observe) t.edges = Cells::of(text_slab(), 100).edge;
  t.generator = generator;
  t.weighted = weighted;
  return t;
}

/// One row of Figures 3.4 to 3.6.
struct Row {
  bool weighted = false, persistent = true;
  std::int64_t streams = 0;  // threads
  TransportSettings::TwisterState state = TransportSettings::TwisterState::automatic;
  /// Of one launch. Simple: one to a thread. Persistent: many, since the run ends with the thread
  /// that has the longest ones; at most what the sums hold.
  std::int64_t histories() const {
    const double most = largest_batch(optical_thickness(text_slab()), weighted);
    return persistent ? std::int64_t(std::min(double(streams) * 512, most)) : streams;
  }
};

/// Seconds of one run of so many histories.
double seconds_of(const Device& device, const Row& row, std::int64_t histories, double seconds) {
  TransportSettings t = settings_of("mt607", row.weighted, false);
  t.streams = row.streams;
  t.persistent = row.persistent;
  t.twister_state = row.state;
  const auto transport = make_transport(device, t);
  std::uint64_t first = 0;
  return median_time(device, seconds, [&] {
    transport->run(first, histories);
    first += std::uint64_t(histories);
  });
}

struct Place {
  const char* name;
  TransportSettings::TwisterState state;
};
constexpr Place places[] = {{"memory", TransportSettings::TwisterState::memory},
                            {"shared memory", TransportSettings::TwisterState::shared},
                            {"registers", TransportSettings::TwisterState::registers}};

void threads(const Options& options) {
  const double seconds = options.seconds / 4;
  const int most = Device::cpu(0).threads();
  for (const bool weighted : {true, false}) {
    const double one = 20000 / seconds_of(Device::cpu(1), {weighted}, 20000, seconds);
    const auto print = [&](const Device& device, const char* kernel, const char* state,
                           std::int64_t n, std::int64_t histories, double time) {
      const double rate = double(histories) / time;
      nlohmann::json published = nullptr;
      if (weighted && n == 4096) published = std::string(kernel) == "simple" ? 18 : 127;
      print_line({{"subject", "neutron-text"},
                  {"what", "threads"},
                  {"estimator", weighted ? "weighted" : "analogue"},
                  {"generator", "mt607"},
                  {"kernel", kernel},
                  {"state", state},
                  {"device", device.description()},
                  {"threads", n},
                  {"histories", histories},
                  {"time_s", time},
                  {"rate", rate},
                  {"rate_unit", "histories/s"},
                  {"baseline", "one CPU thread"},
                  {"ratio", rate / one},
                  {"published_ratio", published}});
    };
    for (int n = 1; n <= most; n *= 2)
      print(Device::cpu(n), "persistent", "memory", n, 20000L * n,
            n == 1 ? 20000 / one : seconds_of(Device::cpu(n), {weighted}, 20000L * n, seconds));
    if (!options.device.is_cuda()) continue;
    for (const bool persistent : {false, true})
      for (const Place& place : places)
        for (const std::int64_t n :
             {1, 32, 256, 1024, 2048, 3072, 4096, 8192, 16384, 65536, 262144, 1048576}) {
          const Row row{weighted, persistent, n, place.state};
          print(options.device, persistent ? "persistent" : "simple", place.name, n,
                row.histories(), seconds_of(options.device, row, row.histories(), seconds));
        }
  }
}

/// Numbers per second.
template <class Kept>
double raw_rate_of(const Device& device, std::int64_t streams, double seconds) {
  const auto parameters = Kept::parameters();
  std::vector<std::uint32_t> host(std::size_t(streams) * Kept::words);
  std::uint32_t own[Kept::words];
  for (std::int64_t s = 0; s < streams; ++s) {
    auto source = keyed<Philox>(RunKey(Purpose::benchmark, 1), 0, std::uint32_t(s));
    Kept::seed(own, source);
    for (int i = 0; i < Kept::words; ++i) host[std::size_t(i * streams + s)] = own[i];
  }
  Buffer<std::uint32_t> words(device, std::span<const std::uint32_t>(host));
  const Buffer<std::uint32_t> sets(device, std::span<const std::uint32_t>(parameters));
  Buffer<std::uint32_t> out(device, streams);
  const int numbers = streams > 65536 ? 1024 : 16384;
  const RawMt607<Kept> body{words.data(), sets.data(), out.data(), streams, numbers};
  return double(streams) * numbers /
         median_time(device, seconds, [&] { for_each(device, "raw MT607", streams, body); });
}

void raw_rate(const Options& options) {
  const double seconds = options.seconds / 4;
  const auto rate_of = [&](const Device& device, std::int64_t streams, bool registers) {
    return registers ? raw_rate_of<Mt607InRegisters>(device, streams, seconds)
                     : raw_rate_of<InMemory<Mt607Generator>>(device, streams, seconds);
  };
  // The faster of the two is what a CPU has to offer.
  const double one =
      std::max(rate_of(Device::cpu(1), 512, false), rate_of(Device::cpu(1), 512, true));
  const auto print = [&](const Device& device, std::int64_t streams, bool registers) {
    const double rate = rate_of(device, streams, registers);
    nlohmann::json published = nullptr;
    if (device.is_cuda() && streams == 4096) published = 108;
    print_line({{"subject", "neutron-text"},
                {"what", "raw MT607"},
                {"device", device.description()},
                {"threads", device.is_cuda() ? streams : device.threads()},
                {"state", registers ? "registers" : "memory"},
                {"rate", rate},
                {"rate_unit", "numbers/s"},
                {"baseline", "one CPU thread"},
                {"ratio", rate / one},
                {"published_ratio", published}});
  };
  for (const bool registers : {false, true}) {
    for (const Device& cpu : {Device::cpu(1), Device::cpu(0)}) print(cpu, 512, registers);
    if (options.device.is_cuda())
      for (const std::int64_t streams : {4096, 1 << 18}) print(options.device, streams, registers);
  }
}

// ---- Figures of merit ----

void merit(const Options& options, const std::string& generator, bool weighted, bool observe) {
  const Device& device = options.device;
  const TransportSettings settings = settings_of(generator, weighted, observe);
  const auto transport = make_transport(device, settings);
  Results results(observe ? Cells::of(text_slab(), 100) : Cells{}, observe ? 100 : 0, 0, weighted);
  const std::int64_t batch = device.is_cuda() ? (observe ? 1 << 21 : 1 << 23)
                             : observe        ? 1 << 13
                                              : 1 << 15;
  transport->run(0, batch);  // to warm up
  const auto begin = std::chrono::steady_clock::now();
  double seconds = 0;
  std::int64_t done = batch;
  for (int k = 0; k < 64 || seconds < options.seconds; ++k) {
    results.add(transport->run(std::uint64_t(done), batch), batch);
    done += batch;
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  const auto of = [&](const Estimate& e) { return 1 / (e.relative() * e.relative() * seconds); };
  nlohmann::json line = {{"subject", "neutron-text"},
                         {"what", "figure of merit"},
                         {"estimator", weighted ? "weighted" : "analogue"},
                         {"generator", generator},
                         {"device", device.description()},
                         {"observables", observe},
                         {"rate", double(results.histories()) / seconds},
                         {"rate_unit", "histories/s"},
                         {"merit_unit", "1 / (relative error² · s)"}};
  if (observe) {
    const auto flux = results.flux();
    line["flux_front"] = of(flux[0]);
    line["flux_middle"] = of(flux[50]);
    line["flux_back"] = of(flux[99]);
  } else {
    line["T"] = of(results.transmission());
    line["R"] = of(results.reflection());
    const double n = double(results.histories());
    line["T_variance"] = std::pow(results.transmission().error, 2) * n;
    line["R_variance"] = std::pow(results.reflection().error, 2) * n;
  }
  print_line(line);
}

}  // namespace

int neutron_text(const Options& options) {
  const Parts parts(options, {"limits", "threads", "raw", "merit"});
  if (parts.want("limits")) step_limits(options);
  if (parts.want("threads")) threads(options);
  if (parts.want("raw")) raw_rate(options);
  if (!parts.want("merit")) return 0;
  for (const char* generator : {"saru", "mt607"})
    for (const bool observe : {false, true})
      for (const bool weighted : {false, true}) merit(options, generator, weighted, observe);
  return 0;
}

}  // namespace perrin::bench
