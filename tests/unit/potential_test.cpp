// Pair potentials and their truncations: forces against derivatives of the energies, values known
// from the formulas, and the kernel's arithmetic against double precision.
#include <cmath>
#include <numbers>

#include "engine/device/parallel.h"
#include "forces/potentials/buckingham.h"
#include "forces/potentials/gaussian_core.h"
#include "forces/potentials/lennard_jones.h"
#include "forces/potentials/mie.h"
#include "forces/potentials/morse.h"
#include "forces/potentials/soft_dpd.h"
#include "forces/potentials/wca.h"
#include "forces/potentials/yukawa.h"
#include "forces/truncation.h"
#include "tests/devices.h"

namespace perrin {
namespace {

// A force that was compiled for some truncations refuses the others.
static_assert(has_truncation("force_shift", AllTruncations{}) &&
              has_truncation("energy_shift", Truncations<Switched, PlainCut>{}) &&
              !has_truncation("force_shift", Truncations<Switched, PlainCut>{}));

constexpr CutOff cut{2.5, 2.0};

template <class P>
typename P::Settings settings();
template <>
LennardJones::Settings settings<LennardJones>() {
  return {1.3, 0.9};
}
template <>
Wca::Settings settings<Wca>() {
  return {1.3, 0.9};
}
template <>
Morse::Settings settings<Morse>() {
  return {2.1, 3.5, 1.2};
}
template <>
Yukawa::Settings settings<Yukawa>() {
  return {-1.7, 1.1};
}
template <>
GaussianCore::Settings settings<GaussianCore>() {
  return {3.2, 1.4};
}
template <>
SoftDpd::Settings settings<SoftDpd>() {
  return {25, 1.6};
}
template <>
Mie::Settings settings<Mie>() {
  return {1.3, 0.9, 14.5, 6.2};
}
template <>
Buckingham::Settings settings<Buckingham>() {
  return {4e5, 0.08, 2};
}

template <class E>
typename E::Coefficients coefficients(CutOff c = cut) {
  return E::coefficients(settings<typename E::Potential>(), c);
}

template <class E>
double energy(double r, const typename E::Coefficients& c) {
  return E::evaluate(r * r, c).energy;
}

/// Derivative by five points: the error is h⁴ f⁽⁵⁾/30.
template <class F>
double slope(const F& f, double x, double h) {
  return (f(x - 2 * h) - 8 * f(x - h) + 8 * f(x + h) - f(x + 2 * h)) / (12 * h);
}

/// "energy_shift", as a mode of its own.
struct EnergyShift : PlainCut {
  static constexpr const char* name = shifted;
  static Numbers numbers(CutOff c, PairForce<double> at_cutoff) {
    c.shift_energy = true;
    return PlainCut::numbers(c, at_cutoff);
  }
};

template <class E>
class EveryPotential : public ::testing::Test {};

using Evaluators = ::testing::Types<
    Truncated<LennardJones, PlainCut>, Truncated<LennardJones, EnergyShift>,
    Truncated<LennardJones, ForceShift>, Truncated<LennardJones, Switched>,
    Truncated<Wca, PlainCut>, Truncated<Wca, EnergyShift>, Truncated<Wca, ForceShift>,
    Truncated<Morse, PlainCut>, Truncated<Morse, EnergyShift>, Truncated<Morse, ForceShift>,
    Truncated<Morse, Switched>, Truncated<Yukawa, PlainCut>, Truncated<Yukawa, EnergyShift>,
    Truncated<Yukawa, ForceShift>, Truncated<Yukawa, Switched>, Truncated<GaussianCore, PlainCut>,
    Truncated<GaussianCore, EnergyShift>, Truncated<GaussianCore, ForceShift>,
    Truncated<GaussianCore, Switched>, Truncated<SoftDpd, PlainCut>,
    Truncated<SoftDpd, EnergyShift>, Truncated<SoftDpd, ForceShift>, Truncated<Mie, PlainCut>,
    Truncated<Mie, Switched>, Truncated<Buckingham, ForceShift>, Truncated<Buckingham, Switched>>;
TYPED_TEST_SUITE(EveryPotential, Evaluators);

TYPED_TEST(EveryPotential, ForceIsMinusTheDerivativeOfTheEnergy) {
  using E = TypeParam;
  const auto c = coefficients<E>();
  const double end = std::sqrt(double(c.cutoff2));
  for (double r = 0.75; r < end - 1e-3; r += 0.0137) {
    // A step of 10⁻⁴: truncation below 10⁻¹¹ even where LJ is steepest, rounding about 10⁻¹¹ E.
    const double expected = -slope([&](double x) { return energy<E>(x, c); }, r, 1e-4);
    const auto f = E::evaluate(r * r, c);
    EXPECT_NEAR(f.force_over_r * r, expected, 1e-8 * std::abs(expected) + 1e-9) << "r = " << r;
  }
}

/// E of the bare potential, and what its truncation says, near the cut-off.
TYPED_TEST(EveryPotential, EndsAsItsTruncationSays) {
  using E = TypeParam;
  using P = typename E::Potential;
  const auto c = coefficients<E>();
  const double r2 = double(c.cutoff2) * (1 - 1e-9), r = std::sqrt(r2);
  const auto bare = P::evaluate(r2, c.potential);
  const auto f = E::evaluate(r2, c);
  // Numbers of the truncation are rounded to Real.
  const double tolerance = 1e-6 * (1 + std::abs(bare.energy) + std::abs(bare.force_over_r));
  if constexpr (std::is_same_v<typename E::Mode, PlainCut>) {
    EXPECT_DOUBLE_EQ(f.energy, bare.energy);
    EXPECT_DOUBLE_EQ(f.force_over_r, bare.force_over_r);
  } else {
    EXPECT_NEAR(f.energy, 0, tolerance);
    if constexpr (std::is_same_v<typename E::Mode, EnergyShift>)
      EXPECT_DOUBLE_EQ(f.force_over_r, bare.force_over_r);
    else
      EXPECT_NEAR(f.force_over_r, 0, tolerance);
  }
  if constexpr (std::is_same_v<typename E::Mode, Switched>) {
    const double inside = 0.99 * cut.switch_on;
    EXPECT_DOUBLE_EQ(energy<E>(inside, c), P::evaluate(inside * inside, c.potential).energy);
    // Second derivatives: continuous where the switch begins, zero where it ends.
    const auto force = [&](double x) { return E::evaluate(x * x, c).force_over_r * x; };
    const double h = 1e-4;
    const auto curvature = [&](double x) { return (force(x + h) - force(x - h)) / (2 * h); };
    EXPECT_NEAR(curvature(cut.switch_on - 2 * h), curvature(cut.switch_on + 2 * h), 0.05);
    EXPECT_NEAR(curvature(r - 2 * h), 0, 0.05);
  }
}

template <class E>
struct Evaluate {
  const Real* r2;
  PairForce<Real>* result;
  const typename E::Coefficients* table;
  PERRIN_HD void operator()(std::int64_t i) const { result[i] = E::evaluate(r2[i], table[1]); }
};

class PotentialOnDevice : public DeviceTest {
 protected:
  template <class E>
  void compare() {
    const auto c = coefficients<E>();
    std::vector<Real> r2;
    for (double r = 0.8; r * r < double(c.cutoff2); r += 0.0031) r2.push_back(Real(r * r));
    Buffer<Real> in(device(), r2);
    Buffer<PairForce<Real>> out(device(), std::int64_t(r2.size()));
    // Behind another: device and host must agree where the second one begins.
    Buffer<typename E::Coefficients> table(
        device(), std::vector<typename E::Coefficients>{coefficients<E>({1.1, 0.9}), c});
    for_each(device(), "evaluate", in.size(), Evaluate<E>{in.data(), out.data(), table.data()});
    const auto result = out.to_host();
    // The largest energies and forces are of this order; cancellation between two terms near a
    // zero costs digits relative to the terms, not to the sum.
    const auto scale = E::evaluate(double(r2[0]), c);
    for (std::size_t k = 0; k < r2.size(); ++k) {
      const auto exact = E::evaluate(double(r2[k]), c);
      const double tolerance = std::is_same_v<Real, float> ? 3e-6 : 1e-13;
      EXPECT_NEAR(double(result[k].energy), exact.energy,
                  tolerance * (std::abs(exact.energy) + std::abs(scale.energy)))
          << E::Potential::type << " " << E::Mode::name << " r2 = " << r2[k];
      EXPECT_NEAR(double(result[k].force_over_r), exact.force_over_r,
                  tolerance * (std::abs(exact.force_over_r) + std::abs(scale.force_over_r)))
          << E::Potential::type << " " << E::Mode::name << " r2 = " << r2[k];
    }
  }
  template <class P>
  void compare_modes() {
    compare<Truncated<P, PlainCut>>();
    compare<Truncated<P, EnergyShift>>();
    compare<Truncated<P, ForceShift>>();
    if constexpr (!HasDefaultCutoff<P>) compare<Truncated<P, Switched>>();
  }
};

TEST_P(PotentialOnDevice, AgreesWithDoublePrecision) {
  compare_modes<LennardJones>();
  compare_modes<Wca>();
  compare_modes<Morse>();
  compare_modes<Yukawa>();
  compare_modes<GaussianCore>();
  compare_modes<SoftDpd>();
  compare<Truncated<Mie, ForceShift>>();
  compare<Truncated<Buckingham, ForceShift>>();
}
PERRIN_INSTANTIATE_DEVICES(PotentialOnDevice);

template <class P>
PairForce<double> at(double r) {
  return P::evaluate(r * r, P::coefficients(settings<P>()));
}

TEST(Potential, HasTheValuesOfItsFormula) {
  const double tolerance = 1e-6;  // coefficients are rounded to Real
  const double minimum = 0.9 * std::pow(2, 1.0 / 6);
  EXPECT_NEAR(at<LennardJones>(minimum).energy, -1.3, tolerance);
  EXPECT_NEAR(at<LennardJones>(minimum).force_over_r, 0, 1e-4);
  EXPECT_NEAR(at<LennardJones>(0.9).energy, 0, tolerance);
  EXPECT_NEAR(at<LennardJones>(0.9).force_over_r * 0.9, 24 * 1.3 / 0.9, 1e-4);
  EXPECT_NEAR(at<Wca>(minimum).energy, 0, tolerance);
  EXPECT_NEAR(at<Wca>(0.9).energy, 1.3, tolerance);
  EXPECT_NEAR(at<Morse>(1.2).energy, -2.1, tolerance);
  EXPECT_NEAR(at<Yukawa>(2.0).energy, -1.7 * std::exp(-2.2) / 2, tolerance);
  EXPECT_NEAR(at<GaussianCore>(1.4).energy, 3.2 / std::numbers::e, tolerance);
  EXPECT_NEAR(at<SoftDpd>(0.8).energy, 25 * 1.6 / 2 * 0.25, 1e-5);
  EXPECT_NEAR(at<SoftDpd>(0.8).force_over_r * 0.8, 12.5, 1e-5);
  EXPECT_NEAR(at<Mie>(0.9).energy, 0, tolerance);
  EXPECT_NEAR(at<Mie>(0.9 * std::pow(14.5 / 6.2, 1 / 8.3)).energy, -1.3, tolerance);
  EXPECT_NEAR(at<Mie>(0.9 * std::pow(14.5 / 6.2, 1 / 8.3)).force_over_r, 0, 1e-4);
  EXPECT_NEAR(at<Buckingham>(1.2).energy, 4e5 * std::exp(-15) - 2 / std::pow(1.2, 6), 1e-5);
  // Mie 12-6 is Lennard-Jones.
  for (double r = 0.8; r < 3; r += 0.1) {
    const double energy = Mie::evaluate(r * r, Mie::coefficients({1.3, 0.9, 12, 6})).energy;
    EXPECT_NEAR(energy, at<LennardJones>(r).energy, 1e-6 * (1 + std::abs(energy)));
  }
}

TEST(Potential, PowersOfTwoAndLogarithms) {
  double worst_power = 0, worst_logarithm = 0;
  for (float x = -125; x < 99; x += 0.00173f)
    worst_power = std::max(worst_power, std::abs(double(exp2_of(x)) / std::exp2(double(x)) - 1));
  for (float x = 1e-30f; x < 1e30f; x *= 1.00013f)
    worst_logarithm =
        std::max(worst_logarithm, std::abs(double(log2_of(x)) - std::log2(double(x))) /
                                      std::max(std::abs(std::log2(double(x))), 1e-12));
  EXPECT_LT(worst_power, 2.5e-7);
  EXPECT_LT(worst_logarithm, 2.5e-7);
  EXPECT_EQ(exp2_of(0.0f), 1);
  EXPECT_EQ(log2_of(1.0f), 0);
}

// Behind its maximum the formula would fall without bound: here it does not.
TEST(Potential, BuckinghamHasNoCollapse) {
  const auto s = settings<Buckingham>();
  const auto formula = [&](double r) {
    return s.amplitude * std::exp(-r / s.rho) - s.dispersion / std::pow(r, 6);
  };
  const double top = Buckingham::maximum(s);
  EXPECT_GT(formula(top), formula(top * 1.01));
  EXPECT_GT(formula(top), formula(top * 0.99));
  EXPECT_NEAR(at<Buckingham>(top * 1.001).energy, formula(top * 1.001), 1e-5 * formula(top));
  EXPECT_NEAR(at<Buckingham>(top).energy, formula(top), 1e-5 * formula(top));
  double before = at<Buckingham>(top).energy;
  for (double r = top * 0.999; r > 0.001; r *= 0.99) {
    const auto f = at<Buckingham>(r);
    EXPECT_GT(f.energy, before) << r;
    EXPECT_GT(f.force_over_r, 0) << r;
    before = f.energy;
  }
  std::string refused;
  const auto refuse = [&](const std::string& key, const std::string&) { refused += key; };
  Buckingham::check({Buckingham::least_amplitude({1, 0.08, 2}) * 0.99, 0.08, 2}, refuse);
  EXPECT_EQ(refused, "amplitude");
  Buckingham::check({Buckingham::least_amplitude({1, 0.08, 2}) * 1.01, 0.08, 2}, refuse);
  Mie::check({1, 1, 6, 6}, refuse);
  Mie::check({1, 1, 12, 3}, refuse);
  EXPECT_EQ(refused, "amplituderepulsiveattractive");
}

TEST(Potential, NeverGivesNaN) {
  const auto finite_in_float = []<class P>(P) {
    const auto f = P::evaluate(0.0f, P::coefficients(settings<P>()));
    return std::isfinite(f.energy) && std::isfinite(f.force_over_r);
  };
  EXPECT_TRUE(finite_in_float(Morse{}));
  EXPECT_TRUE(finite_in_float(GaussianCore{}));
  EXPECT_TRUE(finite_in_float(SoftDpd{}));
  EXPECT_TRUE(finite_in_float(Buckingham{}));
  const auto c = LennardJones::coefficients({1, 1});
  const auto mie = Mie::coefficients(settings<Mie>());
  // PairBody adds 1e-24 to the square of every distance.
  for (float r2 : {1e-24f, 1e-6f, 1e-3f, 1e12f}) {
    EXPECT_FALSE(std::isnan(LennardJones::evaluate(r2, c).energy)) << r2;
    EXPECT_FALSE(std::isnan(LennardJones::evaluate(r2, c).force_over_r)) << r2;
    EXPECT_FALSE(std::isnan(Mie::evaluate(r2, mie).energy)) << r2;
    EXPECT_FALSE(std::isnan(Mie::evaluate(r2, mie).force_over_r)) << r2;
  }
}

TEST(Potential, EndsWhereItEndsByItself) {
  EXPECT_DOUBLE_EQ(Wca::default_cutoff({1, 2}), std::pow(2, 7.0 / 6));
  const auto c = Truncated<Wca, PlainCut>::coefficients({1, 1}, {.cutoff = 3});
  EXPECT_NEAR(double(c.cutoff2), std::pow(2, 1.0 / 3), 1e-6);
  const auto shorter = Truncated<SoftDpd, PlainCut>::coefficients({25, 2}, {.cutoff = 1.5});
  EXPECT_NEAR(double(shorter.cutoff2), 2.25, 1e-6);
}

TEST(Potential, MixesByTheRule) {
  const LennardJones::Settings a{1, 1}, b{4, 2.25};
  const auto lb = LennardJones::mix(a, b, Mixing::lorentz_berthelot);
  EXPECT_DOUBLE_EQ(lb.epsilon, 2);
  EXPECT_DOUBLE_EQ(lb.sigma, 1.625);
  const auto geometric = LennardJones::mix(a, b, Mixing::geometric);
  EXPECT_DOUBLE_EQ(geometric.epsilon, 2);
  EXPECT_DOUBLE_EQ(geometric.sigma, 1.5);
  const auto mie = Mie::mix({1, 1, 12, 6}, {4, 2, 19, 7}, Mixing::lorentz_berthelot);
  EXPECT_DOUBLE_EQ(mie.epsilon, 2);
  EXPECT_DOUBLE_EQ(mie.sigma, 1.5);
  EXPECT_DOUBLE_EQ(mie.repulsive, 15);  // 3 + sqrt(9 · 16)
  EXPECT_DOUBLE_EQ(mie.attractive, 3 + std::sqrt(12));
}

/// With u = 1/r the integrals run from 0 to 1/r_c: Simpson's rule, 2000 intervals.
template <class P>
void expect_tails(const typename P::Settings& s) {
  const auto c = P::coefficients(s);
  const double rc = 2.1;
  const int n = 2000;
  double energy_sum = 0, virial_sum = 0;
  for (int k = 1; k <= n; ++k) {  // the integrand vanishes at u = 0
    const double u = k / (n * rc), r = 1 / u;
    const auto f = P::evaluate(r * r, c);
    const double weight = (k == n ? 1 : k % 2 ? 4 : 2) / (3 * n * rc) * r * r;  // dr = du / u²
    energy_sum += weight * r * r * f.energy;
    virial_sum += weight * r * r * f.force_over_r * r * r;
  }
  EXPECT_NEAR(P::tail_energy(s, rc), energy_sum, 2e-6 * std::abs(energy_sum)) << P::type;
  EXPECT_NEAR(P::tail_virial(s, rc), virial_sum, 2e-6 * std::abs(virial_sum)) << P::type;
}

TEST(Potential, TailsAreTheIntegralsBeyondTheCutOff) {
  expect_tails<LennardJones>({1.3, 0.9});
  expect_tails<Mie>({1.3, 0.9, 14, 6.5});
  expect_tails<Buckingham>({1e5, 0.3, 2});
}

TEST(Truncation, IsChosenByName) {
  for (const char* name : truncation_names)
    EXPECT_TRUE(with_truncation(name, [&]<class M>() {
      return name == std::string(M::name) ||
             (std::is_same_v<M, PlainCut> && name == std::string(PlainCut::shifted));
    }));
}

}  // namespace
}  // namespace perrin
