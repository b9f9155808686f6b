// The battery itself: its probabilities, and that it tells good generators from bad ones.
#include <gtest/gtest.h>

#include <algorithm>

#include "rng/word_source.h"
#include "tests/statistics/battery.h"

namespace perrin::statistics {
namespace {

TEST(RngProbability, AgainstKnownValues) {
  EXPECT_NEAR(chi_square_tail(3.841458820694124, 1), 0.05, 1e-12);
  EXPECT_NEAR(chi_square_tail(18.307038053275146, 10), 0.05, 1e-12);
  EXPECT_NEAR(chi_square_tail(2, 2), std::exp(-1.0), 1e-14);
  EXPECT_NEAR(poisson_head(0, 2.5), std::exp(-2.5), 1e-14);
  EXPECT_NEAR(poisson_head(3, 2) + poisson_tail(4, 2), 1, 1e-14);
  EXPECT_NEAR(normal_two_sided(1.959963984540054), 0.05, 1e-12);
  double ranks = 0;
  for (int d = 0; d < 8; ++d) ranks += rank_probability(d);
  EXPECT_NEAR(ranks, 1, 1e-12);
  EXPECT_NEAR(rank_probability(0), 0.2887880951, 1e-9);
}

TEST(RngProbability, RanksOfKnownMatrices) {
  std::vector<std::uint64_t> rows(64);
  for (int i = 0; i < 64; ++i) rows[std::size_t(i)] = std::uint64_t(1) << (63 - i);
  EXPECT_EQ(rank_of(rows, 64), 64);
  for (int i = 0; i < 64; ++i) rows[std::size_t(i)] = std::uint64_t(i % 8);  // span of 1, 2, 4
  EXPECT_EQ(rank_of(rows, 64), 3);
}

std::vector<Result> battery(const WordSourceSettings& settings, double numbers) {
  WordSource source(settings);
  return run_battery([&](std::uint32_t* words, std::size_t n) { source.fill(words, n); }, numbers);
}
std::string failures(const std::vector<Result>& results) {
  std::string text;
  for (const Result& r : results)
    if (r.p < failing) text += r.test + "; ";
  return text;
}

// Five million numbers; 19 tests, failing at 10^-7.
TEST(RngBattery, GoodGeneratorsPass) {
  for (const std::string& name : word_source_generators()) {
    // Known to fail: see below.
    if (name == "lcg" || name == "park_miller" || name == "hybrid_taus" || name == "mt607")
      continue;
    EXPECT_EQ(failures(battery({name, "", "particles", 1}, 5e6)), "") << name;
  }
  for (const char* pattern : {"particle", "pairs", "rows", "columns", "sequence"})
    EXPECT_EQ(failures(battery({"saru", "keyed", pattern, 2}, 5e6)), "") << pattern;
}
// Multiplicative congruential generators of 31 bits lie on a lattice that birthday spacings see.
TEST(RngBattery, ParkMillerFailsBirthdaySpacings) {
  const std::string plain = failures(battery({"park_miller", "", "sequence", 1}, 5e6));
  EXPECT_NE(plain.find("birthday"), std::string::npos) << plain;
}
TEST(RngBattery, LcgFails) {
  EXPECT_NE(failures(battery({"lcg", "", "particles", 1}, 5e6)), "");
  const std::string plain = failures(battery({"lcg", "", "sequence", 1}, 5e6));
  EXPECT_NE(plain.find("serial pairs, lowest"), std::string::npos) << plain;
  EXPECT_NE(plain.find("birthday"), std::string::npos) << plain;
}
// Linear over GF(2) in their low bits, or altogether.
TEST(RngBattery, LinearGeneratorsFailLargeRanks) {
  for (const char* name : {"hybrid_taus", "mt607"}) {
    const std::string plain = failures(battery({name, "", "sequence", 1}, 5e6));
    EXPECT_NE(plain.find("rank 1024×1024, bit 0"), std::string::npos) << name << ": " << plain;
    EXPECT_NE(plain.find("linear complexity"), std::string::npos) << name << ": " << plain;
    EXPECT_EQ(plain.find("Hamming"), std::string::npos) << name << ": " << plain;
  }
}

TEST(RngWordSource, RefusesWhatDoesNotExist) {
  EXPECT_THROW(WordSource({"saro", "", "particles", 1}), UserError);
  EXPECT_THROW(WordSource({"saru", "", "diagonal", 1}), UserError);
  EXPECT_THROW(WordSource({"ran2", "", "pairs", 1}), UserError);
  EXPECT_THROW(WordSource({"philox", "phillips", "particles", 1}), UserError);
  EXPECT_THROW(WordSource({"lagged_fibonacci", "shared:1252", "sequence", 1}), UserError);
}
TEST(RngWordSource, TheRowOfTheLaggedFibonacciGenerator) {
  for (const Lags& lags : lag_table()) {
    const std::string scheme = "shared:" + std::to_string(lags.long_lag);
    WordSource source({"lagged_fibonacci", scheme, "sequence", 1});
    EXPECT_EQ(source.scheme(), scheme);
    std::vector<std::uint32_t> x(std::size_t(lags.long_lag + 10));
    source.fill(x.data(), x.size());
    EXPECT_EQ(x.back(), x[x.size() - 1 - std::size_t(lags.short_lag)] + x[9]);
  }
  EXPECT_EQ(WordSource({"lagged_fibonacci", "", "particles", 1}).scheme(), "shared:132049");
}
TEST(RngWordSource, PatternsArePathsThroughTheSameNumbers) {
  const RunKey key(Purpose::command, 9);
  WordSource rows({"philox", "", "rows", 9}), columns({"philox", "", "columns", 9}),
      particles({"philox", "", "particles", 9}), particle({"philox", "", "particle", 9});
  std::vector<std::uint32_t> r(20000), c(4096 * 2), p(48003), one(30);
  rows.fill(r.data(), r.size());
  columns.fill(c.data(), c.size());
  particles.fill(p.data(), p.size());
  particle.fill(one.data(), one.size());
  EXPECT_EQ(r[7], keyed<Philox>(key, 0, 7).next());
  EXPECT_EQ(r[16003], keyed<Philox>(key, 1, 3).next());
  EXPECT_EQ(c[9], keyed<Philox>(key, 9, 0).next());
  EXPECT_EQ(c[4096 + 5], keyed<Philox>(key, 5, 1).next());
  EXPECT_EQ(p[3 * 42], keyed<Philox>(key, 0, 42).next());
  EXPECT_EQ(p[48000], keyed<Philox>(key, 1, 0).next());
  Philox g = keyed<Philox>(key, 2, 0);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(one[std::size_t(6 + k)], g.next());
}
}  // namespace
}  // namespace perrin::statistics
