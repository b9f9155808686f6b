// The Lennard-Jones liquid at constant energy: drift, fluctuation, momentum, reproducibility.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "engine/dynamics/simulation.h"
#include "integrators/bussi.h"
#include "integrators/velocity_verlet.h"
#include "neighbor/neighbors.h"
#include "tests/devices.h"
#include "tests/fluids.h"

namespace perrin {
namespace {

struct Fit {
  double drift;        // of the energy per particle over the whole run (linear fit)
  double fluctuation;  // standard deviation about the line, per particle
};

/// Runs `steps` steps and fits the total energy.
Fit run(Simulation& s, double timestep, std::int64_t steps, int samples) {
  VelocityVerlet integrator({timestep});
  integrator.begin(s);
  std::vector<double> t, e;
  for (int k = 0; k < samples; ++k) {
    s.advance(integrator, steps / samples);
    t.push_back(double(k));
    e.push_back((s.totals().potential + s.totals().kinetic) / double(s.particles().size()));
  }
  const double n = double(samples);
  double mt = 0, me = 0, stt = 0, ste = 0;
  for (std::size_t k = 0; k < e.size(); ++k) mt += t[k] / n, me += e[k] / n;
  for (std::size_t k = 0; k < e.size(); ++k)
    stt += (t[k] - mt) * (t[k] - mt), ste += (t[k] - mt) * (e[k] - me);
  const double slope = ste / stt;
  double variance = 0;
  for (std::size_t k = 0; k < e.size(); ++k) {
    const double r = e[k] - me - slope * (t[k] - mt);
    variance += r * r / n;
  }
  return {slope * n, std::sqrt(variance)};
}

/// 10 976 particles at rho 0.8442, melted, T near 0.7.
Configuration liquid(const Device& device, int cells) {
  Configuration c = fcc(cells, 0.8442);
  thermalize(c, 1.44, 5);
  Simulation s(device, c, lennard_jones(device, 2.5, "force_shift"));
  VelocityVerlet integrator({0.005});
  integrator.begin(s);
  s.advance(integrator, 2000);
  return s.particles().configuration();
}

class Nve : public DeviceTest {
 protected:
  /// The ways of this device to find pairs.
  std::vector<const char*> traversals() {
    if (device().is_cuda()) return {"tiles", "cells"};
    return {"clusters", "cells"};
  }
  static NeighborSettings with(const char* traversal) {
    NeighborSettings settings;
    settings.traversal = traversal;
    return settings;
  }
};

TEST_P(Nve, EnergyDoesNotDriftAndFluctuatesAsTheSquareOfTheTimeStep) {
  // 10⁵ steps on a GPU; on the CPU 1/10 of them unless PERRIN_LONG_TESTS asks for all, with the
  // bound for the whole run all the same.
  const bool whole = device().is_cuda() || std::getenv("PERRIN_LONG_TESTS");
  const std::int64_t steps = whole ? 100000 : 10000;
  const double bound = sizeof(Real) == 4 ? 2e-5 : 2e-6;
  const Configuration start = liquid(device(), 14);
  Fit fit[2];
  for (const int k : {0, 1}) {
    Simulation s(device(), start, lennard_jones(device(), 2.5, "force_shift"));
    fit[k] = run(s, 0.005 / (1 + k), steps, 500);
    EXPECT_NEAR(s.now().temperature, 0.7, 0.1);
    std::printf("%s dt %g: drift %.3g, fluctuation %.3g per particle over %ld steps\n", GetParam(),
                0.005 / (1 + k), fit[k].drift, fit[k].fluctuation, long(steps));
  }
  // The slope of a line through 500 samples that fluctuate carries an error of its own:
  // sqrt(12 / 500) of the fluctuation over the run.
  for (const Fit& f : fit)
    EXPECT_LT(std::abs(f.drift), bound + 3 * std::sqrt(12.0 / 500) * f.fluctuation);
  // dt² means a factor 4. The fluctuation's own statistical error is about 10 % (correlated
  // samples).
  EXPECT_NEAR(fit[0].fluctuation / fit[1].fluctuation, 4, 0.8);
}

TEST_P(Nve, MomentumIsConservedToRounding) {
  Configuration c = fcc(6, 0.8442);
  thermalize(c, 1.44, 6);
  const std::int64_t steps = 2000;
  // Every kick rounds a velocity of size 1 (half a unit in the last place, uniform) and a force
  // sum of some 50 terms of size 30 by dt/2: independent errors add as the square root of their
  // number.
  const double epsilon = sizeof(Real) == 4 ? 6e-8 : 1.1e-16;
  const double one = epsilon * (1 + std::sqrt(50.0) * 30 * 0.0025);
  const double expected = one * std::sqrt(2.0 * double(steps) * double(c.position.size()));
  for (const char* list : traversals()) {
    SCOPED_TRACE(list);
    Simulation s(device(), c, lennard_jones(device(), 2.5, "force_shift"), 0, with(list));
    VelocityVerlet integrator({0.005});
    integrator.begin(s);
    const auto before = s.totals().momentum;
    s.advance(integrator, steps);
    const auto p = s.totals().momentum - before;
    EXPECT_LT(std::sqrt(dot(p, p)), 5 * expected);
  }
}

TEST_P(Nve, SameJobSameBits) {
  Configuration c = fcc(7, 0.8442);
  thermalize(c, 1.44, 7);
  const char* traversal = nullptr;
  const auto result = [&](const Device& d, std::initializer_list<int> chunks) {
    Simulation s(d, c, lennard_jones(d, 2.5, "force_shift"), 0, with(traversal));
    VelocityVerlet integrator({0.005});
    integrator.begin(s);
    for (const int n : chunks) s.advance(integrator, n);
    if (s.neighbors()->has_lists()) {
      EXPECT_GT(s.neighbors()->builds(), 3);
    }
    return std::pair{s.particles().position().to_host(), s.particles().velocity().to_host()};
  };
  const auto equal = [](const auto& a, const auto& b) {
    return std::memcmp(a.first.data(), b.first.data(), a.first.size() * sizeof a.first[0]) == 0 &&
           std::memcmp(a.second.data(), b.second.data(), a.second.size() * sizeof a.second[0]) == 0;
  };
  for (const char* list : traversals()) {
    SCOPED_TRACE(list);
    traversal = list;
    const auto once = result(device(), {300});
    EXPECT_TRUE(equal(once, result(device(), {300})));
    // In other portions: recorded and unrecorded steps are the same steps.
    EXPECT_TRUE(equal(once, result(device(), {1, 2, 150, 147})));
    // Forces are summed per particle: the number of threads does not matter either.
    if (!device().is_cuda()) {
      EXPECT_TRUE(equal(once, result(Device::cpu(1), {300})));
    }
  }
}

TEST_P(Nve, AFullListInTheMiddleOfAStepChangesNoBit) {
  // A gas that is drawn together: the list outgrows its first capacity while steps are replayed.
  Configuration c = fcc(5, 0.02);
  thermalize(c, 0.01, 8);
  for (std::size_t i = 0; i < c.position.size(); ++i)
    c.velocity[i] -= 0.2 * c.position[i];  // implosion
  const char* traversal = nullptr;
  const auto result = [&](int chunk) {
    Simulation s(device(), c, lennard_jones(device(), 2.5, "force_shift"), 0, with(traversal));
    VelocityVerlet integrator({0.002});
    integrator.begin(s);
    for (int k = 0; k < 2400; k += chunk) s.advance(integrator, chunk);
    EXPECT_GT(s.neighbors()->version(), 0) << "the list was never full: the test tests nothing";
    return s.particles().position().to_host();
  };
  // The CPU's clusters have no capacity to exceed.
  for (const char* list : {device().is_cuda() ? "tiles" : "verlet_list"}) {
    SCOPED_TRACE(list);
    traversal = list;
    const auto a = result(2400), b = result(16);
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]), 0);
  }
}

TEST_P(Nve, ASimulationThatStopsLeavesAnotherOnTheSameDeviceAlone) {
  const Configuration start = liquid(device(), 6);
  Configuration broken = start;
  broken.velocity[7] = {1e6, 0, 0};
  const auto simulation = [&](const Configuration& c) {
    return std::make_unique<Simulation>(device(), c, lennard_jones(device(), 2.5, "force_shift"));
  };
  VelocityVerlet integrator({0.005});
  const auto alone = simulation(start);
  alone->advance(integrator, 60);

  VelocityVerlet first({0.005}), second({0.005});
  const auto good = simulation(start), bad = simulation(broken);
  good->advance(first, 30);
  EXPECT_THROW(bad->advance(second, 30), RunError);
  good->advance(first, 30);
  EXPECT_EQ(good->step(), 60u);
  EXPECT_EQ(good->particles().configuration().position,
            alone->particles().configuration().position);
}

TEST_P(Nve, AParticleFlyingOffStopsTheRun) {
  Configuration c = fcc(5, 0.8442);
  thermalize(c, 0.5, 9);
  c.velocity[123] = {4000, 0, 0};
  Simulation s(device(), c, lennard_jones(device(), 2.5, "force_shift"));
  VelocityVerlet integrator({0.005});
  integrator.begin(s);
  try {
    s.advance(integrator, 50);
    FAIL() << "no error";
  } catch (const RunError& e) {
    EXPECT_NE(std::string(e.what()).find("step 0: particle 123 moved"), std::string::npos)
        << e.what();
  }
}

/// What a table would have of one instant.
struct Seen {
  std::uint64_t step;
  double time, potential, kinetic, heat, pressure, temperature;
  bool operator==(const Seen&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Seen& s) { return out << "step " << s.step; }

Seen see(const Instant& i) {
  const Totals& t = i.totals;
  return {i.step, i.time, t.potential, t.kinetic, t.heat, i.pressure(), i.temperature};
}

struct Sampled {
  std::vector<Seen> seen;
  std::vector<Position> end;
  std::int64_t versions = 0;
  std::string error;
};

/// A liquid or gas with a thermostat: totals at the multiples of `strides`, asked for at each of
/// them, or (`ahead`) all in one call.
Sampled sample(const Device& device, const Configuration& c, const NeighborSettings& neighbors,
               std::uint64_t steps, std::vector<std::int64_t> strides, bool ahead) {
  Simulation s(device, c, lennard_jones(device, 2.5, "force_shift"), 3, neighbors);
  BussiSettings settings;
  settings.timestep = 0.002, settings.tau = 1;
  Bussi integrator(settings, 1);
  s.begin_stage(integrator);
  integrator.begin(s);
  Sampled result;
  Sampling sampling{{strides.begin(), strides.end()}, 0, [&](const Instant& i) {
                      result.seen.push_back(see(i));
                    }};
  try {
    if (ahead) s.advance(integrator, std::int64_t(steps), sampling);
    while (s.step() < steps) {
      const auto next = std::min(sampling.steps_to_next(s.step()), steps - s.step());
      s.advance(integrator, std::int64_t(next));
      if (sampling.is_due(s.step())) result.seen.push_back(see(s.now()));
    }
  } catch (const RunError& error) {
    result.error = error.what();
  }
  result.end = s.particles().position().to_host();
  if (s.neighbors()) result.versions = s.neighbors()->version();
  return result;
}

TEST_P(Nve, TotalsSampledOnTheWayAreThoseOfTheirSteps) {
  Configuration c = fcc(5, 0.8442);
  thermalize(c, 1.44, 5);
  for (const char* traversal : traversals()) {
    SCOPED_TRACE(traversal);
    // More samples than wait on the device at a time.
    const auto a = sample(device(), c, with(traversal), 700, {2, 7}, true);
    const auto b = sample(device(), c, with(traversal), 700, {2, 7}, false);
    EXPECT_EQ(a.seen.size(), 400u);
    EXPECT_EQ(a.seen, b.seen);
    EXPECT_NE(a.seen.back().heat, 0);
    EXPECT_EQ(std::memcmp(a.end.data(), b.end.data(), a.end.size() * sizeof a.end[0]), 0);
  }
}

TEST_P(Nve, TotalsAreSampledPastAFullList) {
  Configuration c = fcc(5, 0.02);
  thermalize(c, 0.01, 8);
  for (std::size_t i = 0; i < c.position.size(); ++i)
    c.velocity[i] -= 0.2 * c.position[i];  // implosion
  const auto neighbors = with(device().is_cuda() ? "tiles" : "verlet_list");
  const auto a = sample(device(), c, neighbors, 2400, {5}, true);
  const auto b = sample(device(), c, neighbors, 2400, {5}, false);
  EXPECT_GT(a.versions, 0) << "the list was never full: the test tests nothing";
  EXPECT_EQ(a.seen.size(), 480u);
  EXPECT_EQ(a.seen, b.seen);
}

TEST_P(Nve, WhatWasSampledBeforeAFaultIsTold) {
  // Two particles meet after a while, with more speed than their force can be followed at.
  Configuration c = fcc(3, 0.01);
  c.velocity.assign(c.position.size(), {});
  c.velocity[0] = 0.5 * (c.position[1] - c.position[0]);
  c.velocity[0] = 400 / std::sqrt(dot(c.velocity[0], c.velocity[0])) * c.velocity[0];
  const auto a = sample(device(), c, {}, 500, {1}, true);
  const auto b = sample(device(), c, {}, 500, {1}, false);
  EXPECT_NE(a.error, "");
  EXPECT_EQ(a.error, b.error);
  EXPECT_GT(a.seen.size(), 1u);
  EXPECT_EQ(a.seen, b.seen);
}

PERRIN_INSTANTIATE_DEVICES(Nve);

}  // namespace
}  // namespace perrin
