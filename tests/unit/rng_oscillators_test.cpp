// Brownian oscillators as a test of generators: A. A. Zhmurov, V. A. Barsegov, S. V. Trifonov,
// Ya. A. Kholodov, A. S. Kholodov, "Efficient pseudorandom number generators for biomolecular
// simulations on graphics processors" (2011, in Russian).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "rng/keyed.h"
#include "rng/stateful.h"

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

}  // namespace
}  // namespace perrin
