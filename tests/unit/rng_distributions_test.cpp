// The distributions, by their moments, their ranges and their elementary functions.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "rng/density.h"
#include "rng/keyed.h"

namespace perrin {
namespace {

constexpr int samples = 2000000;
constexpr double sigmas = 5;  // with fixed seeds; a fair sample would fail one check in 2 million

// Mean of f(x) over a sample, checked against theory: value, and variance of f.
struct Moment {
  double sum = 0;
  void check(double expected, double variance, const char* what) const {
    EXPECT_NEAR(sum / samples, expected, sigmas * std::sqrt(variance / samples)) << what;
  }
};

template <class T>
class RngDistributions : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(RngDistributions, Types);

// Moments 1 to 4 of uniform numbers on (0,1): mean of x^k is 1/(k+1), variance 1/(2k+1) -
// 1/(k+1)^2.
TYPED_TEST(RngDistributions, Uniforms) {
  Saru g(1, 2, 3);
  std::array<Moment, 4> m, open;
  Moment s, s2;
  for (int i = 0; i < samples; ++i) {
    const TypeParam u = g.template uniform<TypeParam>(), o = g.template uniform_open<TypeParam>(),
                    x = g.template symmetric<TypeParam>();
    ASSERT_GE(u, TypeParam(0));
    ASSERT_LT(u, TypeParam(1));
    ASSERT_GT(o, TypeParam(0));
    ASSERT_LE(o, TypeParam(1));
    ASSERT_LT(std::abs(x), TypeParam(1));
    for (int k = 0; k < 4; ++k) m[k].sum += std::pow(u, k + 1), open[k].sum += std::pow(o, k + 1);
    s.sum += x;
    s2.sum += double(x) * x;
  }
  for (int k = 1; k <= 4; ++k) {
    const double mean = 1.0 / (k + 1), variance = 1.0 / (2 * k + 1) - mean * mean;
    m[k - 1].check(mean, variance, "uniform");
    open[k - 1].check(mean, variance, "uniform_open");
  }
  s.check(0, 1.0 / 3, "symmetric");
  s2.check(1.0 / 3, 1.0 / 5 - 1.0 / 9, "symmetric squared");
}

// A generator that says what it is told: the ends of the ranges.
struct Constant : Distributions<Constant> {
  std::uint32_t word;
  explicit Constant(std::uint32_t w) : word(w) {}
  std::uint32_t next() { return word; }
};
TYPED_TEST(RngDistributions, EndsOfTheRanges) {
  Constant low(0), high(0xffffffffu), least(0x80000000u), most(0x7fffffffu);
  EXPECT_EQ(low.uniform<TypeParam>(), TypeParam(0));
  EXPECT_LT(high.uniform<TypeParam>(), TypeParam(1));
  EXPECT_GT(low.uniform_open<TypeParam>(), TypeParam(0));
  EXPECT_EQ(high.uniform_open<TypeParam>(), TypeParam(1));
  EXPECT_GT(least.symmetric<TypeParam>(), TypeParam(-1));
  EXPECT_EQ(least.symmetric<TypeParam>(), -most.symmetric<TypeParam>());
  EXPECT_NE(low.symmetric<TypeParam>(), TypeParam(0));
  for (Constant* g : {&low, &high, &least, &most}) {
    EXPECT_TRUE(std::isfinite(g->normal<TypeParam>()));
    EXPECT_TRUE(std::isfinite(g->exponential<TypeParam>()));
    EXPECT_GE(g->exponential<TypeParam>(), TypeParam(0));
  }
}

// Standard normals: the moments 0, 1, 0, 3, 0, 15 with variances 1, 2, 15, 96, 945, 10170; and the
// probabilities of tails, which table and rejection errors would show in.
template <class F>
void check_normal(const char* what, F draw) {
  std::array<Moment, 6> m;
  const std::array<double, 5> beyond = {0.5, 1.5, 2.5, 3.5, 4.0};
  std::array<Moment, 5> tail;
  for (int i = 0; i < samples; ++i) {
    const double x = draw();
    double power = 1;
    for (auto& k : m) k.sum += power *= x;
    for (std::size_t t = 0; t < beyond.size(); ++t) tail[t].sum += std::abs(x) > beyond[t];
  }
  const std::array<double, 6> mean = {0, 1, 0, 3, 0, 15}, variance = {1, 2, 15, 96, 945, 10170};
  for (int k = 0; k < 6; ++k) m[k].check(mean[k], variance[k], what);
  for (std::size_t t = 0; t < beyond.size(); ++t) {
    const double p = std::erfc(beyond[t] / std::sqrt(2.0));
    tail[t].check(p, p * (1 - p), what);
  }
}
TYPED_TEST(RngDistributions, Normals) {
  using T = TypeParam;
  Saru a(4, 5, 6);
  check_normal("Box-Muller", [&] { return a.normal<T>(); });
  check_normal("Box-Muller, second", [&] { return a.normal_pair<T>().second; });
  check_normal("polar", [&] { return a.normal_pair_polar<T>().first; });
  check_normal("polar, second", [&] { return a.normal_pair_polar<T>().second; });
  check_normal("ziggurat", [&] { return a.normal_ziggurat<T>(); });
  if (sizeof(T) == 4) check_normal("quantile", [&] { return a.normal_quantile(); });
}
TYPED_TEST(RngDistributions, NormalsOfOneDrawingAreIndependent) {
  using T = TypeParam;
  Saru g(7, 8, 9);
  Moment xy, yz, zx, squares, polar;
  for (int i = 0; i < samples; ++i) {
    const auto n = g.normal3<T>();
    xy.sum += n.x * n.y, yz.sum += n.y * n.z, zx.sum += n.z * n.x;
    squares.sum += double(n.x) * n.x * n.y * n.y;
    const auto p = g.normal_pair_polar<T>();
    polar.sum += p.first * p.second;
  }
  xy.check(0, 1, "xy"), yz.check(0, 1, "yz"), zx.check(0, 1, "zx"), polar.check(0, 1, "polar");
  squares.check(1, 8, "x²y²");
}

/// x > 0 with P(X > x) = p for a standard normal, by bisection.
double quantile(double p) {
  double low = 0, high = 8;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(middle / std::sqrt(2.0)) > p ? low : high) = middle;
  }
  return (low + high) / 2;
}
TEST(RngNormalQuantile, IsTheInverseOfTheDistribution) {
  // Words of all magnitudes, and both sides of every border between pieces.
  std::vector<std::uint32_t> words = {0, 1, 2, 3, 0x7ffffffe, 0x7fffffff};
  Saru g(20);
  for (int i = 0; i < 200000; ++i) words.push_back((g.next() >> 1) >> i % 31);
  for (std::uint32_t octave = 4; octave < 32; ++octave)
    for (std::uint32_t piece = 8; piece < 16; ++piece) {
      const auto border = std::uint32_t(std::uint64_t(piece) << octave >> 4);
      words.insert(words.end(), {border - 1, border, border + 1});
    }
  double worst = 0;
  for (const std::uint32_t w : words) {
    Constant positive(w), negative(w | 0x80000000u);
    const float x = positive.normal_quantile();
    worst = std::max(worst, std::abs(x - quantile((w + 0.5) * 0x1p-32)));
    ASSERT_EQ(negative.normal_quantile(), -x) << w;
  }
  EXPECT_LT(worst, 6e-7);
}
TEST(RngNormalQuantile, HasTheMomentsOfANormal) {
  // Every 4096th tail probability: the sums are those of the whole table of words, and far better
  // than what a sample could tell. Left out beyond 6.34: 2e-10 in all, 4e-7 of x^6.
  std::array<double, 3> m{};
  double n = 0;
  for (std::uint64_t w = 2048; w < std::uint64_t(1) << 31; w += 4096, ++n) {
    Constant g{std::uint32_t(w)};
    const double x = g.normal_quantile(), x2 = x * x;
    m[0] += x2, m[1] += x2 * x2, m[2] += x2 * x2 * x2;
  }
  // The midpoint rule with 4096 times fewer points misses that much of the outermost tail.
  EXPECT_NEAR(m[0] / n, 1, 1e-5);
  EXPECT_NEAR(m[1] / n / 3, 1, 1e-4);
  EXPECT_NEAR(m[2] / n / 15, 1, 1e-3);
}

TYPED_TEST(RngDistributions, Exponential) {
  Saru g(10, 11, 12);
  std::array<Moment, 3> m;
  for (int i = 0; i < samples; ++i) {
    const double x = g.exponential<TypeParam>();
    m[0].sum += x, m[1].sum += x * x, m[2].sum += x * x * x;
  }
  m[0].check(1, 1, "mean"), m[1].check(2, 20, "square"), m[2].check(6, 684, "cube");
}

TYPED_TEST(RngDistributions, UnitVector) {
  Saru g(13, 14, 15);
  Moment x, y, z, xx, yy, zz, x4;
  for (int i = 0; i < samples; ++i) {
    const auto v = g.unit_vector<TypeParam>();
    ASSERT_NEAR(dot(v, v), TypeParam(1), TypeParam(1e-6));
    x.sum += v.x, y.sum += v.y, z.sum += v.z;
    xx.sum += double(v.x) * v.x, yy.sum += double(v.y) * v.y, zz.sum += double(v.z) * v.z;
    x4.sum += std::pow(v.x, 4);
  }
  for (const Moment* m : {&x, &y, &z}) m->check(0, 1.0 / 3, "component");
  for (const Moment* m : {&xx, &yy, &zz}) m->check(1.0 / 3, 1.0 / 5 - 1.0 / 9, "square");
  x4.check(1.0 / 5, 1.0 / 9 - 1.0 / 25, "fourth power");
}

TEST(RngBelow, EveryValueIsEquallyLikely) {
  Saru g(16, 17, 18);
  // 3·2^30: with plain scaling every third value would be twice as likely.
  const std::uint32_t n = 3u << 30;
  Moment third;
  for (int i = 0; i < samples; ++i) {
    const std::uint32_t x = g.below(n);
    ASSERT_LT(x, n);
    third.sum += x % 3 == 0;
  }
  third.check(1.0 / 3, 2.0 / 9, "multiples of 3");
  EXPECT_EQ(g.below(1), 0u);
}

TEST(RngMath, LogAndSinCosAreAccurate) {
  Saru g(19);
  double log_f = 0, log_d = 0, turn_f = 0, turn_d = 0;
  for (int i = 0; i < 1000000; ++i) {
    const std::uint32_t w = g.next();
    // Of all magnitudes, and close to 1 where cancellation would show.
    const float u = i % 2 ? 1 - float(w) * 0x1p-40f : float(w) * 0x1p-32f + 0x1p-33f;
    const double d = i % 2 ? 1 - double(w) * 0x1p-40 : double(w) * 0x1p-32 + 0x1p-65;
    const long double exact_f = std::log((long double)u), exact_d = std::log((long double)d);
    if (exact_f != 0)
      log_f = std::max(log_f, double(std::abs((exact::log(u) - exact_f) / exact_f)));
    if (exact_d != 0)
      log_d = std::max(log_d, double(std::abs((exact::log(d) - exact_d) / exact_d)));
    const long double angle = 2 * 3.141592653589793238462643383279502884L * w * 0x1p-32L;
    const auto f = exact::sincos_turn<float>(w);
    const auto x = exact::sincos_turn<double>(w);
    turn_f = std::max({turn_f, double(std::abs(f.sin - std::sin(angle))),
                       double(std::abs(f.cos - std::cos(angle)))});
    turn_d = std::max({turn_d, double(std::abs(x.sin - std::sin(angle))),
                       double(std::abs(x.cos - std::cos(angle)))});
  }
  EXPECT_LT(log_f, 0x1p-23);
  EXPECT_LT(log_d, 0x1p-52);
  EXPECT_LT(turn_f, 0x1p-23);
  EXPECT_LT(turn_d, 0x1p-52);
  EXPECT_EQ(exact::log(1.0f), 0.0f);
  EXPECT_EQ(exact::log(1.0), 0.0);
}

// A density at points: 1 from 0 to 1, nothing from 2 to 3, a slope up to 2 at 5, nothing after 6.
// Between its points it is a straight line.
TYPED_TEST(RngDistributions, Densities) {
  const auto density = Density<TypeParam>::of({0, 1, 2, 3, 5, 6, 7}, {1, 1, 0, 0, 2, 0, 0});
  EXPECT_NEAR(density.integral, 1 + 0.5 + 2 + 1, 1e-12);
  Saru g(1, 2, 3);
  Moment first, second, early;
  for (int i = 0; i < samples; ++i) {
    const double x = double(density.view().draw(g));
    ASSERT_TRUE(x >= 0 && x <= 6 && !(x > 2.0001 && x < 2.9999)) << x;
    first.sum += x;
    second.sum += x * x;
    early.sum += x < 1;
  }
  // By pieces: ∫ x p and ∫ x² p of a trapezium from a to b with heights u and v.
  double mean = 0, square = 0, fourth = 0;
  const double pieces[][4] = {{0, 1, 1, 1}, {1, 2, 1, 0}, {3, 5, 0, 2}, {5, 6, 2, 0}};
  for (const auto& [a, b, u, v] : pieces)
    for (int k = 0; k < 10000; ++k) {
      const double t = (k + 0.5) / 10000, x = a + t * (b - a);
      const double weight = (u + t * (v - u)) * (b - a) / 10000 / 4.5;
      mean += x * weight, square += x * x * weight, fourth += x * x * x * x * weight;
    }
  first.check(mean, square - mean * mean, "mean");
  second.check(square, fourth - square * square, "square");
  early.check(1 / 4.5, 1 / 4.5 * (1 - 1 / 4.5), "the first piece");
  for (const auto& [x, p] : {std::pair<std::vector<double>, std::vector<double>>{{0}, {1}},
                             {{0, 0}, {1, 1}},
                             {{0, 1}, {1, -1}},
                             {{0, 1}, {0, 0}},
                             {{0, 1}, {1, INFINITY}}})
    EXPECT_THROW(Density<TypeParam>::of(x, p), UserError);
}

}  // namespace
}  // namespace perrin
