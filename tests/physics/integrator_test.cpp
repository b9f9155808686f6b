// Integrators against what is known in closed form.
#include <cmath>
#include <random>

#include "engine/dynamics/simulation.h"
#include "forces/harmonic_trap.h"
#include "integrators/bussi.h"
#include "integrators/fire.h"
#include "integrators/velocity_verlet.h"
#include "tests/devices.h"
#include "tests/fluids.h"

namespace perrin {
namespace {

Configuration empty_box(double length, int dimension = 3) {
  Configuration c;
  c.box.dimension = dimension;
  c.box.length = {length, length, dimension == 2 ? 1.0 : length};
  c.box.origin = -0.5 * c.box.length;
  c.types = {"A"};
  return c;
}

void add(Configuration& c, Vec3<double> position, Vec3<double> velocity, double mass = 1) {
  c.position.push_back(position);
  c.velocity.push_back(velocity);
  c.mass.push_back(mass);
  c.type.push_back(0);
}

/// n particles of different masses whose momenta add up to zero.
Configuration ideal_gas(int n, int dimension) {
  auto c = empty_box(1000, dimension);
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  Vec3<double> momentum{};
  for (int k = 0; k < n; ++k) {
    const double mass = 1 + k % 3;
    Vec3<double> p{normal(random), normal(random), dimension == 2 ? 0.0 : normal(random)};
    if (k == n - 1) p = -momentum;
    momentum += p;
    add(c, {double(k), 0, 0}, 1 / mass * p, mass);
  }
  return c;
}

std::vector<std::unique_ptr<Force>> trap(const Device& device, double stiffness) {
  HarmonicTrapSettings s;
  s.stiffness = {stiffness, stiffness, stiffness};
  std::vector<std::unique_ptr<Force>> forces;
  forces.push_back(std::make_unique<HarmonicTrap>(s, device, 1, std::vector<std::uint32_t>{}));
  return forces;
}

class Integrators : public DeviceTest {};

TEST_P(Integrators, VelocityVerletOscillatesAsItsMapSays) {
  // Frequency of the discrete oscillator: cos(theta) = 1 - (omega dt)²/2; started at rest,
  // x_n = A cos(n theta). Here omega² = 4/2.
  const double dt = 0.05, amplitude = 3;
  auto c = empty_box(100);
  add(c, {amplitude, 0, 0}, {0, 0, 0}, 2);
  Simulation simulation(device(), c, trap(device(), 4));
  VelocityVerlet integrator({dt});
  integrator.begin(simulation);
  const double theta = std::acos(1 - 0.5 * 2 * dt * dt);
  for (int n = 100; n <= 1000; n += 100) {
    simulation.advance(integrator, 100);
    const double x = simulation.particles().configuration().position[0].x;
    // n roundings of the velocity (6e-8 of its 4) per step, each an error that oscillates on.
    EXPECT_NEAR(x, amplitude * std::cos(n * theta), sizeof(Real) == 4 ? 1e-4 : 1e-5) << n;
  }
  EXPECT_EQ(simulation.step(), 1000u);
  EXPECT_NEAR(simulation.time(), 50, 1e-9);
}

/// Largest minus smallest total energy of an oscillator within two periods.
double energy_fluctuation(const Device& device, double dt) {
  auto c = empty_box(100);
  add(c, {3, 0, 0}, {0, 0, 0});
  Simulation simulation(device, c, trap(device, 1));
  VelocityVerlet integrator({dt});
  integrator.begin(simulation);
  double low = 1e9, high = -1e9;
  for (int n = 0; n < int(4 * M_PI / dt); ++n) {
    simulation.advance(integrator, 1);
    const double e = simulation.totals().kinetic + simulation.totals().potential;
    low = std::min(low, e), high = std::max(high, e);
  }
  return high - low;
}

TEST_P(Integrators, VelocityVerletFluctuatesWithTheSquareOfTheTimestep) {
  // v²/2 + x²/2 (1 - dt²/4) is conserved exactly, so the energy varies by A²/2 · dt²/4.
  const double coarse = energy_fluctuation(device(), 0.2), fine = energy_fluctuation(device(), 0.1);
  EXPECT_NEAR(coarse, 4.5 * 0.01, 4.5 * 0.01 * 0.02);  // the extremes are met within a step
  EXPECT_NEAR(fine, 4.5 * 0.0025, 4.5 * 0.0025 * 0.02);
}

TEST_P(Integrators, FreeParticlesFlyStraightThroughThePeriodicBox) {
  auto c = empty_box(10);
  add(c, {1, 2, 3}, {1.5, -2.5, 0.25});
  add(c, {-1, -2, 3}, {0, 0, 0});
  Simulation simulation(device(), c, {});
  VelocityVerlet integrator({0.01});
  integrator.begin(simulation);
  simulation.advance(integrator, 2000);
  const auto end = simulation.particles().configuration();
  const Vec3<double> expected{1 + 30, 2 - 50, 3 + 5};
  // The displacement of a step is rounded to 2^-32 of the box, and in float to 6e-8 of itself.
  for (int axis = 0; axis < 3; ++axis)
    EXPECT_NEAR(end.position[0][axis] + 10 * end.image[0][axis], expected[axis], 1e-5);
  EXPECT_EQ(end.image[0].x, 3);
  EXPECT_EQ(end.image[0].y, -5);
  EXPECT_EQ(end.image[0].z, 1);
  EXPECT_NEAR(end.position[1].x, -1, 1e-8);
  EXPECT_EQ(end.image[1].x, 0);
}

TEST_P(Integrators, TwoDimensionsStayFlat) {
  auto c = empty_box(10, 2);
  add(c, {1, 2, 0}, {1.5, -2.5, 0});
  Simulation simulation(device(), c, trap(device(), 1));
  const auto z = simulation.particles().position().to_host(0).z;
  VelocityVerlet integrator({0.01});
  integrator.begin(simulation);
  simulation.advance(integrator, 500);
  EXPECT_EQ(simulation.particles().position().to_host(0).z, z);
  EXPECT_EQ(simulation.particles().velocity().to_host(0).z, Real(0));
}

/// The message of the fault that ends a run of one particle.
std::string fault(const Device& device, Vec3<double> position, Vec3<double> velocity,
                  bool periodic) {
  auto c = empty_box(10);
  c.box.periodic = {true, periodic, true};
  add(c, {0, 0, 0}, {0, 0, 0});
  add(c, position, velocity);
  Simulation simulation(device, c, {});
  VelocityVerlet integrator({0.01});
  try {
    integrator.begin(simulation);
    simulation.advance(integrator, 100);
  } catch (const RunError& e) {
    return e.what();
  }
  return "none";
}

TEST_P(Integrators, WhatGoesWrongIsReported) {
  const auto contains = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const auto fast = fault(device(), {1, 2, 3}, {0, 0, 900}, true);
  contains(fast, "particle 1 moved 9 in one step");
  const auto nan = fault(device(), {1, 2, 3}, {0, std::nan(""), 0}, true);
  contains(nan, "particle 1: the displacement is not a finite number");
  const auto gone = fault(device(), {1, 4.5, 3}, {0, 1.03, 0}, false);
  contains(gone, "particle 1 left the box along y");
  contains(gone, "step 48:");  // counted from 0: 0.5/0.0103 = 48.5

  EXPECT_EQ(fault(device(), {1, 4.5, 3}, {0, 1, 0}, true), "none");
}

/// Mean and variance of the kinetic energy of an ideal gas under the thermostat alone, against the
/// gamma distribution of shape k = freedom/2: mean k T, variance k T². The propagator is exact, so
/// the time step matters only for the correlation c = exp(-dt/tau) between samples, which leaves M
/// (1 - c)/(1 + c) independent ones for the mean; for the squares in the variance it is c² in place
/// of c.
void expect_canonical(const Device& device, int particles, int dimension, double tau, int samples) {
  SCOPED_TRACE(::testing::Message() << particles << " particles, tau " << tau);
  const double dt = 0.01, temperature = 1.7;
  Simulation simulation(device, ideal_gas(particles, dimension), {}, 11);
  BussiSettings settings;
  settings.timestep = dt, settings.temperature = temperature, settings.tau = tau;
  Bussi integrator(settings, 1);
  integrator.begin(simulation);
  const double k = 0.5 * simulation.degrees_of_freedom().number();
  ASSERT_EQ(simulation.degrees_of_freedom().number(), dimension * (particles - 1));
  const double c = tau > 0 ? std::exp(-dt / tau) : 0;
  simulation.advance(integrator, tau > 0 ? int(20 * tau / dt) : 5);

  double first = 0, second = 0, lagged = 0, previous = 0;
  const double mean = k * temperature, variance = k * temperature * temperature;
  for (int m = 0; m < samples; ++m) {
    simulation.advance(integrator, 1);
    const double x = simulation.totals().kinetic - mean;
    first += x, second += x * x;
    if (m > 0) lagged += x * previous;
    previous = x;
  }
  first /= samples, second /= samples, lagged /= samples - 1;
  const double independent = samples * (1 - c) / (1 + c);
  const double independent2 = samples * (1 - c * c) / (1 + c * c);
  EXPECT_NEAR(first, 0, 4 * std::sqrt(variance / independent));
  // Variance of a squared deviation: fourth moment 3 + 6/k in units of variance², less 1.
  EXPECT_NEAR(second, variance, 4 * variance * std::sqrt((2 + 6 / k) / independent2));
  EXPECT_NEAR(lagged / second, c, 4 * std::sqrt((1 + 6 / k) / independent));

  // What the bath gave is in the particles; the rounding of velocities adds up at random.
  const auto p = simulation.totals().momentum;
  EXPECT_NEAR(std::sqrt(dot(p, p)), 0, 1e-3);
}

TEST_P(Integrators, BussiSamplesTheCanonicalKineticEnergy) {
  const int samples = device().is_cuda() ? 4000 : 20000;
  expect_canonical(device(), 10, 3, 0, samples);     // 27 degrees of freedom, independent
  expect_canonical(device(), 10, 3, 0.02, samples);  // correlated
  expect_canonical(device(), 2, 2, 0.01, samples);   // two
  expect_canonical(device(), 2, 3, 0.01, samples);   // three
}

/// With no memory of the kinetic energy, or next to none, velocities change in length and keep
/// their direction: particles get as far as they would with their first velocities.
TEST_P(Integrators, BussiNeverTurnsVelocitiesRound) {
  for (const double tau : {0.0, 1e-4, 1e-3}) {
    SCOPED_TRACE(tau);
    Simulation simulation(device(), ideal_gas(200, 3), {}, 5);
    BussiSettings settings;
    settings.timestep = 0.01, settings.temperature = 1, settings.tau = tau;
    Bussi integrator(settings, 1);
    integrator.begin(simulation);
    const auto first = simulation.particles().by_id(simulation.particles().velocity());
    for (int m = 0; m < 20; ++m) {
      simulation.advance(integrator, 1);
      const auto now = simulation.particles().by_id(simulation.particles().velocity());
      double along = 0, squares = 0, first2 = 0;
      for (std::size_t i = 0; i < now.size(); ++i) {
        along += double(dot(now[i].xyz(), first[i].xyz()));
        squares += double(dot(now[i].xyz(), now[i].xyz()));
        first2 += double(dot(first[i].xyz(), first[i].xyz()));
      }
      EXPECT_NEAR(along / std::sqrt(squares * first2), 1, 1e-4);
    }
  }
}

TEST_P(Integrators, BussiAccountsForItsHeat) {
  auto c = ideal_gas(50, 3);
  Simulation simulation(device(), c, trap(device(), 1), 3);
  BussiSettings settings;
  settings.timestep = 0.005, settings.temperature = 2, settings.tau = 0.2;
  Bussi integrator(settings, 1);
  integrator.begin(simulation);
  const double before = simulation.totals().kinetic + simulation.totals().potential;
  simulation.advance(integrator, 2000);
  const double after = simulation.totals().kinetic + simulation.totals().potential;
  EXPECT_GT(std::abs(integrator.heat(simulation)), 1);
  // Verlet's own fluctuation is dt²/8 of the energy, 3e-6; rounding of velocities 6e-8 √2000 of it.
  EXPECT_NEAR(after - integrator.heat(simulation), before, 1e-5 * (before + after));
}

/// In a harmonic trap the mean potential energy is that of equipartition, whatever the thermometer
/// counts. The total energy is gamma distributed with 3N degrees of freedom each for both halves:
/// variance 3N (k T)². The bath exchanges it within about 2 tau; samples 3 apart are taken as half
/// independent.
TEST_P(Integrators, BussiHoldsTheTemperatureOfATrap) {
  const int particles = 2, samples = 1000;
  Simulation simulation(device(), ideal_gas(particles, 3), trap(device(), 1.7), 5);
  EXPECT_EQ(simulation.degrees_of_freedom().number(), 3 * particles);
  BussiSettings settings;
  settings.timestep = 0.05, settings.temperature = 1, settings.tau = 0.5;
  Bussi integrator(settings, 1);
  integrator.begin(simulation);
  simulation.advance(integrator, 1000);
  double total = 0, temperature = 0;
  for (int k = 0; k < samples; ++k) {
    simulation.advance(integrator, 60);
    total += simulation.totals().potential + simulation.totals().kinetic;
    temperature += simulation.now().temperature;
  }
  const double freedom = 3 * particles, error = std::sqrt(2.0 / samples);
  EXPECT_NEAR(total / samples, freedom, 4 * std::sqrt(freedom) * error);
  EXPECT_NEAR(temperature / samples, 1, 4 * std::sqrt(2 / freedom) * error);
}

/// A gas that moves as a whole keeps its velocity, and its temperature is of what remains.
TEST_P(Integrators, BussiLeavesTheCentreOfMassAlone) {
  auto c = ideal_gas(100, 3);
  for (auto& v : c.velocity) v.x += 5;
  Simulation simulation(device(), c, {}, 3);
  BussiSettings settings;
  settings.timestep = 0.001, settings.temperature = 1.5, settings.tau = 0;
  Bussi integrator(settings, 1);
  integrator.begin(simulation);
  const double before = simulation.totals().momentum.x;
  EXPECT_GT(before, 400);
  double mean = 0;
  const int samples = 400;
  for (int k = 0; k < samples; ++k) {
    simulation.advance(integrator, 1);
    mean += simulation.now().temperature / samples;
  }
  EXPECT_NEAR(simulation.totals().momentum.x, before, 1e-5 * before);
  EXPECT_NEAR(mean, 1.5, 4 * 1.5 * std::sqrt(2.0 / 297 / samples));
}

TEST_P(Integrators, BussiFollowsARamp) {
  auto c = ideal_gas(1000, 3);
  Simulation simulation(device(), c, {}, 3);
  simulation.set_k_boltzmann(0.5);
  BussiSettings settings;
  settings.timestep = 0.005, settings.temperature = 1, settings.tau = 0;
  settings.ramp = {3, 100};
  Bussi integrator(settings, 0.5);
  integrator.begin(simulation);
  const double error =
      std::sqrt(2.0 / simulation.degrees_of_freedom().number());  // relative, one sample
  for (const double expected : {1.5, 2.0, 2.5, 3.0, 3.0}) {
    simulation.advance(integrator, 25);
    EXPECT_NEAR(simulation.now().temperature, expected, 4 * error * expected);
  }
}

TEST_P(Integrators, BussiResumesBitForBit) {
  auto c = ideal_gas(20, 3);
  BussiSettings settings;
  settings.timestep = 0.005, settings.tau = 0.1;
  settings.ramp = {3, 100};
  const auto save = [](Simulation& simulation, Bussi& integrator) {
    Archive archive = Archive::saving();
    simulation.state(archive);
    integrator.state(archive);
    return archive.records();
  };
  Simulation straight(device(), c, trap(device(), 1), 3);
  Bussi first(settings, 1);
  first.begin(straight);
  straight.advance(first, 30);
  const auto middle = save(straight, first);
  straight.advance(first, 30);
  const auto end = save(straight, first);

  Simulation resumed(device(), c, trap(device(), 1), 3);
  Bussi second(settings, 1);
  Archive archive = Archive::restoring(middle);
  resumed.state(archive);
  second.state(archive);
  second.begin(resumed);
  resumed.advance(second, 30);
  const auto again = save(resumed, second);
  ASSERT_EQ(again.size(), end.size());
  for (const auto& [name, record] : end) EXPECT_EQ(again.at(name).bytes, record.bytes) << name;
}

/// The 13-atom icosahedron, shaken. Energy -44.326801 (Wales, Doye, J. Phys. Chem. A 101, 5111
/// (1997)).
Configuration shaken_icosahedron() {
  auto c = empty_box(30);
  c.box.periodic = {false, false, false};
  std::mt19937 random(2);
  std::uniform_real_distribution<double> u(-0.1, 0.1);
  const double golden = (1 + std::sqrt(5)) / 2, size = 1.08 / std::sqrt(1 + golden * golden);
  add(c, {u(random), u(random), u(random)}, {0, 0, 0});
  for (int axis = 0; axis < 3; ++axis)
    for (const double a : {-1.0, 1.0})
      for (const double b : {-golden, golden}) {
        Vec3<double> r{};
        r[axis] = size * a;
        r[(axis + 1) % 3] = size * b;
        add(c, r + Vec3<double>{u(random), u(random), u(random)}, {0.3, 0, 0});
      }
  return c;
}

TEST_P(Integrators, FireFindsTheIcosahedron) {
  const auto c = shaken_icosahedron();
  Simulation simulation(device(), c, lennard_jones(device(), 6));
  FireSettings settings;
  // The grid of positions, 45/2^32, times the stiffness of a dozen contacts leaves forces of 10^-6.
  settings.force_tolerance = sizeof(Real) == 4 ? 2e-3 : 2e-5;
  Fire fire(settings);
  fire.begin(simulation);
  EXPECT_GT(simulation.totals().potential, -40);
  int steps = 0;
  for (; steps < 5000 && !fire.finished(simulation); steps += 50) simulation.advance(fire, 50);
  EXPECT_LT(steps, 2000);
  ASSERT_TRUE(fire.finished(simulation));
  EXPECT_LE(fire.largest_force(), settings.force_tolerance);
  EXPECT_NEAR(simulation.totals().potential, -44.326801, sizeof(Real) == 4 ? 2e-5 : 1e-6);
  EXPECT_EQ(simulation.time(), 0);

  // Converged: further steps change nothing; and the particles kept their velocities.
  const auto before = simulation.particles().configuration();
  simulation.advance(fire, 10);
  const auto after = simulation.particles().configuration();
  EXPECT_EQ(before.position, after.position);
  EXPECT_EQ(after.velocity[1].x, double(Real(0.3)));
}

TEST_P(Integrators, FireSurvivesAnOverlap) {
  // Two of three particles nearly at one point: the force is about 10^15.
  auto c = empty_box(12);
  add(c, {0, 0, 0}, {0, 0, 0});
  add(c, {0.1, 0, 0}, {0, 0, 0});
  add(c, {0.5, 0.9, 0}, {0, 0, 0});
  Simulation simulation(device(), c, lennard_jones(device(), 3));
  FireSettings settings;
  settings.force_tolerance = 1e-3;
  Fire fire(settings);
  fire.begin(simulation);
  for (int k = 0; k < 200 && !fire.finished(simulation); ++k) simulation.advance(fire, 50);
  EXPECT_TRUE(fire.finished(simulation));
  // A pair or a triangle of Lennard-Jones particles, or all apart.
  EXPECT_LT(simulation.totals().potential, 1e-2);
}
PERRIN_INSTANTIATE_DEVICES(Integrators);

}  // namespace
}  // namespace perrin
