// FIRE with the cell against a lattice sum.
#include <cmath>
#include <random>

#include "engine/dynamics/simulation.h"
#include "integrators/fire.h"
#include "tests/devices.h"
#include "tests/fluids.h"

namespace perrin {
namespace {

class FireCellTest : public DeviceTest {};

/// Of a perfect fcc crystal with edge a per cubic cell, at rest: -dU/dV of the sum over all
/// neighbours within the cut-off.
double crystal_pressure(double a, double cutoff) {
  double virial = 0;  // of one particle: half of sum r F
  const int reach = int(cutoff / a) + 2;
  for (int x = -reach; x <= reach; ++x)
    for (int y = -reach; y <= reach; ++y)
      for (int z = -reach; z <= reach; ++z)
        for (const Vec3<double>& site : {Vec3<double>{0, 0, 0}, Vec3<double>{0.5, 0.5, 0},
                                         Vec3<double>{0.5, 0, 0.5}, Vec3<double>{0, 0.5, 0.5}}) {
          const Vec3<double> r = a * (Vec3<double>{double(x), double(y), double(z)} + site);
          const double r2 = dot(r, r);
          if (r2 == 0 || r2 >= cutoff * cutoff) continue;
          const double i6 = 1 / (r2 * r2 * r2);
          virial += 0.5 * (48 * i6 * i6 - 24 * i6);
        }
  return virial * 4 / (3 * a * a * a);
}

/// The edge at which the crystal has a pressure.
double lattice_constant(double pressure, double cutoff) {
  double low = 1.45, high = 1.6;  // the pressure falls
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (crystal_pressure(middle, cutoff) > pressure ? low : high) = middle;
  }
  return low;
}

/// A crystal that is stretched and shaken, from which the edges relax each for itself; and one that
/// is too wide, in proportion.
TEST_P(FireCellTest, ACrystalRelaxesToItsLatticeConstant) {
  constexpr int cells = 5;
  const double cutoff = 2.5, tolerance = sizeof(Real) == 4 ? 2e-3 : 1e-5;
  for (const bool apart : {true, false})
    for (const double pressure : {0.0, 5.0}) {
      SCOPED_TRACE(std::string(apart ? "apart" : "in proportion") +
                   (pressure > 0 ? ", P = 5" : ""));
      Configuration c = fcc(cells, 1);
      const Vec3<double> stretch =
          apart ? Vec3<double>{1.02, 0.98, 1.01} : Vec3<double>{1.02, 1.02, 1.02};
      std::mt19937 random(5);
      std::uniform_real_distribution<double> u(-0.04, 0.04);
      for (auto& r : c.position)
        for (int axis = 0; axis < 3; ++axis) r[axis] = stretch[axis] * r[axis] + u(random);
      for (int axis = 0; axis < 3; ++axis)
        c.box.length[axis] *= stretch[axis], c.box.origin[axis] *= stretch[axis];
      Simulation s(device(), c, lennard_jones(device(), cutoff));
      FireSettings j;
      j.force_tolerance = tolerance;
      j.cell.emplace();
      j.cell->pressure = pressure, j.cell->tolerance = tolerance,
      j.cell->axes = apart ? "x,y,z" : "all";
      Fire fire(j);
      fire.begin(s);
      for (int k = 0; k < 3000 && !fire.finished(s); k += 32) s.advance(fire, 32);
      ASSERT_TRUE(fire.finished(s)) << fire.report();
      EXPECT_NE(fire.report().find("deviation of the pressure"), std::string::npos);
      // The bulk modulus is some 70: the tolerance is 1e-5 of an edge.
      const double expected = lattice_constant(pressure, cutoff);
      for (int axis = 0; axis < 3; ++axis)
        EXPECT_NEAR(s.particles().box().length[axis] / cells, expected, 2e-2 * tolerance * expected)
            << axis;
      EXPECT_NEAR(s.now().pressure(), pressure, 2 * tolerance);
      const Box converged = s.particles().box();
      s.advance(fire, 7);  // nothing moves any more
      EXPECT_EQ(converged, s.particles().box());
    }
}

PERRIN_INSTANTIATE_DEVICES(FireCellTest);

}  // namespace
}  // namespace perrin
