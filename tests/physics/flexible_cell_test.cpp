// A cell whose edges and angles all change, on a crystal: against the lattice's own elastic
// constants, from energies of boxes that are strained by hand.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "engine/dynamics/simulation.h"
#include "integrators/bussi.h"
#include "tests/devices.h"
#include "tests/fluids.h"
#include "tests/series.h"

namespace perrin {
namespace {

class FlexibleCellTest : public DeviceTest {
 protected:
  static constexpr int cells = 4;

  Forces forces() const { return lennard_jones(device(), 2.3, "force_shift"); }
  Totals totals(const Configuration& c) const { return Simulation(device(), c, forces()).totals(); }
  /// fcc without pressure: its density by bisection.
  Configuration crystal() const {
    double low = 0.9, high = 1.3;
    for (int k = 0; k < 30; ++k) {
      const double density = (low + high) / 2;
      const auto virial = totals(fcc(cells, density)).virial;
      (virial[0] > 0 ? high : low) = density;
    }
    return fcc(cells, (low + high) / 2);
  }
  /// Pressure 0, tau 0.2: the crystal's bulk modulus is near 70.
  Bussi integrator(double temperature, std::int64_t stride) const {
    BarostatSettings cell;
    cell.pressure = 0, cell.tau = 0.2, cell.stride = stride;
    cell.axes = "flexible", cell.compressibility = 0.014;
    BussiSettings s;
    s.timestep = 0.005, s.temperature = temperature, s.tau = 0.1;
    return Bussi(s, 1, std::make_unique<Barostat>(cell, 3));
  }
};

/// Particles keep their places in units of the edges.
Configuration in_box(const Configuration& c, const Box& box) {
  Configuration strained = c;
  strained.box = box;
  for (auto& r : strained.position) r = box.point(c.box.fraction(r));
  return strained;
}

Box stretched(Box box, double x, double y) {
  box.length.x *= 1 + x, box.origin.x *= 1 + x;
  box.length.y *= 1 + y, box.origin.y *= 1 + y;
  return box;
}
Box sheared(Box box, double xy) {
  box.xy += xy * box.length.y, box.origin.x += xy * box.origin.y;
  return box;
}

/// In a crystal without pressure the strains of a fluctuating cell have the covariances kT/V S, S
/// the inverse of the stiffness (M. Parrinello, A. Rahman, J. Chem. Phys. 76, 2662 (1982)). All
/// atoms are at centres of inversion, so that straining the lattice is all there is to its
/// stiffness.
TEST_P(FlexibleCellTest, FluctuationsHaveTheElasticConstantsOfTheLattice) {
  const Configuration c = crystal();
  constexpr double e = 0.004, temperature = 0.02;
  const double volume = c.box.volume(), rest = totals(c).potential;
  const auto stiffness = [&](const Box& there, const Box& back) {
    return (totals(in_box(c, there)).potential + totals(in_box(c, back)).potential - 2 * rest) /
           (e * e * volume);
  };
  const double c11 = stiffness(stretched(c.box, e, 0), stretched(c.box, -e, 0));
  const double difference = stiffness(stretched(c.box, e, -e), stretched(c.box, -e, e)) / 2;
  const double c44 = stiffness(sheared(c.box, e), sheared(c.box, -e));
  const double c12 = c11 - difference;
  EXPECT_NEAR(c12 / c44, 1, 0.05);  // Cauchy's relation of central forces

  Configuration warm = c;
  thermalize(warm, 2 * temperature, 4);
  Simulation s(device(), warm, forces());
  Bussi mover = integrator(temperature, 5);
  mover.begin(s);
  s.advance(mover, 3000);
  std::vector<double> bulk, deviatoric, shear, tilts;
  double mean_volume = 0;
  constexpr int samples = 1200;
  std::vector<std::array<double, 6>> cell;
  for (int k = 0; k < samples; ++k) {
    s.advance(mover, 20);
    const Box& b = s.particles().box();
    cell.push_back({std::log(b.length.x), std::log(b.length.y), std::log(b.length.z),
                    b.xy / b.length.y, b.xz / b.length.z, b.yz / b.length.z});
    mean_volume += b.volume() / samples;
  }
  std::array<double, 6> mean{};
  for (const auto& now : cell)
    for (std::size_t i = 0; i < 6; ++i) mean[i] += now[i] / samples;
  for (const auto& now : cell) {
    std::array<double, 6> d{};
    for (std::size_t i = 0; i < 6; ++i) d[i] = now[i] - mean[i];
    bulk.push_back(std::pow(d[0] + d[1] + d[2], 2));
    deviatoric.push_back(
        (std::pow(d[0] - d[1], 2) + std::pow(d[1] - d[2], 2) + std::pow(d[2] - d[0], 2)) / 3);
    shear.push_back((d[3] * d[3] + d[4] * d[4] + d[5] * d[5]) / 3);
    tilts.push_back(now[3]);
  }
  // Beside errors of the means: at this temperature the crystal is softer by some percent.
  const auto expect = [&](const char* what, const std::vector<double>& squares, double stiff) {
    const Estimate found = estimate(squares);
    const double wanted = temperature / (mean_volume * stiff);
    EXPECT_NEAR(found.mean / wanted, 1.03, 0.07 + 4.5 * found.error / wanted) << what;
    EXPECT_LT(found.error / wanted, 0.12) << what;
  };
  expect("bulk modulus", bulk, (c11 + 2 * c12) / 3);
  expect("c11 - c12", deviatoric, (c11 - c12) / 2);
  expect("c44", shear, c44);
  const Estimate tilt = estimate(tilts);
  EXPECT_NEAR(tilt.mean, 0, 4.5 * tilt.error);
}

/// From a box that is stretched and sheared.
TEST_P(FlexibleCellTest, ACrystalComesBackToItsCube) {
  const Configuration c = crystal();
  Box box = sheared(stretched(c.box, 0.03, -0.02), 0.06);
  box.yz -= 0.04 * box.length.z, box.origin.y -= 0.04 * box.origin.z;
  Configuration bent = in_box(c, box);
  thermalize(bent, 0.01, 4);
  Simulation s(device(), bent, forces());
  Bussi mover = integrator(0.002, 3);
  mover.begin(s);
  s.advance(mover, 6000);
  Box mean = s.particles().box();
  constexpr int samples = 100;
  for (int k = 1; k < samples; ++k) {
    s.advance(mover, 20);
    const Box& b = s.particles().box();
    mean.length += b.length, mean.xy += b.xy, mean.xz += b.xz, mean.yz += b.yz;
  }
  // The strains fluctuate by 0.0004; thermal expansion is below 0.0005 at this temperature.
  const double edge = c.box.length.x * samples;
  for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(mean.length[axis] / edge, 1, 0.001) << axis;
  EXPECT_NEAR(mean.xy / edge, 0, 0.001);
  EXPECT_NEAR(mean.xz / edge, 0, 0.001);
  EXPECT_NEAR(mean.yz / edge, 0, 0.001);
}

PERRIN_INSTANTIATE_DEVICES(FlexibleCellTest);

}  // namespace
}  // namespace perrin
