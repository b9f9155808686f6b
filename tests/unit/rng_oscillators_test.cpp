// Brownian oscillators as a test of generators: A. A. Zhmurov, V. A. Barsegov, S. V. Trifonov,
// Ya. A. Kholodov, A. S. Kholodov, "Efficient pseudorandom number generators for biomolecular
// simulations on graphics processors" (2011, in Russian).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "rng/keyed.h"
#include "rng/stateful.h"
#include "tests/benchmarks/seeding.h"

namespace perrin {
namespace {

constexpr int oscillators = 4096;

/// Root mean square, over 4000 steps, of the deviation of <R(t)> from R0·decay^t in standard errors
/// of that many independent oscillators. `normal(i, t)` is the number of oscillator i at step t.
double deviation_of_the_mean(const std::function<float(int, int)>& normal) {
  constexpr int steps = 4000;
  constexpr double decay = 0.9, r0 = 10;
  std::vector<double> x(oscillators, r0);
  double sum = 0, left = 1, variance = 0;
  for (int t = 0; t < steps; ++t) {
    double mean = 0;
    for (int i = 0; i < oscillators; ++i) mean += x[std::size_t(i)] *= decay;
    for (int i = 0; i < oscillators; ++i) {
      const double kick = normal(i, t);
      x[std::size_t(i)] += kick;
      mean += kick;
    }
    left *= decay;
    variance = variance * decay * decay + 1;
    const double z = (mean / oscillators - r0 * left) / std::sqrt(variance / oscillators);
    sum += z * z;
  }
  return std::sqrt(sum / steps);
}

// One cycle divided evenly among threads, as one-generator-per-thread schemes have it. Words of the
// LCG that are 2^20 apart agree in their lowest 20 bits, so that at every step the 4096 words are
// spread evenly: the kicks of all oscillators add up to nothing, and <R(t)> has no noise.
TEST(RngOscillators, LcgDividedByItsCycleFails) {
  std::vector<Lcg> lcg;
  std::uint32_t factor = 1, shift = 0;  // 2^20 steps at once
  for (std::uint32_t k = 0; k < 1u << 20; ++k)
    factor *= 1664525u, shift = 1664525u * shift + 1013904223u;
  std::uint32_t x = 1;
  for (int i = 0; i < oscillators; ++i) {
    lcg.emplace_back(x);
    x = factor * x + shift;
  }
  EXPECT_EQ(x, 1u);  // all the way round
  EXPECT_LT(
      deviation_of_the_mean([&](int i, int) { return lcg[std::size_t(i)].normal_quantile(); }),
      0.1);
}
TEST(RngOscillators, SaruPasses) {
  const RunKey key(Purpose::test, 1);
  const double one_per_call = deviation_of_the_mean([&](int i, int t) {
    return keyed<Saru>(key, std::uint64_t(t), std::uint32_t(i)).normal_quantile();
  });
  EXPECT_NEAR(one_per_call, 1, 0.15);  // some 400 independent times: standard error 0.04
  std::vector<Saru> saru;
  for (int i = 0; i < oscillators; ++i) saru.push_back(keyed<Saru>(key, 0, std::uint32_t(i), 1));
  const double one_per_thread =
      deviation_of_the_mean([&](int i, int) { return saru[std::size_t(i)].normal_quantile(); });
  EXPECT_NEAR(one_per_thread, 1, 0.15);
}

// How states are seeded (docs/papers.md, Zhmurov et al., Fig. 4b).

using bench::Seeding;

/// Generators of one for each thread, seeded so; G keeps its state in the object.
template <class G>
std::vector<typename PerParticle<G>::Local> seeded(Seeding how, int n) {
  std::vector<std::uint32_t> words = bench::seeded_words<G>(how, n);
  const auto parameters = PerParticle<G>::parameters();
  std::vector<typename PerParticle<G>::Local> all;
  for (int i = 0; i < n; ++i)
    all.push_back(PerParticle<G>::load({words.data() + i, n}, parameters.data(), std::uint32_t(i)));
  return all;
}

/// Sum of a normal number of each, over the square root of how many: what pushes <R(t)> in a step.
template <class Generators>
double push_of(Generators& all) {
  double sum = 0;
  for (auto& g : all) sum += g.normal_quantile();
  return sum / std::sqrt(double(all.size()));
}

// Thread i of N has, 2^32/N steps later, the numbers that thread i + 1 has now: but for one in N
// the pushes are those of before, and so is the noise of <R(t)>: it repeats.
TEST(RngOscillators, LcgDividedEvenlyRepeatsItsNoise) {
  constexpr int n = 1000, steps = 2000;  // not a power of 2, where there is no noise at all
  const auto correlation = [&](Seeding how) {
    auto now = seeded<Lcg>(how, n);
    const bench::LcgJump jump(Lcg::period / n);
    std::vector<Lcg> later;
    for (const auto& g : now) later.emplace_back(jump(g.generator().state()));
    double both = 0, first = 0, second = 0;
    for (int t = 0; t < steps; ++t) {
      const double a = push_of(now), b = push_of(later);
      both += a * b, first += a * a, second += b * b;
    }
    return both / std::sqrt(first * second);
  };
  // 1 - 1/N where all but one are the same; ±1/√steps where they are independent.
  EXPECT_NEAR(correlation(Seeding::evenly_divided), 1 - 1.0 / n, 2.0 / n);
  EXPECT_NEAR(correlation(Seeding::unrelated), 0, 4 / std::sqrt(double(steps)));
}

// Langdon's rule, seed + number of the thread: states differ by a^t·(number), which now and then is
// small for all, so that all threads get nearly the same number.
TEST(RngOscillators, LcgSeededBySeedPlusThreadPushesAllAtOnce) {
  const auto largest = [](Seeding how) {
    auto all = seeded<Lcg>(how, 10000);
    double most = 0;
    for (int t = 0; t < 3000; ++t) most = std::max(most, std::abs(push_of(all)));
    return most;
  };
  // Of 3000 independent normal numbers one exceeds 5.5 with probability 10^-4.
  EXPECT_LT(largest(Seeding::unrelated), 5.5);
  EXPECT_GT(largest(Seeding::seed_plus_id), 15);
}

// Threads that follow one another in one sequence have the same noise one step apart, however good
// the generator: <R(t)> is then the average of one oscillator over N steps. With decay d and N
// threads N·<R>² is (1 + d)/(1 - d) - 2·d·(1 - d^N)/(N·(1 - d)²) times what it should be.
template <class G>
double excess_of_consecutive(Seeding how) {
  constexpr int n = 64, steps = 40000;
  constexpr double decay = 0.9;
  auto all = seeded<G>(how, n);
  double mean = 0, sum = 0;
  for (int t = 0; t < steps; ++t) {
    mean = decay * mean + push_of(all);  // of √N·<R>
    sum += mean * mean;
  }
  return sum / steps * (1 - decay * decay);
}
TEST(RngOscillators, ConsecutiveThreadsShareTheirNoise) {
  constexpr double d = 0.9, n = 64;
  const double wanted = (1 + d) / (1 - d) - 2 * d * (1 - std::pow(d, n)) / (n * (1 - d) * (1 - d));
  // Some steps/(n + 10) independent values of <R>².
  const double error = wanted * std::sqrt(2 * (n + 10) / 40000);
  EXPECT_NEAR(excess_of_consecutive<Saru>(Seeding::consecutive), wanted, 4 * error);
  EXPECT_NEAR(excess_of_consecutive<HybridTaus>(Seeding::consecutive), wanted, 4 * error);
  EXPECT_NEAR(excess_of_consecutive<Lcg>(Seeding::consecutive), wanted, 4 * error);
  EXPECT_NEAR(excess_of_consecutive<Saru>(Seeding::unrelated), 1, 4 * std::sqrt(2 * 10 / 40000.0));
}

}  // namespace
}  // namespace perrin
