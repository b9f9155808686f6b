// perrin-bench oscillators, lcg-cycle: the test of A. A. Zhmurov et al., "Efficient pseudorandom
// number generators for biomolecular simulations on graphics processors" (2011): Brownian
// oscillators in one dimension, spring 0.01 pN/nm, 300 K, D 0.25 nm²/ns, all let go at R0 = 10 nm,
// time step 1 ps. In equilibrium they have <R²> = (kT/k) / (1 - k dt / 2 xi), before that <R(n dt)>
// = R0 (1 - k dt/xi)^n.
//
// `oscillators`: every generator at once, the oscillators in registers for many steps at a time,
// until --seconds are over or 10^9 steps (1 ms) are made. Normals by inversion, one word each.
//
// `lcg-cycle`: on the host. All oscillators with an LCG draw from one cycle of 2^32 words; an
// oscillator that starts at word p is, but for its decaying start, where one that has gone round
// the cycle for ever is at p. So one pass of the cycle gives any number of oscillators at any time:
// 10^4 of them to 10^9 steps here. Drawn is one word for a normal by inversion, or four for three
// normals by Box and Muller in three dimensions (then the cycle is four cycles of 2^30 steps).
#include <algorithm>
#include <cmath>
#include <random>

#include "engine/core/parallel.h"
#include "rng/keyed.h"
#include "tests/benchmarks/bench.h"
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

struct Walk {
  double* x;
  std::uint32_t id;
  std::int64_t steps;
  template <class Next>
  PERRIN_HD void run(Next next) const {
    const double spread = 0.022360679774997897;  // sqrt(2 D dt)
    double at = *x;
    for (std::int64_t s = 0; s < steps; ++s)
      at = Oscillator::decay * at + spread * double(next(std::uint64_t(s)));
    *x = at;
  }
  template <class View>
  PERRIN_HD void operator()(const View& states) const {
    auto g = states.load(id);
    run([&](std::uint64_t) { return g.normal_quantile(); });
    states.save(id, g);
  }
};
template <class G>
struct KeyedNormal {
  RunKey key;
  std::uint64_t step;
  std::uint32_t id;
  PERRIN_HD float operator()(std::uint64_t s) const {
    return keyed<G>(key, step + s, id).normal_quantile();
  }
};

using Kept = Views<Saru, HybridTaus, Ran2, Lcg, ParkMiller, Mt607Generator, Xorwow>;
const char* const generator_names[] = {
    "saru",        "tea",  "sarutea", "philox",      "threefry", "saru per particle",
    "hybrid_taus", "ran2", "lcg",     "park_miller", "mt607",    "xorwow"};
constexpr int generators = std::size(generator_names), hashed = 5;

/// Thread i: oscillator i % stride of generator i / stride.
struct Advance {
  RunKey key;
  Kept kept;
  double* x;
  std::int64_t n, stride, steps;
  std::uint64_t step;
  PERRIN_HD void operator()(std::int64_t i) const {
    const int number = int(i / stride);
    const auto id = std::uint32_t(i % stride);
    if (std::int64_t(id) >= n) return;
    const Walk walk{x + number * n + id, id, steps};
    if (number == 0)
      walk.run(KeyedNormal<Saru>{key, step, id});
    else if (number == 1)
      walk.run(KeyedNormal<Tea>{key, step, id});
    else if (number == 2)
      walk.run(KeyedNormal<SaruTea>{key, step, id});
    else if (number == 3)
      walk.run(KeyedNormal<Philox>{key, step, id});
    else if (number == 4)
      walk.run(KeyedNormal<Threefry>{key, step, id});
    else
      kept.visit(number - hashed, walk);
  }
};

/// What n oscillators do over time, held against theory.
struct Record {
  double mean_z2 = 0, square = 0, product_z2 = 0;
  std::int64_t frames = 0, settled = 0;
  std::vector<double> first;  // positions of the first settled frame
  std::int64_t first_step = 0;

  void add(const double* x, std::int64_t n, std::int64_t step) {
    using O = Oscillator;
    const double left = std::pow(O::decay, double(step));
    double mean = 0, squares = 0, products = 0;
    for (std::int64_t i = 0; i < n; ++i) mean += x[i], squares += x[i] * x[i];
    const double error = std::sqrt(O::variance() * (1 - left * left) / double(n));
    const double z = (mean / double(n) - O::r0 * left) / error;
    mean_z2 += z * z;
    ++frames;
    if (double(step) < 6 * O::relaxation) return;
    square += squares / double(n);
    ++settled;
    if (first.empty()) {
      first.assign(x, x + n);
      first_step = step;
      return;
    }
    for (std::int64_t i = 0; i < n; ++i) products += x[i] * first[std::size_t(i)];
    const double rho = std::pow(O::decay, double(step - first_step));
    const double at = (products / double(n) - O::variance() * rho) /
                      (O::variance() * std::sqrt((1 + rho * rho) / double(n)));
    product_z2 += at * at;
  }
  /// <R²> over theory less 1, and the standard error that independent numbers would give.
  void print(const char* generator, const Options& options, std::int64_t n, std::int64_t steps,
             double time) const {
    using O = Oscillator;
    const double samples = double(n) * std::max(1.0, double(steps) / O::relaxation - 6);
    const double excess = settled ? square / double(settled) / O::variance() - 1 : 0;
    const double error = std::sqrt(2 / samples);
    print_line(
        {{"subject", "oscillators"},
         {"generator", generator},
         {"size", n},
         {"device", options.device.description()},
         {"steps", steps},
         {"time_s", time},
         {"rate", double(n * steps * generators) / time},
         {"rate_unit", "particle-steps/s, all generators"},
         {"mean_rms_z", std::sqrt(mean_z2 / double(std::max<std::int64_t>(frames, 1)))},
         {"product_rms_z", std::sqrt(product_z2 / double(std::max<std::int64_t>(settled - 1, 1)))},
         {"excess", excess},
         {"excess_error", error},
         {"baseline", "exact"},
         {"ratio", 1 + excess}});
  }
};

}  // namespace

int oscillators(const Options& options) {
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) sizes = {10000};
  for (const long n : sizes) {
    const Device& device = options.device;
    ParticleStates<Saru> saru(device, n);
    ParticleStates<HybridTaus> taus(device, n);
    ParticleStates<Ran2> ran2(device, n);
    ParticleStates<Lcg> lcg(device, n);
    ParticleStates<ParkMiller> park_miller(device, n);
    ParticleStates<Mt607Generator> mt607(device, n);
    ParticleStates<Xorwow> xorwow(device, n);
    Buffer<double> x(device, n * generators);
    x.assign(std::vector<double>(std::size_t(n * generators), Oscillator::r0));
    // Threads of a warp have one generator.
    Advance work{
        RunKey(Purpose::benchmark, 1),
        {saru.view(),
         {taus.view(),
          {ran2.view(), {lcg.view(), {park_miller.view(), {mt607.view(), {xorwow.view(), {}}}}}}}},
        x.data(),
        n,
        (n + 31) / 32 * 32,
        std::int64_t(Oscillator::relaxation / 16),
        0};
    std::vector<Record> records(generators);
    const auto start = std::chrono::steady_clock::now();
    double time = 0;
    while (time < options.seconds && work.step < 1'000'000'000) {
      for_each(device, "oscillators", work.stride * generators, work);
      work.step += std::uint64_t(work.steps);
      const std::vector<double> all = x.to_host();
      for (int g = 0; g < generators; ++g)
        records[std::size_t(g)].add(all.data() + g * n, n, std::int64_t(work.step));
      time = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    for (int g = 0; g < generators; ++g)
      records[std::size_t(g)].print(generator_names[g], options, n, std::int64_t(work.step), time);
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
    // a^k x + c (a^k - 1)/(a - 1) of a segment's k words, by doubling.
    std::uint32_t factor = 1, shift = 0;
    for (std::int64_t bit = std::int64_t(1) << 40; bit > 0; bit /= 2) {
      shift += factor * shift;
      factor *= factor;
      if (each * words & bit) {
        shift = 1664525u * shift + 1013904223u;
        factor *= 1664525u;
      }
    }
    for (std::int64_t k = 1; k < segments; ++k)
      state[std::size_t(k)] = factor * state[std::size_t(k - 1)] + shift;
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
