// Neutrons with energies, of the plug-in neutron_slab, against exact results.
//
// As in neutron_slab_test.cpp: fixed seeds, and 4.5 standard errors are allowed, so that a right
// program would fail one comparison in 150 000 after a change of seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>

#include "engine/base/error.h"
#include "plugins/neutron_slab/results.h"
#include "rng/keyed.h"
#include "tests/devices.h"
#include "tests/plugins/neutron_expect.h"
#include "tests/plugins/neutron_reference.h"

namespace neutron {
namespace {

using perrin::Device;

struct Options {
  std::int64_t histories = 200000;
  bool persistent = true;
  std::string generator = "saru";
  std::uint64_t seed = 1;
  std::int64_t streams = 0;
  int angle_bins = 0;
};

Results simulate(const Device& device, const EnergyDescription& d, const Options& o = {}) {
  TransportSettings t;
  t.problem = std::make_shared<EnergyProblem>(EnergyProblem::of(d));
  t.angles = o.angle_bins;
  t.weighted = d.weighted;
  t.persistent = o.persistent;
  t.generator = o.generator;
  t.seed = o.seed;
  t.streams = o.streams;
  const auto transport = make_transport(device, t);
  Results results(Cells::even(t.problem->thickness, d.depth_bins), d.depth_bins, o.angle_bins,
                  d.weighted, d.energy_bins);
  const std::int64_t least = std::int64_t(double(o.histories) / t.largest_batch()) + 1;
  const std::int64_t batches = std::max<std::int64_t>(50, least);
  for (std::int64_t b = 0; b < batches; ++b) {
    const std::int64_t first = o.histories * b / batches;
    const std::int64_t n = o.histories * (b + 1) / batches - first;
    results.add(transport->run(std::uint64_t(first), n), n);
  }
  return results;
}

Curve number(double value) { return Curve::constant(value); }

EnergyLayer constant(double thickness, double total, double scattering, double mass = 0) {
  return {thickness, mass, number(total), number(scattering), {}};
}

/// Neutrons of the energy 1, which collisions leave them.
EnergyDescription one_speed(const std::vector<Layer>& layers) {
  EnergyDescription d;
  for (const Layer& layer : layers)
    d.layers.push_back(constant(layer.thickness, layer.total, layer.scattering));
  d.cutoff = 0.5;
  return d;
}

/// A slab between two mirrors is an infinite medium, as far as energies go.
EnergyDescription infinite(const EnergyLayer& layer, double from, double to, int bins) {
  EnergyDescription d;
  d.layers = {layer};
  d.source.energy = from;
  d.cutoff = to;
  d.near_reflects = d.far_reflects = true;
  d.energy_bins = bins;
  return d;
}

double sum(const std::vector<Estimate>& bins) {
  double total = 0;
  for (const Estimate& e : bins) total += e.mean;
  return total;
}

std::string message(const EnergyDescription& d) {
  try {
    EnergyProblem::of(d);
  } catch (const perrin::UserError& e) {
    return e.what();
  }
  return "taken";
}

// ---- A collision ----

// Energies after a collision are even between alpha E and E; the largest deviation of the
// distribution, times sqrt(n), is above 2.2 once in 8000 (Kolmogorov).
TEST(NeutronCollision, EnergiesAreEven) {
  for (const double a : {1.0, 2.0, 12.0, 238.0}) {
    const Nucleus nucleus = Nucleus::of(a);
    auto g = perrin::keyed<perrin::Philox>(perrin::RunKey(perrin::Purpose::test, 3), 0, 0);
    const double alpha = std::pow((a - 1) / (a + 1), 2);
    const int n = 400000;
    std::vector<double> even;
    double log_sum = 0, log_square = 0;
    for (int k = 0; k < n; ++k) {
      const double ratio = double(scatter(g, nucleus, 1.0f).energy);
      even.push_back((ratio - alpha) / (1 - alpha));
      log_sum -= std::log(ratio);
      log_square += std::log(ratio) * std::log(ratio);
    }
    std::sort(even.begin(), even.end());
    EXPECT_GT(even.front(), -1e-5 * a);
    EXPECT_LT(even.back(), 1 + 1e-5 * a);
    double largest = 0;
    for (int k = 0; k < n; ++k)
      largest = std::max({largest, std::abs(even[std::size_t(k)] - double(k) / n),
                          std::abs(even[std::size_t(k)] - double(k + 1) / n)});
    EXPECT_LT(largest * std::sqrt(n), 2.2) << a;
    // xi = 1 + alpha ln alpha / (1 - alpha): 1, 0.7253, 0.1578, 0.00838.
    const double mean = log_sum / n;
    const double error = std::sqrt((log_square / n - mean * mean) / n);
    EXPECT_LT(std::abs(mean - mean_log_decrement(a)), allowed * error) << a;
  }
  EXPECT_NEAR(mean_log_decrement(1), 1, 1e-12);
  EXPECT_NEAR(mean_log_decrement(12), 0.15777, 1e-5);
  EXPECT_NEAR(mean_log_decrement(1000.1) / mean_log_decrement(999.9), 1, 1e-3);
}

// Momentum and energy of two bodies leave one angle for each energy loss:
// cosine = ((A + 1) sqrt(E'/E) - (A - 1) sqrt(E/E')) / 2. On average it is 2 / (3 A).
TEST(NeutronCollision, AnglesAreThoseOfTwoBodies) {
  for (const double a : {1.0, 2.0, 12.0, 238.0}) {
    const Nucleus nucleus = Nucleus::of(a);
    auto g = perrin::keyed<perrin::Philox>(perrin::RunKey(perrin::Purpose::test, 4), 0, 0);
    const int n = 400000;
    double total = 0, square = 0;
    for (int k = 0; k < n; ++k) {
      const Scattered s = scatter(g, nucleus, 1.0f);
      const double root = std::sqrt(double(s.energy)), cosine = double(s.cosine);
      ASSERT_NEAR(cosine, ((a + 1) * root - (a - 1) / root) / 2, 1e-6 * (a + 1)) << a;
      ASSERT_NEAR(cosine * cosine + double(s.sine) * double(s.sine), 1, 1e-5);
      total += cosine;
      square += cosine * cosine;
    }
    const double error = std::sqrt(square / n - std::pow(total / n, 2)) / std::sqrt(n);
    EXPECT_LT(std::abs(total / n - 2 / (3 * a)), allowed * error) << a;
  }
}

// Around the old direction all angles are alike: Legendre polynomials of the new cosine to any axis
// are those of the old one times those of the angle.
TEST(NeutronCollision, DirectionsTurnEvenly) {
  const Nucleus hydrogen = Nucleus::of(1);
  auto g = perrin::keyed<perrin::Philox>(perrin::RunKey(perrin::Purpose::test, 5), 0, 0);
  for (const float mu : {1.0f, 0.6f, -0.3f, -1.0f, 0.0f}) {
    const int n = 300000;
    double first = 0, second = 0;
    for (int k = 0; k < n; ++k) {
      const Scattered s = scatter(g, hydrogen, 1.0f);
      const auto after = double(turned(mu, s, perrin::exact::sincos_turn<float>(g.next()).cos));
      ASSERT_LE(std::abs(after), 1);
      first += after;
      second += 1.5 * after * after - 0.5;
    }
    // In hydrogen the cosine's square is even in (0, 1): means 2/3 and 1/2. Standard deviations of
    // both are below 1.
    const double m = double(mu), error = 1 / std::sqrt(n);
    EXPECT_NEAR(first / n, m * 2 / 3, allowed * error) << mu;
    EXPECT_NEAR(second / n, (1.5 * m * m - 0.5) / 4, allowed * error) << mu;
  }
}

// ---- Transport ----

class NeutronEnergiesTest : public perrin::DeviceTest {};

// Each collision with hydrogen takes an exponential of mean 1 from ln E: after the first one, the
// number of collisions down to the cut-off is Poisson's, its mean and variance being ln(E0/E).
// Between them the flux is 1/E, and nothing is lost on the way: 1 arrives.
TEST_P(NeutronEnergiesTest, SlowingDownInHydrogen) {
  for (const bool weighted : {false, true}) {
    const int bins = 24;
    auto d = infinite(constant(2, 1.5, 1.5, 1), 1e6, 1, bins);
    d.weighted = weighted;
    const Results r = simulate(device(), d);
    EXPECT_EQ(r.slowed_down().mean, 1);
    EXPECT_EQ(r.absorption().mean, 0);
    const double lethargy = std::log(1e6), n = double(r.histories());
    expect_near(r.collisions(), 1 + lethargy, "collisions");
    // The variance of a sample's variance: (kurtosis + 2) / n, with Poisson's kurtosis 1/mean.
    const double variance = std::pow(r.collisions().error, 2) * n;
    EXPECT_NEAR(variance / lethargy, 1, allowed * std::sqrt((2 + 1 / lethargy) / n));
    const auto flux = r.spectrum(Bins::flux);
    double chi = 0;
    for (int k = 0; k < bins; ++k) {
      // Times the thickness and the cross-section: collisions. Those of the source's energy are in
      // the highest bin.
      const double exact = (lethargy / bins + (k == bins - 1 ? 1 : 0)) / (2 * 1.5);
      expect_near(flux[std::size_t(k)], exact, "flux in bin " + std::to_string(k));
      chi += std::pow((flux[std::size_t(k)].mean - exact) / flux[std::size_t(k)].error, 2);
    }
    EXPECT_GT(chi, 3);  // errors that are far too large would pass the above
  }
}

// Far below the source the flux is 1 / (xi Sigma E) for any nucleus, and the number of collisions
// is that of a renewal process: ln(E0/E)/xi + <s²>/(2 xi²), s being the loss of ln E.
TEST_P(NeutronEnergiesTest, SlowingDownInCarbon) {
  const double a = 12, alpha = std::pow((a - 1) / (a + 1), 2), xi = mean_log_decrement(a);
  const int bins = 20;
  const Results r =
      simulate(device(), infinite(constant(1, 2, 2, a), 1e4, 1, bins), {.histories = 60000});
  double square = 0;  // of s, with the density exp(-s) / (1 - alpha) up to ln(1/alpha)
  const double end = -std::log(alpha);
  for (int k = 0; k < 10000; ++k) {
    const double s = (k + 0.5) * end / 10000;
    square += s * s * std::exp(-s) / (1 - alpha) * end / 10000;
  }
  const double lethargy = std::log(1e4);
  expect_near(r.collisions(), lethargy / xi + square / (2 * xi * xi), "collisions");
  const auto flux = r.spectrum(Bins::flux);
  for (std::size_t k = 0; k < bins / 2; ++k)
    expect_near(flux[k], lethargy / bins / xi / 2, "flux in bin " + std::to_string(k));
}

// In hydrogen what arrives below an energy is q(E) = c(E0) exp(-∫ Σa/Σ dE/E): with a constant ratio
// c a power, with absorption in 1/v beside constant scattering a rational function of sqrt(E).
TEST_P(NeutronEnergiesTest, AbsorptionInHydrogen) {
  for (const bool weighted : {false, true}) {
    auto d = infinite(constant(1, 2, 1.8, 1), 1e3, 1, 0);
    d.weighted = weighted;
    const Results r = simulate(device(), d);
    expect_near(r.slowed_down(), 0.9 * std::pow(1e-3, 0.1), "constant");
    EXPECT_NEAR(r.slowed_down().mean + r.absorption().mean, 1, 1e-6);

    const double b = 0.7, from = 400;
    const int bins = 12;
    EnergyLayer layer{1.5, 1, {}, number(1), Curve::formula("b/sqrt(E); b = 0.7")};
    auto inverse = infinite(layer, from, 1, bins);
    inverse.weighted = weighted;
    const auto q = [&](double energy) {
      const double s0 = std::sqrt(from), s = std::sqrt(energy);
      return s0 / (s0 + b) * std::pow(s / (b + s) * (b + s0) / s0, 2);
    };
    const Results v = simulate(device(), inverse);
    expect_near(v.slowed_down(), q(1), "1/v");
    const auto edges = EnergyProblem::of(inverse).energy_edges();
    const auto absorbed = v.spectrum(Bins::absorbed);
    for (std::size_t k = 0; k < bins; ++k)
      expect_near(absorbed[k], (k == bins - 1 ? 1 : q(edges[k + 1])) - q(edges[k]),
                  "absorbed in bin " + std::to_string(k));
    EXPECT_NEAR(sum(absorbed), v.absorption().mean, 1e-8);

    // The same as a table of 2000 points, linear between: right to some 10^-5.
    std::vector<double> x, y;
    for (int k = 0; k <= 2000; ++k) {
      x.push_back(0.9 * std::pow(500 / 0.9, k / 2000.0));
      y.push_back(b / std::sqrt(x.back()));
    }
    inverse.layers[0].absorption = Curve::table(x, y);
    const Results t = simulate(device(), inverse);
    expect_near(t.slowed_down(), q(1), "table");
    EXPECT_NEAR(t.slowed_down().mean, v.slowed_down().mean, 0.3 * v.slowed_down().error);
  }
}

// Of neutrons whose energy does not matter the answers are those of one speed.
TEST_P(NeutronEnergiesTest, OneSpeedAgainstTheDeterministicSolution) {
  const std::vector<Layer> thick{{10, 1.1, 1.0}};
  const std::vector<Layer> layered{{1, 2, 1}, {1, 0, 0}, {2, 0.5, 0.5}, {1, 1, 0.2}};
  for (const auto& layers : {thick, layered}) {
    const auto exact = reference::extrapolated(reference::integral_equation(layers, 100),
                                               reference::integral_equation(layers, 200));
    for (const bool weighted : {false, true}) {
      auto d = one_speed(layers);
      d.weighted = weighted;
      expect_solution(simulate(device(), d, {.histories = 400000}), exact,
                      weighted ? "weighted" : "analogue");
    }
  }
  // The half of a symmetric slab before a mirror: what one half reflects, the other lets through.
  auto d = one_speed({{2.5, 1, 0.9}});
  d.far_reflects = true;
  const auto whole = reference::extrapolated(reference::integral_equation({{5, 1, 0.9}}, 100),
                                             reference::integral_equation({{5, 1, 0.9}}, 200));
  const Results half = simulate(device(), d, {.histories = 400000});
  expect_near(half.reflection(), whole.reflection + whole.transmission, "mirror, reflection");
  expect_near(half.absorption(), whole.absorption, "mirror, absorption");
}

TEST_P(NeutronEnergiesTest, FluxFollowsTheIntegralEquation) {
  const int bins = 25;
  const std::vector<Layer> thick{{10, 1.1, 1.0}};
  std::vector<double> density;
  reference::integral_equation(thick, 400, &density);
  const auto exact = reference::bin_means(reference::Mesh(thick, 400), density, bins);
  for (const bool weighted : {false, true}) {
    auto d = one_speed(thick);
    d.weighted = weighted;
    d.depth_bins = bins;
    d.energy_bins = 3;
    const Results r = simulate(device(), d, {.histories = 300000});
    const auto flux = r.flux();
    double mean = 0;
    for (std::size_t b = 0; b < bins; ++b) {
      expect_near(flux[b], exact[b], "flux in bin " + std::to_string(b));
      mean += flux[b].mean / bins;
    }
    EXPECT_NEAR(sum(r.spectrum(Bins::flux)), mean, 1e-5);  // the same tracks
  }
}

TEST_P(NeutronEnergiesTest, TwoAbsorbers) {
  EnergyDescription d;
  const EnergyLayer first{0.5, 0, Curve::formula("1.2/sqrt(E)"), {}, Curve::formula("1.2/sqrt(E)")};
  const EnergyLayer second{2, 0, {}, number(0), Curve::table({0.1, 2, 10}, {1, 0.1, 0.5})};
  d.layers = {first, second};
  d.source.energy = 4;
  d.cutoff = 1;
  // The table at 4: 0.1 + 2/8 · 0.4 = 0.2.
  const double h = 0.5 * 0.6 + 2 * 0.2;
  expect_near(simulate(device(), d).transmission(), std::exp(-h), "beam");
  d.source.mu = 0.5;
  expect_near(simulate(device(), d).transmission(), std::exp(-2 * h), "slanting beam");
  const auto e2 = [](double x) { return std::exp(-x) - x * -std::expint(-x); };
  d.source.direction = NeutronSource::isotropic;
  expect_near(simulate(device(), d).transmission(), e2(h), "isotropic");
  d.source.direction = NeutronSource::cosine;
  d.weighted = true;
  const Results r = simulate(device(), d);
  expect_near(r.transmission(), 2 * reference::e3(h), "cosine");
  EXPECT_EQ(r.reflection().mean, 0);
  EXPECT_NEAR(r.transmission().mean + r.absorption().mean, 1, 1e-12);
}

// Layers are a matter of writing: flights cross from one into the next of the same stuff without a
// random number, so that only rounding can send a history elsewhere.
TEST_P(NeutronEnergiesTest, ALayerCutInTwo) {
  EnergyDescription d;
  EnergyLayer layer{3, 2, {}, Curve::formula("1 + 1/sqrt(E)"), number(0.1)};
  d.layers = {layer};
  d.source.energy = 100;
  d.cutoff = 0.1;
  const Results whole = simulate(device(), d);
  EnergyLayer front = layer, back = layer;
  front.thickness = 1.25;
  back.thickness = 1.75;
  d.layers = {front, back};
  const Results parts = simulate(device(), d);
  const double n = double(whole.histories());
  EXPECT_GT(whole.transmission().mean, 0.05);
  EXPECT_NEAR(parts.transmission().mean, whole.transmission().mean, 30 / n);
  EXPECT_NEAR(parts.reflection().mean, whole.reflection().mean, 30 / n);
  EXPECT_NEAR(parts.slowed_down().mean, whole.slowed_down().mean, 30 / n);
}

// Through next to nothing the spectrum that comes out is the source's. Of n neutrons a share p
// falls into a bin with the standard error sqrt(p (1 - p) / n).
TEST_P(NeutronEnergiesTest, SpectraOfSources) {
  EnergyDescription d;
  d.layers = {constant(1, 1e-7, 0)};
  d.energy_bins = 40;
  const auto expect_spectrum = [&](const std::string& what, const auto& distribution) {
    const EnergyProblem p = EnergyProblem::of(d);
    const Results r = simulate(device(), d);
    const auto edges = p.energy_edges();
    const auto got = r.spectrum(Bins::transmitted);
    const double n = double(r.histories());
    for (std::size_t k = 0; k < got.size(); ++k) {
      const double share = distribution(edges[k + 1]) - distribution(edges[k]);
      const double error = std::sqrt(share * (1 - share) / n) + 1 / n;
      EXPECT_NEAR(got[k].mean, share, allowed * error) << what << " " << k;
    }
    EXPECT_NEAR(r.slowed_down().mean, distribution(edges[0]), 0.005) << what;
    EXPECT_GT(r.slowed_down().mean, 0) << what;
  };
  d.source.spectrum = NeutronSource::maxwell;
  d.source.energy = 0.025;
  d.cutoff = 0.005;
  expect_spectrum("maxwell", [](double e) { return 1 - (1 + e / 0.025) * std::exp(-e / 0.025); });
  // A triangle: three points.
  d.source.spectrum = NeutronSource::density;
  d.source.energies = {1, 3, 4};
  d.source.values = {0, 7, 0};
  d.cutoff = 1.2;
  expect_spectrum("triangle", [](double e) {
    return e < 3 ? (e - 1) * (e - 1) / 6 : 1 - (4 - e) * (4 - e) / 3;
  });
  tabulate_density(Curve::formula("E^2"), 0.1, 10, d.source);
  d.cutoff = 2;
  expect_spectrum("formula", [](double e) { return (e * e * e - 1e-3) / (1e3 - 1e-3); });
}

/// Every bit of what two runs say.
void expect_same(const Results& a, const Results& b, const std::string& what) {
  for (const char* name :
       {"transmission", "reflection", "absorption", "collisions", "slowed_down"}) {
    EXPECT_EQ(a.by_name(name).mean, b.by_name(name).mean) << what << ", " << name;
    EXPECT_EQ(a.by_name(name).error, b.by_name(name).error) << what << ", " << name;
  }
  EXPECT_EQ(a.simulated_collisions(), b.simulated_collisions()) << what;
  const auto same = [&](const std::vector<Estimate>& x, const std::vector<Estimate>& y) {
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t k = 0; k < x.size(); ++k) EXPECT_EQ(x[k].mean, y[k].mean) << what << " " << k;
  };
  same(a.flux(), b.flux());
  same(a.transmitted_angles(), b.transmitted_angles());
  same(a.reflected_angles(), b.reflected_angles());
  for (const auto kind : {Bins::reflected, Bins::transmitted, Bins::absorbed, Bins::flux})
    same(a.spectrum(kind), b.spectrum(kind));
}

TEST_P(NeutronEnergiesTest, ThreadsKernelsAndDevicesDoNotMatter) {
  EnergyDescription d;
  d.layers = {{1, 1, {}, Curve::formula("2 + 1/sqrt(E)"), Curve::formula("0.1/sqrt(E)")},
              constant(0.5, 0, 0),
              {2, 12, Curve::table({0.001, 1, 1000}, {3, 2, 1}), {}, number(0.05)}};
  d.source.spectrum = NeutronSource::maxwell;
  d.source.direction = NeutronSource::cosine;
  d.cutoff = 0.01;
  d.far_reflects = true;
  d.depth_bins = 30;
  d.energy_bins = 20;
  for (const bool weighted : {false, true}) {
    d.weighted = weighted;
    d.roulette = weighted ? 0.05 : 0;
    for (const std::string generator : {"saru", "philox", "mt607", "ran2", "mt19937"}) {
      Options o{.histories = 20011, .generator = generator, .angle_bins = 10};
      o.streams = is_keyed(generator) ? 0 : 64;
      const Results one = simulate(Device::cpu(1), d, o);
      EXPECT_GT(one.absorption().mean, 0.01);
      EXPECT_GT(one.reflection().mean, 0.01);
      EXPECT_GT(one.slowed_down().mean, 0.01);
      expect_same(one, simulate(Device::cpu(3), d, o), generator);
      if (generator == "mt19937") continue;
      expect_same(one, simulate(device(), d, o), generator);
      o.persistent = false;
      expect_same(one, simulate(device(), d, o), generator + ", simple");
    }
  }
}

// Nothing is lost: outcomes add up to 1, spectra to outcomes.
TEST_P(NeutronEnergiesTest, OutcomesAddUp) {
  EnergyDescription d;
  d.layers = {{1, 1, {}, Curve::formula("2 + 1/sqrt(E)"), Curve::formula("0.3/sqrt(E)")}};
  d.source.energy = 10;
  d.cutoff = 0.01;
  d.energy_bins = 30;
  const Results r = simulate(device(), d, {.angle_bins = 8});
  EXPECT_EQ(std::round((r.transmission().mean + r.reflection().mean + r.absorption().mean +
                        r.slowed_down().mean) *
                       double(r.histories())),
            double(r.histories()));
  EXPECT_NEAR(sum(r.spectrum(Bins::transmitted)), r.transmission().mean, 1e-9);
  EXPECT_NEAR(sum(r.spectrum(Bins::reflected)), r.reflection().mean, 1e-9);
  EXPECT_NEAR(sum(r.spectrum(Bins::absorbed)), r.absorption().mean, 1e-9);
  EXPECT_NEAR(sum(r.transmitted_angles()), r.transmission().mean, 1e-9);
  // Roulette and weights change errors, not means.
  d.weighted = true;
  d.roulette = 0.2;
  const Results w = simulate(device(), d, {.seed = 2});
  for (const char* name : {"transmission", "reflection", "absorption", "slowed_down"}) {
    const Estimate a = r.by_name(name), b = w.by_name(name);
    EXPECT_LT(std::abs(a.mean - b.mean), allowed * std::hypot(a.error, b.error)) << name;
  }
}

PERRIN_INSTANTIATE_DEVICES(NeutronEnergiesTest);

// ---- Cross-sections between the nodes of the grid ----

TEST(NeutronGrid, FollowsWhatTheJobSays) {
  EnergyDescription d;
  d.layers = {{1, 0, Curve::formula("3 + sin(log(E)) + 2/sqrt(E)"), number(0.5), {}}};
  d.source.energy = 1e6;
  d.cutoff = 1e-3;
  const EnergyProblem p = EnergyProblem::of(d);
  EXPECT_TRUE(p.warnings.empty());
  for (double e = 1e-3; e < 1e6; e *= 1.0137) {
    const CrossSections c = p.media.grid.at(p.table.data(), float(e));
    const double exact = 3 + std::sin(std::log(e)) + 2 / std::sqrt(e);
    EXPECT_NEAR(c.total / exact, 1, 1.1e-5) << e;
    EXPECT_NEAR(c.scattering, 0.5, 1e-6) << e;
  }
  // A jump cannot be followed: it is said.
  d.layers[0].total = Curve::formula("1 + step(E - 10)");
  const EnergyProblem jumps = EnergyProblem::of(d);
  ASSERT_EQ(jumps.warnings.size(), 1u);
  EXPECT_NE(jumps.warnings[0].find("jump or bend sharply"), std::string::npos);
  const auto total = [&](double e) {
    return double(jumps.media.grid.at(jumps.table.data(), float(e)).total);
  };
  EXPECT_NEAR(total(10 * (1 - 1.0 / 2048)), 1, 1e-6);
  EXPECT_NEAR(total(10 * (1 + 1.0 / 2048)), 2, 1e-6);
}

TEST(NeutronGrid, MistakesAreNamed) {
  EnergyDescription d;
  d.layers = {constant(1, 1, 0.5, 12)};
  d.source.energy = 10;
  d.cutoff = 0.1;
  EXPECT_EQ(message(d), "taken");
  const auto with = [&](const char* what, const auto& change) {
    EnergyDescription changed = d;
    change(changed);
    const std::string said = message(changed);
    EXPECT_NE(said.find(what), std::string::npos) << what << "\nin\n" << said;
  };
  with("must reach above cutoff_energy (20)", [](auto& c) { c.cutoff = 20; });
  with("layer 1: total at the energy",
       [](auto& c) { c.layers[0].total = Curve::formula("E - 5"); });
  with("must be at most total",
       [](auto& c) { c.layers[0].scattering = Curve::formula("0.5 + E/8"); });
  with("a table from 1 to 20 must reach", [](auto& c) {
    c.layers[0].total = Curve::table({1, 20}, {1, 1});
  });
  with("must have a total cross-section", [](auto& c) { c.layers[0] = constant(1, 0, 0); });
  with("mean free paths thick at any energy", [](auto& c) { c.layers[0].thickness = 1e5; });
  const auto mirrors = [](auto& c) { c.near_reflects = c.far_reflects = true; };
  with("nothing ends a history", [&](auto& c) { mirrors(c), c.layers[0] = constant(1, 1, 1); });
  with("at least 0.001 mean free paths",
       [&](auto& c) { mirrors(c), c.layers[0].thickness = 1e-4; });
  with("set \"roulette\"",
       [&](auto& c) { mirrors(c), c.weighted = true, c.layers[0] = constant(1, 1, 0.5); });
  const auto formula = [](const std::string& text) -> std::string {
    try {
      Curve::formula(text);
    } catch (const perrin::UserError& e) {
      return e.what();
    }
    return "taken";
  };
  EXPECT_NE(formula("a/sqrt(E)").find("the variable E and no other, got \"a\""), std::string::npos);
  EXPECT_NE(formula("1/sqr(E)").find("unknown function"), std::string::npos);
}

}  // namespace
}  // namespace neutron
