// perrin-bench oscillators, lcg-cycle: the test of A. A. Zhmurov et al., "Efficient pseudorandom
// number generators for biomolecular simulations on graphics processors" (2011): Brownian
// oscillators in one dimension, spring 0.01 pN/nm, 300 K, D 0.25 nm²/ns, all let go at R0 = 10 nm,
// time step 1 ps. In equilibrium they have <R²> = (kT/k) / (1 - k dt / 2 xi), before that <R(n dt)>
// = R0 (1 - k dt/xi)^n.
//
// `oscillators`: every generator (--generators) with its states seeded in each way of --seeding at
// once, the oscillators in registers for many steps at a time, until --seconds are over or --steps
// are made (10^9: 1 ms). Of a step --words 1 takes a normal by inversion, --words 4 draws four
// words and takes the first of three normals by Box and Muller. Lagged Fibonacci, one for all
// oscillators, follows by itself, for as long, with one word: parts of the run side by side, each
// from a jump along the sequence, and put together afterwards, x being linear in the noise.
//
// Of a line: `mean_rms_z` and `product_rms_z` are root mean squares of the deviations of <R(t)> and
// <R(t)R(0)> from theory in standard errors, `excess` is <R²> over theory less 1. `repeat` is the
// correlation of the noise of <R(t)> with itself at the lag, beyond six relaxation times, where it
// is largest, `repeat_lag_ns` that lag, `repeat_z` the same in standard errors. --series
// adds time, <R(t)> and <R(t)R(0)> themselves.
//
// `lcg-cycle`: on the host. All oscillators with an LCG draw from one cycle of 2^32 words; an
// oscillator that starts at word p is, but for its decaying start, where one that has gone round
// the cycle for ever is at p. So one pass of the cycle gives any number of oscillators at any time:
// 10^4 of them to 10^9 steps here. Drawn is one word for a normal by inversion, or four for three
// normals by Box and Muller in three dimensions (then the cycle is four cycles of 2^30 steps).
#include <algorithm>
#include <cmath>
#include <random>

#include "engine/device/parallel.h"
#include "rng/keyed.h"
#include "rng/stream_lagged_fibonacci.h"
#include "tests/benchmarks/bench.h"
#include "tests/benchmarks/lagged_jump.h"
#include "tests/benchmarks/particle_states.h"
#include "tests/benchmarks/xorwow.h"

namespace perrin::bench {
namespace {

/// x' = decay·x + spread·(a normal number).
struct Oscillator {
  static constexpr double kt = 4.141947, stiffness = 0.01, diffusion = 0.25, dt = 0.001, r0 = 10;
  static constexpr double rate = stiffness * diffusion / kt * dt;   // k dt / xi
  static constexpr double decay = 1 - rate, relaxation = 1 / rate;  // the latter in steps
  static double spread() { return std::sqrt(2 * diffusion * dt); }
  static double variance() { return kt / stiffness / (1 - rate / 2); }
};

template <class... G>
struct Views;
template <>
struct Views<> {
  template <class F>
  PERRIN_HD void visit(int, const F&) const {}
};
template <class G, class... Rest>
struct Views<G, Rest...> {
  typename ParticleStates<G>::View first;
  Views<Rest...> rest;
  template <class F>
  PERRIN_HD void visit(int number, const F& f) const {
    if (number == 0)
      f(first);
    else
      rest.visit(number - 1, f);
  }
};

/// A normal number for a step of `words` words.
template <class G>
PERRIN_HD float kick_of(G& g, int words) {
  return words == 1 ? g.normal_quantile() : g.template normal3<float>().x;
}

constexpr double spread_of_a_step = 0.022360679774997897;  // sqrt(2 D dt)

struct Walk {
  double* x;
  std::uint32_t id;
  std::int64_t steps;
  int words;
  template <class Next>
  PERRIN_HD void run(Next next) const {
    double at = *x;
    for (std::int64_t s = 0; s < steps; ++s)
      at = Oscillator::decay * at + spread_of_a_step * double(next(std::uint64_t(s)));
    *x = at;
  }
  template <class View>
  PERRIN_HD void operator()(const View& states) const {
    auto g = states.load(id);
    run([&](std::uint64_t) { return kick_of(g, words); });
    states.save(id, g);
  }
};
template <class G>
struct KeyedNormal {
  RunKey key;
  std::uint64_t step;
  std::uint32_t id;
  int words;
  PERRIN_HD float operator()(std::uint64_t s) const {
    G g = keyed<G>(key, step + s, id);
    return kick_of(g, words);
  }
};

using Kept = Views<Saru, HybridTaus, Ran2, Lcg, ParkMiller, Mt607Generator, Xorwow>;
const std::vector<std::string> generator_names = {
    "saru",        "tea",  "sarutea", "philox",      "threefry", "saru_state",
    "hybrid_taus", "ran2", "lcg",     "park_miller", "mt607",    "xorwow"};
constexpr int hashed = 5;

/// Whether the states of a generator of that number can be seeded so.
bool can_seed_number(int number, Seeding how) {
  switch (number - hashed) {
    case 0:
      return can_seed<Saru>(how);
    case 1:
      return can_seed<HybridTaus>(how);
    case 2:
      return can_seed<Ran2>(how);
    case 3:
      return can_seed<Lcg>(how);
    case 4:
      return can_seed<ParkMiller>(how);
    case 5:
      return can_seed<Mt607Generator>(how);
    case 6:
      return can_seed<Xorwow>(how);
    default:
      return false;
  }
}

/// A generator, and which of the ways to seed it.
struct Kind {
  std::int32_t number, way;
};

/// Thread i: oscillator i % stride of kind i / stride.
struct Advance {
  RunKey key;
  Kept kept;
  const Kind* kinds;
  double* x;
  std::int64_t n, stride, steps;
  std::uint64_t step;
  int words;
  PERRIN_HD void operator()(std::int64_t i) const {
    const Kind kind = kinds[i / stride];
    const auto id = std::uint32_t(i % stride);
    if (std::int64_t(id) >= n) return;
    const std::uint32_t state = std::uint32_t(kind.way * n) + id;
    const Walk walk{x + i / stride * n + id, state, steps, words};
    if (kind.number == 0)
      walk.run(KeyedNormal<Saru>{key, step, id, words});
    else if (kind.number == 1)
      walk.run(KeyedNormal<Tea>{key, step, id, words});
    else if (kind.number == 2)
      walk.run(KeyedNormal<SaruTea>{key, step, id, words});
    else if (kind.number == 3)
      walk.run(KeyedNormal<Philox>{key, step, id, words});
    else if (kind.number == 4)
      walk.run(KeyedNormal<Threefry>{key, step, id, words});
    else
      kept.visit(kind.number - hashed, walk);
  }
};

/// What n oscillators do over time, held against theory.
struct Record {
  double mean_z2 = 0, square = 0, product_z2 = 0;
  std::int64_t frames = 0, settled = 0;
  std::vector<double> first;  // positions of the first settled frame
  std::int64_t first_step = 0, last_step = 0;
  std::vector<double> mean, product;  // of all frames, and of those after the first settled one
  std::vector<double> noise;          // of <R(t)>, of settled frames

  template <class T>
  void add(const T* x, std::int64_t n, std::int64_t step) {
    using O = Oscillator;
    const double left = std::pow(O::decay, double(step));
    double sum = 0, squares = 0, products = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += x[i], squares += double(x[i]) * x[i];
    const double error = std::sqrt(O::variance() * (1 - left * left) / double(n));
    mean.push_back(sum / double(n));
    const double z = (mean.back() - O::r0 * left) / error;
    mean_z2 += z * z;
    ++frames;
    last_step = step;
    if (double(step) < 6 * O::relaxation) return;
    noise.push_back(mean.back() - O::r0 * left);
    square += squares / double(n);
    ++settled;
    if (first.empty()) {
      first.assign(x, x + n);
      first_step = step;
      return;
    }
    for (std::int64_t i = 0; i < n; ++i) products += x[i] * first[std::size_t(i)];
    const double rho = std::pow(O::decay, double(step - first_step));
    product.push_back(products / double(n));
    const double at = (product.back() - O::variance() * rho) /
                      (O::variance() * std::sqrt((1 + rho * rho) / double(n)));
    product_z2 += at * at;
  }

  /// The correlation of the noise with itself, at lags from six relaxation times to half of the
  /// record, that is the most standard errors above 0; a lag of 0 where the record is too short.
  std::pair<double, std::size_t> repeat(double frames_each) const {
    std::pair<double, std::size_t> largest{0, 0};
    double most = 0;
    const std::size_t size = noise.size();
    for (auto lag = std::size_t(std::ceil(6 * frames_each)); lag <= size / 2; ++lag) {
      double both = 0, early = 0, late = 0;
      for (std::size_t k = lag; k < size; ++k) {
        both += noise[k] * noise[k - lag];
        early += noise[k - lag] * noise[k - lag];
        late += noise[k] * noise[k];
      }
      const double r = both / std::sqrt(early * late), z = r * std::sqrt(double(size - lag));
      if (z > most) most = z, largest = {r, lag};
    }
    return largest;
  }

  nlohmann::json line(const Options& options, std::int64_t n, double time, double rate) const {
    using O = Oscillator;
    const double samples = double(n) * std::max(1.0, double(last_step) / O::relaxation - 6);
    const double excess = settled ? square / double(settled) / O::variance() - 1 : 0;
    const double frame = double(last_step) / double(std::max<std::int64_t>(frames, 1));  // steps
    nlohmann::json json = {
        {"subject", "oscillators"},
        {"size", n},
        {"device", options.device.description()},
        {"steps", last_step},
        {"time_s", time},
        {"rate", rate},
        {"rate_unit", "particle-steps/s"},
        {"mean_rms_z", std::sqrt(mean_z2 / double(std::max<std::int64_t>(frames, 1)))},
        {"product_rms_z", std::sqrt(product_z2 / double(std::max<std::int64_t>(settled - 1, 1)))},
        {"excess", excess},
        {"excess_error", std::sqrt(2 / samples)},
        {"baseline", "exact"},
        {"ratio", 1 + excess}};
    if (const auto [r, lag] = repeat(O::relaxation / frame); lag > 0) {
      // Of a noise that decays as exp(-t/tau) so much of a record is independent.
      const double independent = double(noise.size() - lag) * frame / O::relaxation;
      json["repeat"] = r;
      json["repeat_lag_ns"] = double(lag) * frame * O::dt;
      json["repeat_z"] = r * std::sqrt(independent);
    }
    if (options.series) {
      json["frame_ns"] = frame * O::dt;
      json["mean"] = mean;
      json["product_from_ns"] = double(first_step) * O::dt;
      json["product"] = product;
    }
    return json;
  }
};

/// Between two looks at the positions: a sixteenth of the relaxation time.
constexpr auto frame_steps = std::int64_t(Oscillator::relaxation / 16);

void one_for_each(const Options& options, std::int64_t n, const std::vector<Seeding>& ways,
                  const std::vector<Kind>& kinds) {
  const Device& device = options.device;
  ParticleStates<Saru> saru(device, n, ways);
  ParticleStates<HybridTaus> taus(device, n, ways);
  ParticleStates<Ran2> ran2(device, n, ways);
  ParticleStates<Lcg> lcg(device, n, ways);
  ParticleStates<ParkMiller> park_miller(device, n, ways);
  ParticleStates<Mt607Generator> mt607(device, n, ways);
  ParticleStates<Xorwow> xorwow(device, n, ways);
  const auto count = std::int64_t(kinds.size());
  Buffer<Kind> device_kinds(device, std::span<const Kind>(kinds));
  Buffer<double> x(device, n * count);
  x.assign(std::vector<double>(std::size_t(n * count), Oscillator::r0));
  // Threads of a warp have one generator.
  Advance work{
      RunKey(Purpose::benchmark, 1),
      {saru.view(),
       {taus.view(),
        {ran2.view(), {lcg.view(), {park_miller.view(), {mt607.view(), {xorwow.view(), {}}}}}}}},
      device_kinds.data(),
      x.data(),
      n,
      (n + 31) / 32 * 32,
      frame_steps,
      0,
      options.words};
  std::vector<Record> records(kinds.size());
  const auto start = std::chrono::steady_clock::now();
  double time = 0;
  while (time < options.seconds && std::int64_t(work.step) < options.steps) {
    for_each(device, "oscillators", work.stride * count, work);
    work.step += std::uint64_t(work.steps);
    const std::vector<double> all = x.to_host();
    for (std::int64_t k = 0; k < count; ++k)
      records[std::size_t(k)].add(all.data() + k * n, n, std::int64_t(work.step));
    time = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    nlohmann::json line =
        records[k].line(options, n, time, double(n * std::int64_t(work.step) * count) / time);
    line["generator"] = generator_names[std::size_t(kinds[k].number)];
    line["seeding"] = kinds[k].number < hashed
                          ? "keyed"
                          : seeding_names()[std::size_t(ways[std::size_t(kinds[k].way)])];
    line["words"] = options.words;
    print_line(line);
  }
}

/// A number as a generator's only one.
class OneWord : public Distributions<OneWord> {
 public:
  PERRIN_HD explicit OneWord(std::uint32_t word) : word_(word) {}
  PERRIN_HD std::uint32_t next() { return word_; }

 private:
  std::uint32_t word_;
};

/// Thread i: oscillator i % n of part i / n, `steps` steps. Number j + n·t of the sequence is that
/// of oscillator j at step t. No number of a call is made from another of it.
struct AdvanceShared {
  std::uint32_t* rings;
  double* x;
  std::int64_t n, size, gap, begin;
  int steps;
  PERRIN_HD void operator()(std::int64_t i) const {
    const auto part = std::uint32_t(i) / std::uint32_t(n);  // fewer than 2^32 threads
    std::uint32_t* const ring = rings + part * size;
    std::int64_t place = begin + (i - part * n);
    double at = x[i];
    for (int s = 0; s < steps; ++s) {
      place = wrap(place);
      const std::uint32_t word = ring[place] + ring[wrap(place + gap)];
      ring[place] = word;
      OneWord g(word);
      at = Oscillator::decay * at + spread_of_a_step * double(g.normal_quantile());
      place += n;
    }
    x[i] = at;
  }
  PERRIN_HD std::int64_t wrap(std::int64_t place) const {
    return place >= size ? place - size : place;
  }
};

/// The run of one lagged Fibonacci sequence in parts side by side.
class SharedRun {
 public:
  SharedRun(const Device& device, std::int64_t n)
      : device_(device), n_(n), lags_(lags_for(n)), at_once_(lags_.parallel() / n) {
    frame_ = frame_steps / at_once_ * at_once_;
  }
  /// Whether the longest lags can make the numbers of a step at once.
  bool possible() const { return at_once_ > 0; }
  const Lags& lags() const { return lags_; }
  std::int64_t parts() const {
    if (!device_.is_cuda()) return std::max(1, device_.threads());
    return std::clamp<std::int64_t>((1 << 20) / n_, 1, 1024);
  }

  /// Seconds of a frame of all parts, about.
  double frame_time() {
    begin(std::vector<std::uint32_t>(std::size_t(parts() * lags_.long_lag), 1));
    for (auto steps = at_once_;; steps *= 2) {
      const auto start = std::chrono::steady_clock::now();
      advance(steps);
      (void)x_.to_host();
      const double time =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (time > 0.3) return time * double(frame_) / double(steps);
    }
  }

  Record run(std::int64_t frames) {
    const Device host = device_.is_cuda() ? Device::cpu(0) : device_;
    std::vector<std::uint32_t> rings = LaggedRings::seeds(Purpose::benchmark, 1, lags_, 1),
                               ring = rings;
    const LaggedJump jump(host, lags_, std::uint64_t(frames * frame_ * n_));
    for (std::int64_t k = 1; k < parts(); ++k) {
      ring = jump(ring);
      rings.insert(rings.end(), ring.begin(), ring.end());
    }
    begin(rings);
    std::vector<std::vector<float>> noise;  // what the noise alone makes of 0, for all parts
    for (std::int64_t f = 0; f < frames; ++f) {
      advance(frame_);
      const std::vector<double> all = x_.to_host();
      noise.emplace_back(all.begin(), all.end());
    }
    Record record;
    std::vector<double> start(std::size_t(n_), Oscillator::r0), x(start);
    for (std::int64_t k = 0; k < parts(); ++k) {
      for (std::int64_t f = 0; f < frames; ++f) {
        const double left = std::pow(Oscillator::decay, double((f + 1) * frame_));
        const float* own = noise[std::size_t(f)].data() + k * n_;
        for (std::int64_t i = 0; i < n_; ++i)
          x[std::size_t(i)] = left * start[std::size_t(i)] + own[i];
        record.add(x.data(), n_, (k * frames + f + 1) * frame_);
      }
      start = x;
    }
    return record;
  }
  std::int64_t frame() const { return frame_; }

 private:
  void begin(const std::vector<std::uint32_t>& rings) {
    rings_ = Buffer<std::uint32_t>(device_, std::span<const std::uint32_t>(rings));
    x_ = Buffer<double>(device_, parts() * n_);
    place_ = 0;
  }
  void advance(std::int64_t steps) {
    for (std::int64_t s = 0; s < steps; s += at_once_) {
      for_each(device_, "oscillators_shared", parts() * n_,
               AdvanceShared{rings_.data(), x_.data(), n_, lags_.long_lag,
                             lags_.long_lag - lags_.short_lag, place_, int(at_once_)});
      place_ = (place_ + at_once_ * n_) % lags_.long_lag;
    }
  }

  Device device_;
  std::int64_t n_;
  Lags lags_;
  std::int64_t at_once_, frame_ = 0, place_ = 0;
  Buffer<std::uint32_t> rings_;
  Buffer<double> x_;
};

void one_for_all(const Options& options, std::int64_t n) {
  SharedRun run(options.device, n);
  if (!run.possible())
    throw UserError("oscillators: lagged_fibonacci: --sizes " + std::to_string(n) +
                    ": expected at most " + std::to_string(lag_table().back().parallel()) +
                    ", what the longest lags can make at once");
  const double frame_time = run.frame_time();
  const std::int64_t per_part = run.frame() * run.parts();
  const auto in_time = std::int64_t(options.seconds / frame_time);
  const std::int64_t frames =
      std::max<std::int64_t>(1, std::min(in_time, (options.steps + per_part - 1) / per_part));
  const auto start = std::chrono::steady_clock::now();
  const Record record = run.run(frames);
  const double time =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  nlohmann::json line = record.line(options, n, time, double(n * record.last_step) / time);
  line["generator"] = "lagged_fibonacci";
  line["seeding"] = "one for all";
  line["words"] = 1;
  line["long_lag"] = run.lags().long_lag;
  line["parts"] = run.parts();
  print_line(line);
}

/// `wanted`, or all of `known` where that is empty; whatever is not known throws.
std::vector<std::string> chosen(const char* option, const std::vector<std::string>& wanted,
                                const std::vector<std::string>& known) {
  for (const std::string& name : wanted)
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string text;
      for (const std::string& one : known) text += (text.empty() ? "" : ", ") + one;
      throw UserError(std::string(option) + " " + name + ": expected " + text);
    }
  return wanted.empty() ? known : wanted;
}

}  // namespace

int oscillators(const Options& options) {
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) sizes = {10000};
  std::vector<Seeding> ways;
  for (const std::string& name : chosen("--seeding", options.seeding, seeding_names()))
    ways.push_back(Seeding(std::find(seeding_names().begin(), seeding_names().end(), name) -
                           seeding_names().begin()));
  std::vector<std::string> known = generator_names;
  known.push_back("lagged_fibonacci");
  const std::vector<std::string> names = chosen("--generators", options.generators, known);
  std::vector<Kind> kinds;
  for (int number = 0; number < int(generator_names.size()); ++number) {
    if (std::find(names.begin(), names.end(), generator_names[std::size_t(number)]) == names.end())
      continue;
    if (number < hashed) kinds.push_back({number, 0});
    for (std::size_t way = 0; number >= hashed && way < ways.size(); ++way)
      if (can_seed_number(number, ways[way])) kinds.push_back({number, int(way)});
  }
  for (const long n : sizes) {
    if (!kinds.empty()) one_for_each(options, n, ways, kinds);
    if (std::find(names.begin(), names.end(), "lagged_fibonacci") != names.end())
      one_for_all(options, n);
  }
  return 0;
}

namespace {

/// One of the cycles that an LCG's words are cut into, `words` to a step.
struct Cycle {
  int words, axes;
  std::int64_t steps;   // round the cycle
  std::int64_t stride;  // steps from one sample to the next
  std::vector<Vec3<double>> at;

  /// By segments from 0, put together afterwards: x is linear in the noise.
  Cycle(const Device& device, int words_, std::uint32_t seed) : words(words_) {
    axes = words == 4 ? 3 : 1;
    steps = (std::int64_t(1) << 32) / words;
    stride = 4096;
    at.resize(std::size_t(steps / stride));
    constexpr std::int64_t segments = 256;
    const std::int64_t each = steps / segments;
    std::vector<std::uint32_t> state(segments, seed);
    const LcgJump jump(std::uint64_t(each * words));
    for (std::int64_t k = 1; k < segments; ++k)
      state[std::size_t(k)] = jump(state[std::size_t(k - 1)]);
    for_tasks(device, segments, [&](std::int64_t k, int) {
      Lcg g(state[std::size_t(k)]);
      Vec3<double> x{};
      const double spread = Oscillator::spread();
      for (std::int64_t s = 0; s < each; ++s) {
        if (s % stride == 0) at[std::size_t((k * each + s) / stride)] = x;
        Vec3<double> noise{};
        if (words == 4) {
          const Vec3<float> three = g.normal3<float>();
          noise = {three.x, three.y, three.z};
        } else {
          noise.x = g.normal_quantile();
        }
        x = Oscillator::decay * x + spread * noise;
      }
      ends[std::size_t(k)] = x;
    });
    // Round twice: what is left of an arbitrary start after a whole cycle is below rounding.
    const double left = std::pow(Oscillator::decay, double(each));
    Vec3<double> start{};
    for (int round = 0; round < 2; ++round)
      for (std::int64_t k = 0; k < segments; ++k) {
        if (round == 1)
          for (std::int64_t s = 0; s < each; s += stride)
            at[std::size_t((k * each + s) / stride)] +=
                std::pow(Oscillator::decay, double(s)) * start;
        start = left * start + ends[std::size_t(k)];
      }
  }

 private:
  std::vector<Vec3<double>> ends = std::vector<Vec3<double>>(256);
};

}  // namespace

int lcg_cycle(const Options& options) {
  const Device host = Device::cpu(options.device.is_cuda() ? 0 : options.device.threads());
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) sizes = {10000, 100000};
  for (const int words : {1, 4}) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<Cycle> cycles;
    // Four words a step visit every fourth word: four cycles, by where one starts.
    for (std::uint32_t c = 0; c < std::uint32_t(words); ++c) {
      Lcg g(1);
      for (std::uint32_t k = 0; k < c; ++k) g.next();
      cycles.emplace_back(host, words, g.state());
    }
    const double time =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    double square = 0;
    for (const Cycle& cycle : cycles)
      for (const Vec3<double>& x : cycle.at) square += dot(x, x);
    const Cycle& any = cycles.front();
    square /= double(cycles.size() * any.at.size()) * any.axes;
    for (const long n : sizes) {
      std::mt19937_64 random(1);
      std::vector<std::pair<const Cycle*, std::size_t>> begin;
      for (long i = 0; i < n; ++i) {
        const Cycle& cycle = cycles[random() % cycles.size()];
        begin.push_back({&cycle, random() % cycle.at.size()});
      }
      // Frames a sixteenth of a relaxation time apart would be 10^4; a fifth is as telling.
      constexpr std::int64_t frames = 3000;
      const std::int64_t most = std::min<std::int64_t>(1'000'000'000, any.steps) / any.stride;
      double mean_z2 = 0, squares = 0;
      for (std::int64_t f = 1; f <= frames; ++f) {
        const std::int64_t t = f * most / frames;
        const double left = std::pow(Oscillator::decay, double(t * any.stride));
        Vec3<double> mean{};
        double sum = 0;
        for (const auto& [cycle, p] : begin) {
          const std::size_t size = cycle->at.size();
          const Vec3<double> x = cycle->at[(p + std::size_t(t)) % size] - left * cycle->at[p];
          mean += x;
          sum += dot(x, x);
        }
        const double error = Oscillator::variance() * (1 - left * left) / double(n);
        mean_z2 += dot(mean, mean) / double(n) / double(n) / error / any.axes;
        squares += sum / double(n) / (1 - left * left) / any.axes;
      }
      print_line({{"subject", "lcg-cycle"},
                  {"size", n},
                  {"device", host.description()},
                  {"words_per_step", words},
                  {"steps", most * any.stride},
                  {"time_s", time},
                  {"rate", double(std::int64_t(1) << 32) / time},
                  {"rate_unit", "words/s"},
                  {"mean_rms_z", std::sqrt(mean_z2 / frames)},
                  {"excess", squares / frames / Oscillator::variance() - 1},
                  {"excess_of_the_cycle", square / Oscillator::variance() - 1},
                  {"baseline", "exact"},
                  {"ratio", squares / frames / Oscillator::variance()}});
    }
  }
  return 0;
}

}  // namespace perrin::bench
