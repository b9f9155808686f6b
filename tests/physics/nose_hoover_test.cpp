// Nosé-Hoover chains and the barostat of Martyna, Tobias and Klein against what is known: the gamma
// distributions of kinetic energies and of an ideal gas's volume, the Lennard-Jones fluid by its
// equation of state; what they conserve, and that they go back as they came.
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "engine/dynamics/deformation.h"
#include "engine/dynamics/simulation.h"
#include "forces/lj_wall.h"
#include "integrators/nose_hoover.h"
#include "tests/constant_pressure.h"
#include "tests/devices.h"
#include "tests/fluids.h"

namespace perrin {
namespace {

class NoseHooverTest : public DeviceTest {
 protected:
  /// For systems so small that threads would wait for one another most of the time.
  Device for_few() const { return device().is_cuda() ? device() : Device::cpu(1); }
};

NoseHooverSettings settings(double timestep, double temperature, double tau) {
  NoseHooverSettings s;
  s.timestep = timestep, s.temperature = temperature, s.tau = tau;
  return s;
}

PistonSettings piston(double pressure, double tau, std::int64_t stride) {
  PistonSettings s;
  s.pressure = pressure, s.tau = tau, s.stride = stride;
  return s;
}

/// Some steps at constant volume, so that the pressure is that of the liquid.
void melt(Simulation& s, double kt) {
  NoseHoover integrator(settings(0.004, kt, 0.2), 1);
  integrator.begin(s);
  s.advance(integrator, 400);
}

/// K of f degrees of freedom: shape f/2, scale kT.
TEST_P(NoseHooverTest, KineticEnergyIsGammaDistributed) {
  const double kt = 1.5;
  Configuration c = fcc(3, 0.6);
  thermalize(c, 1, 4);
  for (auto& v : c.velocity) v.x += 2;  // the whole moves
  Simulation s(for_few(), c, lennard_jones(for_few(), 2.5, "force_shift"));
  NoseHoover integrator(settings(0.004, kt, 0.2), 1);
  s.prepare(integrator);
  integrator.begin(s);
  s.advance(integrator, 2000);
  const double freedom = s.degrees_of_freedom().number(), n = double(c.position.size());
  ASSERT_EQ(freedom, 3 * n - 3);
  std::vector<double> kinetic;
  for (int k = 0; k < 30000; k += 10) {
    s.advance(integrator, 10);
    kinetic.push_back(s.totals().kinetic - 0.5 * n * 4);
  }
  const double mean = freedom / 2 * kt, variance = freedom / 2 * kt * kt;
  const Estimate first = estimate(kinetic), second = estimate_variance(kinetic, mean);
  EXPECT_GT(second.independent, 100);
  EXPECT_NEAR(first.mean, mean, 4.5 * first.error + 1e-3 * mean);
  EXPECT_NEAR(second.mean, variance, 4.5 * second.error);
  EXPECT_NEAR(s.totals().momentum.x, 2 * n, 1e-4 * n);
}

struct GasInBox {
  std::string axes;
  int dimension = 3;
  Vec3<double> tilt{};  // xy, xz, yz
  bool wall = false;    // across z, which nothing changes
};

constexpr int gas_particles = 200;

/// exp(-PV/kT) V^(N-1), as the centre of mass is at rest: mean N kT/P, variance N (kT/P)².
TEST_P(NoseHooverTest, VolumesOfTheIdealGasAreGammaDistributed) {
  const double kt = 1.5, pressure = 0.5, unit = kt / pressure, volume = gas_particles * unit;
  const int steps = device().is_cuda() ? 10000 : 50000;
  std::uint64_t seed = 0;
  for (const GasInBox& gas : {GasInBox{"all"}, GasInBox{"z"}, GasInBox{"xy"}, GasInBox{"xy,z"},
                              GasInBox{"all", 2}, GasInBox{"all", 3, {3, -1, 1.4}},
                              GasInBox{"y,z", 3, {3, -1, 1.4}}, GasInBox{"xy", 3, {}, true}}) {
    SCOPED_TRACE(gas.axes + (gas.dimension == 2 ? ", 2D" : "") +
                 (gas.tilt.x != 0 ? ", tilted" : "") + (gas.wall ? ", a wall" : ""));
    const Configuration c =
        ideal_gas(IdealGas{gas_particles, gas.dimension, gas.tilt, gas.wall}, volume);
    Forces forces;
    if (gas.wall) {
      LjWallSettings wall;
      wall.axis = "z", wall.position = c.box.origin.z;
      wall.epsilon = 1, wall.sigma = 0.8, wall.form = "12-6";
      forces.push_back(std::make_unique<LjWall>(wall, for_few(), 1, std::vector<std::uint32_t>{}));
    }
    Simulation s(for_few(), c, std::move(forces), ++seed);
    NoseHooverSettings j = settings(0.02, kt, 0.5);
    // In a step that moves the box an edge changes by 0.0016 of itself, or 0.0009.
    const bool whole = gas.axes == "all" && gas.dimension == 3;
    j.barostat = piston(pressure, 1.5, whole ? 3 : 1);
    j.barostat->axes = gas.axes;
    NoseHoover integrator(j, 1);
    std::mt19937_64 generator(11);
    std::vector<double> volumes;
    for (int k = 0; k < steps; k += 50) {
      draw_velocities(s.particles(), kt, generator);
      integrator.begin(s);
      s.advance(integrator, 50);
      if (k > 500) volumes.push_back(s.particles().box().volume());
    }
    const Estimate mean = estimate(volumes), variance = estimate_variance(volumes, volume);
    EXPECT_NEAR(mean.mean, volume, 4.5 * mean.error);
    EXPECT_NEAR(variance.mean, gas_particles * unit * unit, 4.5 * variance.error);
    EXPECT_GT(mean.independent, device().is_cuda() ? 15 : 60);
    const Box &a = c.box, &b = s.particles().box();
    for (int axis = 0; axis < gas.dimension; ++axis) {
      const bool moves = gas.axes == "all" || gas.axes.find("xyz"[axis]) != std::string::npos;
      EXPECT_EQ(a.length[axis] != b.length[axis], moves) << axis;
    }
    EXPECT_NEAR(b.xy / b.length.x, a.xy / a.length.x, 1e-12);
    EXPECT_NEAR(b.xz / b.length.x, a.xz / a.length.x, 1e-12);
    EXPECT_NEAR(b.yz / b.length.y, a.yz / a.length.y, 1e-12);
    if (gas.axes == "all") {
      EXPECT_NEAR(b.length.x / b.length.y, a.length.x / a.length.y, 1e-12);
    }
  }
}

/// Mean volume, its fluctuations and the mean pressure of the Lennard-Jones fluid are those of its
/// equation of state.
TEST_P(NoseHooverTest, LennardJonesFluidHasTheDensityAndCompressibilityOfItsEquationOfState) {
  const double kt = 2, density = 0.6, cutoff = 2.5;
  const auto pressure_at = [&](double rho) { return pressure_of_fluid(kt, rho, cutoff); };
  const double pressure = pressure_at(density);
  const double slope = (pressure_at(density + 0.01) - pressure_at(density - 0.01)) / 0.02;
  Configuration c = fcc(5, 0.55);
  thermalize(c, kt, 4);
  Simulation s(for_few(), c, lennard_jones(for_few(), cutoff));
  NoseHooverSettings j = settings(0.004, kt, 0.3);
  j.barostat = piston(pressure, 0.8, 5);
  melt(s, kt);
  NoseHoover integrator(j, 1);
  integrator.begin(s);
  s.advance(integrator, 3000);
  const AtConstantPressure run = measure_at_pressure(s, integrator, 20000);
  const Estimate &volume = run.volume, &mean_pressure = run.pressure, &kinetic = run.temperature;
  const Estimate variance = estimate_variance(run.volumes, volume.mean);
  EXPECT_GT(volume.independent, 60);
  EXPECT_NEAR(mean_pressure.mean, pressure, 4.5 * mean_pressure.error);
  EXPECT_NEAR(kinetic.mean, kt, 4.5 * kinetic.error + 0.002 * kt);
  // The slope of the equation is good to a few percent.
  const double n = double(c.position.size()), mean_density = n / volume.mean;
  EXPECT_NEAR(mean_density, density, 0.002 + 4.5 * mean_density * volume.error / volume.mean);
  const double compressibility = variance.mean / (kt * volume.mean);
  EXPECT_NEAR(compressibility * density * slope, 1, 0.05 + 4.5 * variance.error / variance.mean);
  EXPECT_LT(variance.error / variance.mean, 0.2);
}

/// The changes of total energy less heat are of the second order in the time step: with a quarter
/// of it a sixteenth remains, and rounding. With ramps of temperature and pressure, too.
TEST_P(NoseHooverTest, TotalEnergyLessHeatIsConserved) {
  Configuration c = fcc(5, 0.7);
  thermalize(c, 1.2, 4);
  struct Change {
    double rms = 0, energy = 0, volume = 0, temperature = 0;
  };
  for (const bool pressed : {false, true}) {
    SCOPED_TRACE(pressed ? "at constant pressure" : "at constant volume");
    const auto run = [&](double dt) {
      const int steps = int(std::lround(0.08 / dt)), intervals = 60;
      Simulation s(for_few(), c, lennard_jones(for_few(), 2.5, "force_shift"));
      NoseHooverSettings j = settings(dt, 1.2, 0.3);
      j.ramp = {1.8, steps * intervals};
      if (pressed) {
        j.barostat = piston(2, 1, 5);
        j.barostat->ramp = {4, steps * intervals};
      }
      melt(s, 1.2);
      NoseHoover integrator(j, 1);
      integrator.begin(s);
      Change change;
      double first = 0, energy = 0;
      for (int k = 0; k <= intervals; ++k) {
        if (k > 0) s.advance(integrator, steps);
        const double now = s.totals().kinetic + s.totals().potential;
        const double conserved = now - integrator.heat(s);
        if (k == 0) first = conserved, energy = now;
        change.rms += (conserved - first) * (conserved - first) / intervals;
        change.energy = std::max(change.energy, std::abs(now - energy));
        change.volume =
            std::max(change.volume, std::abs(s.particles().box().volume() / c.box.volume() - 1));
      }
      change.rms = std::sqrt(change.rms);
      change.temperature = s.now().temperature;
      return change;
    };
    const Change coarse = run(0.004), fine = run(0.001);
    EXPECT_GT(coarse.rms / fine.rms, 6);
    EXPECT_LT(coarse.rms, 0.5);
    EXPECT_NEAR(fine.temperature, 1.8, 4.5 * 1.8 * std::sqrt(2.0 / 1497));
    EXPECT_GT(coarse.energy, 300 * coarse.rms);
    if (pressed) {
      EXPECT_GT(coarse.volume, 0.05);
    }
  }
}

/// Without motion kT alone pushes the first link: after a time h its velocity is -h/tau², and what
/// its position and velocity have of the conserved quantity adds up to 0. Particles at rest, and a
/// box that nothing has moved, begin so.
TEST(NoseHooverChain, IsPushedWithoutMotion) {
  const double kt = 1.5, tau = 0.3, h = 0.002;
  const ChainLaw law{1, tau, 12};
  ChainState chain;
  double still = 0, energy = 0;
  EXPECT_EQ(law.advance(chain, kt, h, still, energy), 1);
  EXPECT_EQ(still, 0);
  EXPECT_NEAR(chain.velocity[0], -h / (tau * tau), 1e-15);
  EXPECT_NEAR(energy, -law.kinetic_energy(chain, kt), 1e-15);
  // Where there are no degrees of freedom there is nothing to push.
  ChainState none;
  EXPECT_EQ((ChainLaw{1, tau, 0}.advance(none, kt, h, still, energy)), 1);
  EXPECT_EQ(none.velocity[0], 0);
}

/// Particles that are at rest, and forces that pull them off their places: of the velocities that
/// they have some time later half of the time step changes a quarter as much, as the method is of
/// the second order, and of the first it would be half as much. In steady shear as well.
TEST_P(NoseHooverTest, StartsFromRestWithTheSecondOrder) {
  Configuration c = fcc(4, 0.84);
  std::mt19937_64 generator(1);
  std::normal_distribution<double> normal(0, 0.03);
  for (auto& r : c.position) r += {normal(generator), normal(generator), normal(generator)};
  c.velocity.assign(c.position.size(), {});
  for (const double rate : {0.0, 1.0})
    for (const int links : {1, 3}) {
      SCOPED_TRACE("rate " + std::to_string(rate) + ", links " + std::to_string(links));
      const auto run = [&](double dt) {
        Simulation s(for_few(), c, lennard_jones(for_few(), 2.5, "force_shift"));
        NoseHooverSettings j = settings(dt, 1, 0.2);
        j.chain = links;
        NoseHoover integrator(j, 1);
        ShearSettings shear;
        shear.rate = rate;
        Deformation deformation(shear, "shear");
        s.begin_stage(integrator, rate > 0 ? &deformation : nullptr);
        if (rate > 0) deformation.begin(s, integrator);
        integrator.begin(s);
        s.advance(integrator, int(std::lround(0.4 / dt)));
        return s.particles().configuration().velocity;
      };
      const auto coarse = run(0.008), middle = run(0.004), fine = run(0.002);
      double first = 0, second = 0;
      for (std::size_t k = 0; k < coarse.size(); ++k) {
        const Vec3<double> a = coarse[k] - middle[k], b = middle[k] - fine[k];
        first += dot(a, a), second += dot(b, b);
      }
      EXPECT_NEAR(std::sqrt(first / second), 4, 0.4);  // the fourth order adds a few percent
    }
}

/// Velocities, chains and rates turned round, a run comes back to where it began.
TEST_P(NoseHooverTest, GoesBackAsItCame) {
  Configuration c = fcc(4, 0.6);
  thermalize(c, 1.2, 4);
  Simulation s(for_few(), c, lennard_jones(for_few(), 2.5, "force_shift"));
  NoseHooverSettings j = settings(0.01, 2, 0.2);
  j.barostat = piston(3, 1, 5);
  j.barostat->axes = "x,y,z";
  melt(s, 2);
  NoseHoover integrator(j, 1);
  integrator.begin(s);
  s.advance(integrator, 40);
  const auto start = s.particles().configuration();
  s.advance(integrator, 40);
  EXPECT_GT(std::abs(s.particles().box().volume() / start.box.volume() - 1), 0.003);

  Archive archive = Archive::saving();
  integrator.state(archive);
  auto records = archive.records();
  auto& bytes = records.at("at_end").bytes;
  const std::size_t count = 2 * ChainState::most + 3;  // velocities and rates
  ASSERT_EQ(bytes.size(), (count + 4) * sizeof(double));
  auto* numbers = reinterpret_cast<double*>(bytes.data());
  for (std::size_t k = 0; k < count; ++k) numbers[k] = -numbers[k];
  Archive turned = Archive::restoring(records);
  integrator.state(turned);
  auto velocity = s.particles().velocity().to_host();
  for (Real4& v : velocity) v = {-v.x, -v.y, -v.z, v.w};
  s.particles().velocity().assign(velocity);
  integrator.begin(s);
  s.advance(integrator, 40);

  const auto end = s.particles().configuration();
  for (int axis = 0; axis < 3; ++axis)
    EXPECT_NEAR(end.box.length[axis] / start.box.length[axis], 1, 2e-7);
  double furthest = 0, fastest = 0;
  for (std::size_t k = 0; k < end.position.size(); ++k) {
    Vec3<double> d = end.box.fraction(end.position[k]) - start.box.fraction(start.position[k]);
    for (int axis = 0; axis < 3; ++axis) d[axis] -= std::round(d[axis]);
    const Vec3<double> v = end.velocity[k] + start.velocity[k];
    furthest = std::max(furthest, end.box.length.x * std::sqrt(dot(d, d)));
    fastest = std::max(fastest, std::sqrt(dot(v, v)));
  }
  EXPECT_LT(furthest, 2e-5);
  EXPECT_LT(fastest, 4e-4);
}

TEST_P(NoseHooverTest, ABoxThatChangesTooFastIsAnError) {
  Configuration c = fcc(4, 0.6);
  thermalize(c, 1, 4);
  Simulation s(device(), c, lennard_jones(device(), 2.5, "force_shift"));
  NoseHooverSettings j = settings(0.004, 1, 0.2);
  j.barostat = piston(1e4, 0.5, 3);
  NoseHoover integrator(j, 1);
  integrator.begin(s);
  try {
    s.advance(integrator, 1000);
    FAIL() << "volume " << s.particles().box().volume();
  } catch (const RunError& e) {
    const std::string what = e.what();
    EXPECT_EQ(what.rfind("step ", 0), 0u) << what;
    EXPECT_NE(what.find("the box changes by a fraction of"), std::string::npos) << what;
  }
}

PERRIN_INSTANTIATE_DEVICES(NoseHooverTest);

}  // namespace
}  // namespace perrin
