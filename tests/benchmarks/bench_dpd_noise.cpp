// perrin-bench dpd-noise: the micro-benchmark of Phillips, Anderson, Glotzer 2011: a random number
// for every pair of n particles with 50 neighbours, added up as a force along x would be. Made on
// the spot from the pair's key by both particles of a pair, against one stateful generator per
// thread, whose number both particles can only have if one of them draws and adds it, atomically,
// to the other: half of the pairs, twice the additions. Neighbours near in memory, or anywhere.
//
// The stateful way is here only: it depends on the order of threads, and its atomic sums of floats
// do not repeat themselves.
#include <algorithm>
#include <random>

#include "engine/core/parallel.h"
#include "plugins/dpd/noise.h"
#include "rng/per_particle.h"
#include "tests/benchmarks/bench.h"

namespace perrin::bench {
namespace {

constexpr int neighbours = 50;

/// Symmetric lists: i has i ± the offsets of its own residue; entry k of particle i at [k·n + i].
struct Lists {
  std::vector<std::uint32_t> full, half;
};

/// Rings: particle i has i ± d for 25 distances d. Near: 1 … 25; random: the same after the
/// particles' places in memory have been shuffled.
Lists make_lists(std::int64_t n, bool near) {
  std::vector<std::uint32_t> place(std::size_t(n), 0);
  for (std::size_t k = 0; k < place.size(); ++k) place[k] = std::uint32_t(k);
  if (!near) std::shuffle(place.begin(), place.end(), std::mt19937_64(1));
  Lists lists;
  lists.full.resize(std::size_t(n * neighbours));
  lists.half.resize(std::size_t(n * neighbours / 2));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t d = 1; d <= neighbours / 2; ++d) {
      const std::size_t me = place[std::size_t(i)], k = std::size_t(d - 1);
      const std::uint32_t up = place[std::size_t((i + d) % n)];
      const std::uint32_t down = place[std::size_t((i + n - d) % n)];
      lists.half[k * std::size_t(n) + me] = up;
      lists.full[2 * k * std::size_t(n) + me] = up;
      lists.full[(2 * k + 1) * std::size_t(n) + me] = down;
    }
  return lists;
}

template <class Noise>
struct Keyed {
  Noise noise;
  const std::uint32_t* list;
  std::int64_t n;
  std::uint64_t step;
  float* sum;
  PERRIN_HD void operator()(std::int64_t i) const {
    float total = 0;
    for (std::int64_t k = 0; k < neighbours; ++k) {
      const std::uint32_t j = list[k * n + i];
      const float theta = float(noise(step, std::uint32_t(i), j));
      total += std::uint32_t(i) < j ? theta : -theta;
    }
    sum[i] = total;
  }
};

PERRIN_HD void atomic_add(float* place, float value) {
#ifdef __CUDA_ARCH__
  atomicAdd(place, value);
#else
  float seen = *place, wanted = seen + value;
  while (
      !__atomic_compare_exchange(place, &seen, &wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    wanted = seen + value;
#endif
}

/// The state of generator `G` (rng/per_particle.h) of every thread is loaded, used and stored.
template <class G>
struct Stateful {
  using Kept = PerParticle<G>;
  std::uint32_t* words;
  const std::uint32_t* parameters;
  const std::uint32_t* list;
  std::int64_t n;
  float* sum;
  PERRIN_HD void operator()(std::int64_t i) const {
    auto g = Kept::load({words + i, n}, parameters, std::uint32_t(i));
    float total = 0;
    for (std::int64_t k = 0; k < neighbours / 2; ++k) {
      const std::uint32_t j = list[k * n + i];
      const float theta = 1.7320508f * g.template symmetric<float>();
      total += theta;
      atomic_add(sum + j, -theta);
    }
    atomic_add(sum + i, total);
    Kept::save({words + i, n}, g);
  }
};

template <class G>
struct State {
  Buffer<std::uint32_t> words, parameters;
  State(const Device& device, std::int64_t n) {
    using Kept = PerParticle<G>;
    std::vector<std::uint32_t> host(std::size_t(n * Kept::words));
    std::vector<std::uint32_t> own(std::size_t(Kept::words));
    for (std::int64_t id = 0; id < n; ++id) {
      Philox source = keyed<Philox>(Purpose::benchmark, 1, 0, std::uint32_t(id));
      Kept::seed(own.data(), source);
      for (int w = 0; w < Kept::words; ++w) host[std::size_t(w * n + id)] = own[std::size_t(w)];
    }
    words = {device, std::span<const std::uint32_t>(host)};
    parameters = {device, std::span<const std::uint32_t>(Kept::parameters())};
  }
};

struct Line {
  const Options& options;
  std::int64_t n;
  bool near;
  double baseline = 0;

  void print(const std::string& generator, const std::string& way, double time) {
    if (baseline == 0) baseline = time;
    const double pairs = double(n) * neighbours / 2;
    print_line(
        {{"subject", "dpd-noise"},
         {"size", n},
         {"device", options.device.description()},
         {"indices", near ? "near" : "random"},
         {"generator", generator},
         {"way", way},
         {"time_s", time},
         {"rate", pairs / time},
         {"rate_unit", "pairs/s"},
         {"baseline", "hybrid_taus, stateful"},
         {"ratio", baseline / time},
         {"paper", near ? "3 to 4 times as fast when keyed" : "2 to 7 times as fast when keyed"}});
  }
};

template <class G>
void stateful(Line& line, const char* name, const std::uint32_t* half, float* sum) {
  State<G> state(line.options.device, line.n);
  const Stateful<G> work{state.words.data(), state.parameters.data(), half, line.n, sum};
  line.print(name, "stateful", median_time(line.options.device, line.options.seconds / 8, [&] {
                                 for (int k = 0; k < 10; ++k)
                                   for_each(line.options.device, "stateful noise", line.n, work);
                               }) / 10);
}

template <class G>
void keyed_line(Line& line, const char* name, const std::uint32_t* full, float* sum) {
  using Noise = dpd::UniformNoise<dpd::DefaultKeys<G>>;
  Keyed<Noise> work{Noise{dpd::DefaultKeys<G>(1)}, full, line.n, 0, sum};
  line.print(name, "keyed", median_time(line.options.device, line.options.seconds / 8, [&] {
                              for (int k = 0; k < 10; ++k, ++work.step)
                                for_each(line.options.device, "keyed noise", line.n, work);
                            }) / 10);
}

}  // namespace

int dpd_noise(const Options& options) {
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) sizes = {10000, 30000, 100000};
  for (const long n : sizes)
    for (const bool near : {true, false}) {
      const Lists lists = make_lists(n, near);
      Buffer<std::uint32_t> full(options.device, std::span<const std::uint32_t>(lists.full));
      Buffer<std::uint32_t> half(options.device, std::span<const std::uint32_t>(lists.half));
      Buffer<float> sum(options.device, n);
      Line line{options, n, near};
      stateful<HybridTaus>(line, "hybrid_taus", half.data(), sum.data());
      stateful<Saru>(line, "saru", half.data(), sum.data());
      stateful<Ran2>(line, "ran2", half.data(), sum.data());
      keyed_line<Saru>(line, "saru", full.data(), sum.data());
      keyed_line<Tea>(line, "tea", full.data(), sum.data());
      keyed_line<SaruTea>(line, "sarutea", full.data(), sum.data());
      keyed_line<Philox>(line, "philox", full.data(), sum.data());
    }
  return 0;
}

}  // namespace perrin::bench
