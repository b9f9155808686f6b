// A barostat of one of several integrators: what it does to all particles, against one integrator,
// the ideal gas in closed form, and the Lennard-Jones fluid by its equation of state.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/dynamics/group_integrators.h"
#include "engine/dynamics/simulation.h"
#include "integrators/bussi.h"
#include "integrators/frozen.h"
#include "integrators/nose_hoover.h"
#include "integrators/velocity_verlet.h"
#include "tests/constant_pressure.h"
#include "tests/devices.h"
#include "tests/fluids.h"

namespace perrin {
namespace {

using One = std::unique_ptr<Integrator>;

std::unique_ptr<Barostat> barostat(double pressure, double tau, std::int64_t stride,
                                   std::optional<double> compressibility = {}) {
  BarostatSettings s;
  s.pressure = pressure, s.tau = tau, s.stride = stride, s.compressibility = compressibility;
  return std::make_unique<Barostat>(s, 3);
}

One bussi(double timestep, double temperature, double tau, std::unique_ptr<Barostat> moves = {}) {
  BussiSettings s;
  s.timestep = timestep, s.temperature = temperature, s.tau = tau;
  return std::make_unique<Bussi>(s, 1, std::move(moves));
}

One verlet(double timestep, double kt, std::unique_ptr<Barostat> moves = {}) {
  if (!moves) return std::make_unique<VelocityVerlet>(VelocityVerletSettings{timestep});
  return std::make_unique<VelocityVerlet>(VelocityVerletSettings{timestep}, std::move(moves),
                                          Ramp{kt, kt});
}

One chains(double timestep, double temperature) {
  NoseHooverSettings s;
  s.timestep = timestep, s.temperature = temperature, s.tau = 0.2;
  return std::make_unique<NoseHoover>(s, 1);
}

class GroupBarostatTest : public DeviceTest {
 protected:
  Device for_few() const { return device().is_cuda() ? device() : Device::cpu(1); }
  /// The first moves every third particle, the other the rest.
  std::unique_ptr<GroupIntegrators> both(One first, One other, const Configuration& c) const {
    Group::Members third(c.position.size(), 0), rest(c.position.size(), 1);
    for (std::size_t id = 0; id < third.size(); id += 3) third[id] = 1, rest[id] = 0;
    std::vector<One> two;
    two.push_back(std::move(first)), two.push_back(std::move(other));
    std::vector<Group> groups{Group("third", third, 1), Group("rest", rest, 1)};
    return std::make_unique<GroupIntegrators>(std::move(two), std::move(groups), c, for_few());
  }
};

/// Momenta, kinetic energy and virial are those of all: which of the two has the barostat, and that
/// there are two, changes no bit.
TEST_P(GroupBarostatTest, TwoWithTheSameEquationsAreOne) {
  Configuration c = fcc(5, 0.7);
  thermalize(c, 1.2, 4);
  for (auto& v : c.velocity) v.x += 0.3;  // a drift, which stays as it is
  const double dt = 0.004, kt = 1.2;
  struct End {
    std::vector<Real4> velocity;
    std::vector<Position> position;
    double volume, heat;
    bool operator==(const End& o) const {
      const auto same = [](const auto& a, const auto& b) {
        return a.x == b.x && a.y == b.y && a.z == b.z;
      };
      return volume == o.volume && heat == o.heat &&
             std::ranges::equal(velocity, o.velocity, same) &&
             std::ranges::equal(position, o.position, same);
    }
  };
  const auto run = [&](Integrator& integrator) {
    Simulation s(for_few(), c, lennard_jones(for_few(), 2.5, "force_shift"), 5);
    s.begin_stage(integrator);
    integrator.begin(s);
    s.advance(integrator, 200);
    const Vec3<double> momentum = s.totals().momentum;
    EXPECT_NEAR(momentum.x, 0.3 * double(c.position.size()), 1e-2);
    return End{s.particles().by_id(s.particles().velocity()),
               s.particles().by_id(s.particles().position()), s.particles().box().volume(),
               s.totals().heat};
  };
  const auto settings = [] { return barostat(4, 0.1, 3); };
  const End alone = run(*verlet(dt, kt, settings()));
  EXPECT_GT(std::abs(alone.volume / c.box.volume() - 1), 0.005);
  EXPECT_GT(std::abs(alone.heat), 1);
  EXPECT_TRUE(run(*both(verlet(dt, kt, settings()), verlet(dt, kt), c)) == alone);
  EXPECT_TRUE(run(*both(verlet(dt, kt), verlet(dt, kt, settings()), c)) == alone);
}

/// Of N moving and M frozen particles without interactions the volumes have the density
/// V^N exp(-PV/kT): frozen ones keep their places in units of the edges, push nobody, and have no
/// factor V. Nothing keeps the momentum, so the shape of this gamma distribution is N + 1.
TEST_P(GroupBarostatTest, FrozenParticlesHaveNoPressure) {
  const double kt = 1.5, pressure = 0.5, dt = 0.01, unit = kt / pressure;
  const int all = 900, moving = 600;
  const double shape = moving + 1, volume = shape * unit;
  Configuration c = ideal_gas(IdealGas{all}, volume);
  thermalize(c, kt, 4);
  Simulation s(for_few(), c, {}, 3);
  // The noise changes a length by 0.004 of itself.
  const double diffusion = volume * std::pow(0.004 * 1.5, 2) / (2 * kt);
  const auto integrator = both(std::make_unique<Frozen>(FrozenSettings{}),
                               bussi(dt, kt, 0, barostat(pressure, 1, 1, 4 * diffusion / dt)), c);
  s.begin_stage(*integrator);
  integrator->begin(s);
  const auto places = s.particles().by_id(s.particles().position());
  std::vector<double> volumes;
  for (int k = 0; k < (device().is_cuda() ? 4000 : 16000); k += 8) {
    s.advance(*integrator, 8);
    if (k >= 400) volumes.push_back(s.particles().box().volume());
  }
  const Estimate mean = estimate(volumes), variance = estimate_variance(volumes, volume);
  EXPECT_NEAR(mean.mean, volume, 4.5 * mean.error);
  EXPECT_LT(mean.error, 0.01 * volume);
  EXPECT_NEAR(variance.mean, shape * unit * unit, 4.5 * variance.error);
  const auto now = s.particles().by_id(s.particles().position());
  const auto velocity = s.particles().by_id(s.particles().velocity());
  for (std::size_t id = 0; id < now.size(); id += 3) {
    EXPECT_TRUE(now[id].x == places[id].x && now[id].y == places[id].y &&
                now[id].z == places[id].z);
    EXPECT_TRUE(velocity[id].x == 0 && velocity[id].y == 0 && velocity[id].z == 0);
  }
}

/// Two thermostats in one liquid: its density is that at which the equation of state has the
/// pressure, and each has its temperature.
TEST_P(GroupBarostatTest, TwoThermostatsGiveTheDensityOfOne) {
  const double temperature = 2, density = 0.6, cutoff = 2.5, dt = 0.004;
  const double pressure = pressure_of_fluid(temperature, density, cutoff);
  Configuration c = fcc(5, 0.5);
  thermalize(c, temperature, 4);
  const auto pressed = [&] { return barostat(pressure, 0.1, 5, 0.16); };
  for (const bool deterministic : {false, true}) {
    SCOPED_TRACE(deterministic);
    Simulation s(for_few(), c, lennard_jones(for_few(), cutoff), 1);
    const auto integrator =
        both(bussi(dt, temperature, 0.1, pressed()),
             deterministic ? chains(dt, temperature) : bussi(dt, temperature, 0.1), c);
    s.begin_stage(*integrator);
    integrator->begin(s);
    s.advance(*integrator, 2000);
    const AtConstantPressure run = measure_at_pressure(s, *integrator, 16000);
    EXPECT_GT(run.volume.independent, 40);
    EXPECT_NEAR(run.pressure.mean, pressure, 4.5 * run.pressure.error);
    EXPECT_LT(run.pressure.error, 0.015);
    EXPECT_NEAR(run.temperature.mean, temperature, 4.5 * run.temperature.error);
    const double n = double(c.position.size()), mean = n / run.volume.mean;
    EXPECT_NEAR(mean, density, 0.002 + 4.5 * mean * run.volume.error / run.volume.mean);
    // The liquid's Z: a third of the particles alone would be far off.
    EXPECT_LT(mean * run.volume.error / run.volume.mean, 0.006);
  }
}

/// Total energy less the heat of both baths and of the barostat; the box changes the energy by far
/// more.
TEST_P(GroupBarostatTest, TotalEnergyLessHeatIsConserved) {
  Configuration c = fcc(5, 0.7);
  thermalize(c, 1.2, 4);
  Simulation s(for_few(), c, lennard_jones(for_few(), 2.5, "force_shift"));
  const auto integrator =
      both(bussi(0.001, 1, 0.1, barostat(2, 0.1, 8)), bussi(0.001, 1.4, 0.1), c);
  s.begin_stage(*integrator);
  integrator->begin(s);
  double first = 0, energy = 0, change = 0;
  for (int k = 0; k <= 250; ++k) {
    if (k > 0) s.advance(*integrator, 16);
    const double now = s.totals().total_energy(), conserved = now - integrator->heat(s);
    if (k == 0) first = conserved, energy = now;
    EXPECT_NEAR(conserved, first, 0.3) << k;  // as of one integrator (barostat_test.cpp)
    change = std::max(change, std::abs(now - energy));
  }
  EXPECT_GT(change, 100);
}

PERRIN_INSTANTIATE_DEVICES(GroupBarostatTest);

}  // namespace
}  // namespace perrin
