// Constant pressure against what is known: the ideal gas in closed form, the Lennard-Jones fluid by
// its equation of state; lists in boxes that change.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "engine/dynamics/simulation.h"
#include "forces/lj_wall.h"
#include "integrators/bussi.h"
#include "integrators/velocity_verlet.h"
#include "neighbor/neighbors.h"
#include "tests/constant_pressure.h"
#include "tests/devices.h"
#include "tests/fluids.h"
#include "tests/ways.h"

namespace perrin {
namespace {

class BarostatTest : public DeviceTest {
 protected:
  /// For systems so small that threads would wait for one another most of the time.
  Device for_few() const { return device().is_cuda() ? device() : Device::cpu(1); }
};

BarostatSettings at(double pressure, double tau, std::int64_t stride) {
  BarostatSettings s;
  s.pressure = pressure, s.tau = tau, s.stride = stride;
  return s;
}

Bussi bussi(double timestep, double temperature, double tau, const BarostatSettings& settings) {
  BussiSettings s;
  s.timestep = timestep, s.temperature = temperature, s.tau = tau;
  return Bussi(s, 1, std::make_unique<Barostat>(settings, 3));
}

struct Gas {
  std::string axes;
  int particles, changes;  // of the box
  int dimension = 3;
  Vec3<double> tilt{};  // xy, xz, yz
  bool wall = false;    // across z, which nothing changes
};

Configuration ideal_gas(const Gas& gas, double volume) {
  return ideal_gas(IdealGas{gas.particles, gas.dimension, gas.tilt, gas.wall}, volume);
}

/// The momentum of the centre of mass is 0: of N particles N - 1 contribute a factor V each,
/// whichever axes move, and exp(-PV/kT) V^(N-1) is the gamma distribution of shape N: mean N kT/P,
/// variance N (kT/P)².
TEST_P(BarostatTest, VolumesOfTheIdealGasAreGammaDistributed) {
  const double kt = 1.5, pressure = 0.5, dt = 0.01, unit = kt / pressure;
  std::uint64_t seed = 0;
  for (const Gas& gas :
       {Gas{"all", 1600, 8000}, Gas{"z", 1600, 20000}, Gas{"xy", 1600, 12000},
        Gas{"all", 1600, 8000, 2}, Gas{"y", 1600, 20000, 2},
        Gas{"all", 1600, 8000, 3, {3, -1, 1.4}}, Gas{"yz", 1600, 12000, 3, {3, -1, 1.4}},
        Gas{"xy,z", 1600, 20000}, Gas{"x,z,y", 1600, 20000}, Gas{"xy", 1600, 12000, 3, {}, true}}) {
    const int n = gas.particles, changes = device().is_cuda() ? gas.changes / 4 : gas.changes;
    const double volume = n * unit;
    SCOPED_TRACE(gas.axes + (gas.dimension == 2 ? ", 2D" : "") +
                 (gas.tilt.x != 0 ? ", tilted" : "") + (gas.wall ? ", a wall" : ""));
    const Configuration c = ideal_gas(gas, volume);
    Forces forces;
    if (gas.wall) {
      LjWallSettings wall;
      wall.axis = "z", wall.position = c.box.origin.z;
      wall.epsilon = 1, wall.sigma = 0.3, wall.form = "12-6";
      forces.push_back(std::make_unique<LjWall>(wall, for_few(), 1, std::vector<std::uint32_t>{}));
    }
    Simulation simulation(for_few(), c, std::move(forces), ++seed);
    // The noise changes a length by 0.004 of itself, half of the longest step.
    const auto groups = 1 + std::count(gas.axes.begin(), gas.axes.end(), ',');
    const bool together = groups == 1;
    const double count = !together           ? 1
                         : gas.axes == "all" ? gas.dimension
                                             : double(gas.axes.size());
    const double diffusion = volume * std::pow(0.004 * count / 2, 2) / (2 * kt);
    BarostatSettings settings = at(pressure, 1, 1);
    settings.axes = gas.axes, settings.compressibility = 4 * diffusion / (dt * double(groups));
    VelocityVerlet integrator({dt}, std::make_unique<Barostat>(settings, gas.dimension), {kt, kt});
    std::mt19937_64 generator(11);
    draw_velocities(simulation.particles(), kt, generator);
    integrator.begin(simulation);
    std::vector<double> volumes, squares;
    for (int k = 0; k < changes; k += 8) {
      draw_velocities(simulation.particles(), kt, generator);
      simulation.advance(integrator, 8);
      if (k < 200) continue;
      const double v = simulation.particles().box().volume();
      volumes.push_back(v), squares.push_back((v - volume) * (v - volume));
    }
    const Estimate mean = estimate(volumes), variance = estimate(squares);
    EXPECT_NEAR(mean.mean, volume, 4.5 * mean.error);
    EXPECT_NEAR(variance.mean, n * unit * unit, 4.5 * variance.error);
    EXPECT_GT(mean.independent, device().is_cuda() ? 15 : 50);
    // The shape of the box stays but for the edges that move.
    const Box &a = c.box, &b = simulation.particles().box();
    if (!together) {
      const Vec3<double> l = b.length;
      EXPECT_GT(std::abs(l.z / l.x - 1), 0.001);
      if (gas.axes == "xy,z")
        EXPECT_NEAR(l.x, l.y, 1e-9 * l.x);
      else
        EXPECT_GT(std::abs(l.x / l.y - 1), 0.001);
      continue;
    }
    const auto moves = [&](int axis) {
      return gas.axes == "all" ? axis < gas.dimension
                               : gas.axes.find("xyz"[axis]) != std::string::npos;
    };
    const double factor = std::pow(b.volume() / a.volume(), 1 / count);
    for (int axis = 0; axis < 3; ++axis)
      EXPECT_NEAR(b.length[axis], a.length[axis] * (moves(axis) ? factor : 1), 1e-9 * a.length.x);
    EXPECT_NEAR(b.xy, a.xy * (moves(0) ? factor : 1), 1e-9);
    EXPECT_NEAR(b.xz, a.xz * (moves(0) ? factor : 1), 1e-9);
    EXPECT_NEAR(b.yz, a.yz * (moves(1) ? factor : 1), 1e-9);
  }
}

/// N kT/P within the noise of one volume, 1/√N of it, all along the ramp.
TEST_P(BarostatTest, PressureFollowsARamp) {
  const int n = 4000;
  const double kt = 1.5, volume = n * kt / 0.5;
  Gas gas{"all", n, 0};
  const Configuration c = ideal_gas(gas, volume);
  Simulation simulation(for_few(), c, {}, 3);
  BarostatSettings settings = at(0.5, 1, 1);
  settings.ramp = {1.0, 2000};
  settings.compressibility = 4 * volume * std::pow(0.003 * 1.5, 2) / (2 * kt) / 0.01;
  VelocityVerlet integrator({0.01}, std::make_unique<Barostat>(settings, 3), {kt, kt});
  std::mt19937_64 generator(11);
  draw_velocities(simulation.particles(), kt, generator);
  integrator.begin(simulation);
  for (const double pressure : {0.75, 1.0, 1.0}) {
    for (int k = 0; k < 1000; k += 20) {
      draw_velocities(simulation.particles(), kt, generator);
      simulation.advance(integrator, 20);
    }
    const double expected = n * kt / pressure;
    EXPECT_NEAR(simulation.particles().box().volume(), expected,
                4.5 * expected / std::sqrt(n) * 1.2)
        << pressure;
  }
}

/// The mean volume at a pressure is that at which the same fluid has this pressure, and the density
/// that of the equation of state.
TEST_P(BarostatTest, LennardJonesFluidHasThePressureOfItsMeanVolume) {
  const double temperature = 2, density = 0.6, cutoff = 2.5;
  const double pressure = pressure_of_fluid(temperature, density, cutoff);
  Configuration c = fcc(5, 0.5);
  thermalize(c, temperature, 4);
  const Device device = for_few();
  Simulation simulation(device, c, lennard_jones(device, cutoff));
  BarostatSettings settings = at(pressure, 0.1, 5);
  settings.compressibility = 0.16;
  // So long a time step that half a kick counts: without its square the pressure were 0.08 higher.
  Bussi integrator = bussi(0.008, temperature, 0.1, settings);
  integrator.begin(simulation);
  simulation.advance(integrator, 2000);
  const AtConstantPressure run = measure_at_pressure(simulation, integrator, 16000);
  const Estimate &volume = run.volume, &mean_pressure = run.pressure, &kinetic = run.temperature;
  EXPECT_GT(volume.independent, 40);
  EXPECT_NEAR(mean_pressure.mean, pressure, 4.5 * mean_pressure.error);
  EXPECT_LT(mean_pressure.error, 0.012);
  EXPECT_NEAR(kinetic.mean, temperature, 4.5 * kinetic.error);
  const double n = double(c.position.size()), mean_density = n / volume.mean;
  EXPECT_NEAR(mean_density, density, 0.002 + 4.5 * mean_density * volume.error / volume.mean);

  const double edge = std::cbrt(volume.mean);
  Configuration fixed = fcc(5, mean_density);
  ASSERT_NEAR(fixed.box.length.x, edge, 1e-9 * edge);
  thermalize(fixed, temperature, 5);
  Simulation at_volume(device, fixed, lennard_jones(device, cutoff));
  BussiSettings bath;
  bath.timestep = 0.004, bath.temperature = temperature, bath.tau = 0.1;
  Bussi thermostat(bath, 1);
  thermostat.begin(at_volume);
  at_volume.advance(thermostat, 2000);
  std::vector<double> there;
  for (int k = 0; k < 8000; k += 10) {
    at_volume.advance(thermostat, 10);
    there.push_back(at_volume.now().pressure());
  }
  // dP/d rho is 9.3. What <P(V)> - P(<V>) is, half of P''(V) <dV²>, is below 0.005 for 500 atoms.
  const Estimate own = estimate(there);
  const double from_volume = 9.3 * mean_density * volume.error / volume.mean;
  EXPECT_NEAR(own.mean, pressure, 0.005 + 4.5 * std::hypot(own.error, from_volume));
  EXPECT_LT(std::hypot(own.error, from_volume), 0.03);
}

/// What total energy less heat changes by. Steps of the integrator and changes of the box leave out
/// terms in the square of the time step and beyond, as often up as down: with a quarter of it a
/// sixteenth remains, and rounding. (A kinetic energy of half steps would leave a quarter.)
TEST_P(BarostatTest, TotalEnergyLessHeatIsConserved) {
  Configuration c = fcc(5, 0.7);
  thermalize(c, 1.2, 4);
  constexpr int intervals = 250;
  struct Change {
    double rms = 0, total = 0, energy = 0, volume = 0;
  };
  const auto run = [&](double dt) {
    const int steps = int(std::lround(0.016 / dt));
    Simulation s(for_few(), c, lennard_jones(device(), 2.5, "force_shift"));
    VelocityVerlet integrator({dt}, std::make_unique<Barostat>(at(2, 0.1, steps / 2), 3),
                              {1.2, 1.2});
    integrator.begin(s);
    Change change;
    double first = 0, last = 0, energy = 0, volume = 0;
    for (int k = 0; k <= intervals; ++k) {
      if (k > 0) s.advance(integrator, steps);
      const double now = s.totals().kinetic + s.totals().potential;
      const double conserved = now - integrator.heat(s);
      if (k == 0) first = last = conserved, energy = now, volume = s.particles().box().volume();
      change.rms += (conserved - last) * (conserved - last) / intervals;
      last = conserved;
      change.energy = std::max(change.energy, std::abs(now - energy));
    }
    change.rms = std::sqrt(change.rms), change.total = std::abs(last - first);
    change.volume = std::abs(s.particles().box().volume() / volume - 1);
    return change;
  };
  const Change coarse = run(0.004), fine = run(0.001);
  EXPECT_GT(coarse.rms / fine.rms, 5);
  for (const Change& change : {coarse, fine}) {
    EXPECT_LT(change.total, 4.5 * change.rms * std::sqrt(double(intervals)));
    EXPECT_GT(change.energy, 100);  // a thousand times as much
    EXPECT_GT(change.volume, 0.05);
  }
  EXPECT_LT(coarse.rms, 0.07);
  EXPECT_LT(fine.total, 0.3);  // 0.0005 of kT per particle
}

/// What lists say in a box that has changed since they were built, against lists that are built
/// there: all pairs within the range, and their vectors.
TEST_P(BarostatTest, ListsFollowTheBox) {
  for (const std::string way : ways_of(device()))
    for (const double pressure : {40.0, -4.0})
      for (const double tilt : {0.0, 2.5}) {
        SCOPED_TRACE(way + (pressure > 0 ? ", shrinks" : ", grows") +
                     (tilt != 0 ? ", tilted" : ""));
        Configuration c = fcc(6, 0.6);
        for (auto& r : c.position) r.x += tilt * (r.y - c.box.origin.y) / c.box.length.y;
        c.box.xy = tilt;
        thermalize(c, 1, 4);
        const NeighborSettings neighbors = settings_of_way(way);
        const auto forces = [&] { return lennard_jones(device(), 2.5, "force_shift"); };
        Simulation simulation(device(), c, forces(), 5, neighbors);
        Bussi integrator = bussi(0.002, 1, 0.05, at(pressure, 0.05, 3));
        integrator.begin(simulation);
        const double before = simulation.particles().box().volume();
        for (int k = 0; k < 7; ++k) {
          simulation.advance(integrator, 40);
          Simulation fresh(device(), simulation.particles().configuration(), forces(), 5,
                           neighbors);
          // Positions of the copy are rounded anew.
          const double here = simulation.totals().potential;
          EXPECT_NEAR(fresh.totals().potential, here, 2e-6 * std::abs(here)) << k;
          EXPECT_NEAR(fresh.now().pressure(), simulation.now().pressure(), 1e-4) << k;
        }
        EXPECT_GT(std::abs(simulation.particles().box().volume() / before - 1), 0.08);
      }
}

TEST_P(BarostatTest, ABoxThatBecomesTooSmallIsAnError) {
  Configuration c = fcc(4, 0.3);
  thermalize(c, 1, 4);
  Simulation simulation(device(), c, lennard_jones(device(), 3.5, "force_shift"));
  Bussi integrator = bussi(0.002, 1, 0.05, at(300, 0.02, 2));
  integrator.begin(simulation);
  try {
    simulation.advance(integrator, 3000);
    FAIL() << "volume " << simulation.particles().box().volume();
  } catch (const RunError& e) {
    const std::string what = e.what();
    EXPECT_EQ(what.rfind("step ", 0), 0u) << what;
    EXPECT_NE(what.find(", less than the range of the forces, 3.5"), std::string::npos) << what;
  }
}

/// What was sampled on the way carries the box of its instant, and sampling changes nothing.
TEST_P(BarostatTest, TotalsSampledOnTheWayAreThoseOfTheirBox) {
  for (const char* traversal : {"standard", "cells"}) {
    SCOPED_TRACE(traversal);
    Configuration c = fcc(6, 0.6);
    thermalize(c, 1, 4);
    NeighborSettings neighbors;
    neighbors.traversal = traversal;
    using Seen = std::vector<std::array<double, 5>>;
    const auto look = [](const Instant& i, Seen& seen) {
      seen.push_back(
          {double(i.step), i.box.volume(), i.totals.potential, i.pressure(), i.totals.heat});
    };
    const auto run = [&](std::int64_t chunk, bool sampled) {
      Simulation s(device(), c, lennard_jones(device(), 2.5, "force_shift"), 5, neighbors);
      Bussi integrator = bussi(0.002, 1, 0.05, at(20, 0.05, 3));
      s.begin_stage(integrator);
      integrator.begin(s);
      Seen seen;
      const Sampling sampling{sampled ? std::vector{Schedule(7)} : std::vector<Schedule>{}, 0,
                              [&](const Instant& i) { look(i, seen); }};
      for (std::int64_t k = 0; k < 210; k += chunk) {
        s.advance(integrator, chunk, sampling);
        if (!sampled) look(s.now(), seen);
      }
      return seen;
    };
    const Seen ahead = run(105, true), stopped = run(7, false);
    EXPECT_EQ(ahead, stopped);
    ASSERT_EQ(ahead.size(), 30u);
    EXPECT_LT(ahead.back()[1], 0.95 * ahead.front()[1]);
  }
}

TEST(BarostatThreads, BitsDoNotDependOnThem) {
  const auto run = [](int threads) {
    const Device device = Device::cpu(threads);
    Configuration c = fcc(8, 0.6);
    thermalize(c, 1, 4);
    Simulation s(device, c, lennard_jones(device, 2.5, "force_shift"), 5);
    Bussi integrator = bussi(0.002, 1, 0.05, at(20, 0.05, 3));
    integrator.begin(s);
    s.advance(integrator, 100);
    const Configuration end = s.particles().configuration();
    return std::tuple(end.box, end.position, end.velocity, integrator.heat(s));
  };
  const auto one = run(1);
  EXPECT_LT(std::get<0>(one).volume(), 0.95 * fcc(8, 0.6).box.volume());
  EXPECT_EQ(run(2), one);
  EXPECT_EQ(run(5), one);
}

PERRIN_INSTANTIATE_DEVICES(BarostatTest);

}  // namespace
}  // namespace perrin
