// Boxes that deform and shear, against what is known: free particles, lattices, energy balance;
// lists in boxes whose tilts change, against all pairs.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "engine/dynamics/deformation.h"
#include "engine/dynamics/simulation.h"
#include "integrators/bussi.h"
#include "integrators/velocity_verlet.h"
#include "neighbor/neighbors.h"
#include "tests/devices.h"
#include "tests/fluids.h"
#include "tests/ways.h"

namespace perrin {
namespace {

ShearSettings shear(double rate, const char* flow = "x", const char* gradient = "y") {
  ShearSettings s;
  s.rate = rate, s.flow = flow, s.gradient = gradient;
  return s;
}

/// What a stage does.
void begin(Simulation& s, Deformation& deformation, Integrator& integrator) {
  s.begin_stage(integrator, &deformation);
  deformation.begin(s, integrator);
  integrator.begin(s);
  deformation.begin_work();
}

class DeformationTest : public DeviceTest {
 protected:
  std::vector<const char*> traversals() const { return ways_of(device()); }
};

/// Potential energy and virial (xx yy zz xy xz yz) of all pairs, in double.
struct AllPairs {
  double energy = 0, virial[6] = {};
  AllPairs(const Configuration& c, double cutoff) {
    const auto lj = [](double r, double& force) {
      const double s6 = std::pow(r, -6);
      force = 24 * (2 * s6 * s6 - s6) / r;
      return 4 * (s6 * s6 - s6);
    };
    double last, shift = 0;
    const double at_cut = lj(cutoff, last);
    shift = last;
    std::vector<Vec3<double>> fraction;
    for (const auto& r : c.position) fraction.push_back(c.box.fraction(r));
    for (std::size_t i = 0; i < fraction.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        Vec3<double> s = fraction[i] - fraction[j];
        for (int k = 0; k < 3; ++k) s[k] -= std::round(s[k]);
        const Vec3<double> d = c.box.point(s) - c.box.origin;
        const double r = std::sqrt(dot(d, d));
        if (r >= cutoff) continue;
        double f;
        energy += lj(r, f) - at_cut + (r - cutoff) * shift;
        f = (f - shift) / r;
        const double parts[6] = {d.x * d.x, d.y * d.y, d.z * d.z, d.x * d.y, d.x * d.z, d.y * d.z};
        for (int k = 0; k < 6; ++k) virial[k] += f * parts[k];
      }
  }
};

/// Tilts that grow from 0, go through it, turn, all at once and with lengths that change: what
/// lists say, against all pairs of the same particles.
TEST_P(DeformationTest, ListsFollowTilts) {
  constexpr double cutoff = 2.5, dt = 0.002;
  Configuration c = fcc(6, 0.7);
  thermalize(c, 1, 4);
  const double edge = c.box.length.x;
  for (const char* traversal : traversals())
    for (const int way : {0, 1, 2}) {
      SCOPED_TRACE(std::string(traversal) + (way == 0   ? ", all tilts and lengths"
                                             : way == 1 ? ", a sine"
                                                        : ", shear that turns"));
      NeighborSettings neighbors = settings_of_way(traversal);
      Simulation s(device(), c, lennard_jones(device(), cutoff, "force_shift"), 5, neighbors);
      DeformSettings d;
      if (way == 0) d.xy = 0.4 * edge, d.xz = -0.3 * edge, d.yz = 0.3 * edge, d.x = 1.1 * edge;
      if (way == 1) d.xz = 0.15 * edge, d.form = "oscillating", d.period = 0.6;
      Deformation bent(d, 400, "deform"), sheared(shear(2.5), "shear");
      VelocityVerlet integrator({dt});
      begin(s, way == 2 ? sheared : bent, integrator);
      double smallest = 0, largest = 0;
      for (int k = 0; k < 16; ++k) {
        s.advance(integrator, 25);
        const Configuration now = s.particles().configuration();
        const AllPairs all(now, cutoff);
        EXPECT_NEAR(s.totals().potential, all.energy, 4e-6 * std::abs(all.energy)) << k;
        for (std::size_t t = 0; t < 6; ++t)
          EXPECT_NEAR(s.totals().virial[t], all.virial[t], 2e-2) << k << " " << t;
        const double tilt = way == 1 ? now.box.xz : now.box.xy;
        smallest = std::min(smallest, tilt), largest = std::max(largest, tilt);
      }
      if (way == 0) {
        EXPECT_NEAR(s.particles().box().xy, 0.4 * edge, 1e-9);
        EXPECT_NEAR(s.particles().box().length.x, 1.1 * edge, 1e-9);
      } else {
        EXPECT_LT(smallest, -0.1 * edge);
      }
      EXPECT_GT(largest, 0.1 * edge);
      EXPECT_LT(largest, 0.51 * edge);
    }
}

/// A free particle keeps its velocity u in space: with x the flow and y the gradient its velocity
/// relative to the flow is u - rate y, and r = r0 + u t, across any number of turns and faces.
TEST_P(DeformationTest, FreeParticlesGoStraight) {
  constexpr double dt = 0.001, rate = 0.7;
  constexpr int steps = 10000;
  for (const auto& [flow, gradient] : {std::pair{"x", "y"}, {"x", "z"}, {"y", "z"}}) {
    SCOPED_TRACE(std::string(flow) + gradient);
    const int f = flow[0] - 'x', g = gradient[0] - 'x';
    Configuration c;
    c.box.length = {5, 4, 6};
    c.types = {"A"};
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> u;
    for (int k = 0; k < 200; ++k) {
      c.position.push_back(c.box.point({u(random), u(random), u(random)}));
      c.velocity.push_back({u(random) - 0.5, u(random) - 0.5, u(random) - 0.5});
    }
    c.type.assign(200, 0);
    Simulation s(device(), c, {});
    Deformation deformation(shear(rate, flow, gradient), "shear");
    VelocityVerlet integrator({dt});
    begin(s, deformation, integrator);
    s.advance(integrator, steps);
    const Configuration end = s.particles().configuration();
    const double time = steps * dt;
    // Half of the last digit of velocities up to 5; on the way it is not always the same.
    const double rounding = 1e-6;
    // As images have them: of the box that has turned, which is the same lattice.
    const auto edges = end.box.edges();
    for (std::size_t k = 0; k < 200; ++k) {
      const Image& n = end.image[k];
      const Vec3<double> r = end.position[k] + double(n.x) * edges[0] + double(n.y) * edges[1] +
                             double(n.z) * edges[2];
      Vec3<double> v = c.velocity[k];
      v[f] += rate * (c.position[k][g] - c.box.origin[g]);  // in space
      const Vec3<double> wanted = c.position[k] + time * v;
      for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(r[axis], wanted[axis], time * rounding);
      Vec3<double> relative = v;
      relative[f] -= rate * (wanted[g] - c.box.origin[g]);
      for (int axis = 0; axis < 3; ++axis)
        EXPECT_NEAR(end.velocity[k][axis], relative[axis], rounding);
    }
    EXPECT_NEAR(deformation.strain(s.step()), rate * time, 1e-9);
  }
}

/// The same system in a box that turns and in one that leans ever more: unwrapped places agree as
/// long as rounding leaves them alone.
TEST_P(DeformationTest, TurningChangesNothing) {
  Configuration c = fcc(7, 0.7);
  thermalize(c, 0.7, 4);
  const auto run = [&](bool turns) {
    Simulation s(device(), c, lennard_jones(device(), 2.5, "force_shift"));
    Deformation deformation(shear(4), "shear", turns);
    VelocityVerlet integrator({0.002});
    begin(s, deformation, integrator);
    s.advance(integrator, 85);  // a strain of 0.68
    return s.particles().configuration();
  };
  const Configuration turned = run(true), leaning = run(false);
  EXPECT_NEAR(turned.box.xy, leaning.box.xy - leaning.box.length.x, 1e-9);
  for (std::size_t k = 0; k < turned.position.size(); ++k) {
    const auto at = [&](const Configuration& e) {
      const auto edges = e.box.edges();
      return e.position[k] + double(e.image[k].x) * edges[0] + double(e.image[k].y) * edges[1] +
             double(e.image[k].z) * edges[2];
    };
    const Vec3<double> d = at(turned) - at(leaning);
    EXPECT_LT(std::sqrt(dot(d, d)), 2e-4) << k;
  }
}

/// Total energy less work and heat, with the square of the time step.
TEST_P(DeformationTest, WorkIsTheChangeOfEnergy) {
  Configuration c = fcc(4, 0.7);
  thermalize(c, 1.2, 4);
  struct Change {
    double drift = 0, work = 0;
  };
  const auto run = [&](double dt, int way, bool bath) {
    const int steps = int(std::lround(0.8 / dt));
    Simulation s(device(), c, lennard_jones(device(), 2.5, "force_shift"));
    DeformSettings d;
    d.work = true;
    if (way == 0) d.density = 0.8, d.form = "exponential";
    if (way == 1) d.x = 0.95 * c.box.length.x, d.yz = 1.2;
    if (way == 2) d.volume = 1.1 * c.box.volume(), d.remap_velocities = false;
    ShearSettings sheared = shear(1.5);
    sheared.work = true;
    Deformation bent(d, steps, "deform"), flowing(sheared, "shear");
    BussiSettings settings;
    settings.timestep = dt, settings.temperature = 1.2, settings.tau = 0.2;
    Bussi thermostat(settings, 1);
    VelocityVerlet verlet({dt});
    Integrator& integrator = bath ? static_cast<Integrator&>(thermostat) : verlet;
    begin(s, way == 3 ? flowing : bent, integrator);
    double first = 0;
    Change change;
    for (int k = 0; k <= 16; ++k) {
      if (k > 0) s.advance(integrator, steps / 16);
      const Totals& t = s.totals();
      const double conserved = t.kinetic + t.potential - t.heat - t.work;
      if (k == 0) first = conserved;
      change.drift = std::max(change.drift, std::abs(conserved - first));
      change.work = std::max(change.work, std::abs(t.work));
    }
    return change;
  };
  for (const int way : {0, 1, 2, 3})
    for (const bool bath : {false, true}) {
      SCOPED_TRACE(std::to_string(way) + (bath ? ", bussi" : ""));
      const Change coarse = run(0.004, way, bath), fine = run(0.001, way, bath);
      EXPECT_GT(coarse.work, 5);
      EXPECT_LT(coarse.drift, 0.02 * coarse.work);
      EXPECT_LT(fine.drift, coarse.drift / 8);  // a sixteenth, and rounding
    }
}

/// The fcc crystal at rest, of the Lennard-Jones potential within 4.55. All sites are centres of
/// symmetry, so that atoms at rest stay so, and lattice sums (numpy, double) have the stress of the
/// strained crystal: slopes 105.92, 60.68 and 60.27. (The whole potential: C11 = 105.2, C12 = C44 =
/// 60.2, and the bulk modulus (C11 + 2 C12)/3 = 75 of C. Kittel, Introduction to Solid State
/// Physics, chapter 3.)
TEST_P(DeformationTest, ElasticConstantsOfACrystal) {
  const Configuration c = fcc(7, 1.0914);
  const double edge = c.box.length.x, strain = 0.002;
  const auto stress = [&](bool tilt, double by) {
    Simulation s(device(), c, lennard_jones(device(), 4.55, "cut"));
    DeformSettings d;
    if (tilt) d.xy = by * edge;
    if (!tilt) d.x = (1 + by) * edge;
    Deformation deformation(d, 20, "deform");
    VelocityVerlet integrator({0.001});
    begin(s, deformation, integrator);
    s.advance(integrator, 20);
    return s.now().pressure_tensor();
  };
  const auto a = stress(false, -strain), b = stress(false, strain), t = stress(true, strain);
  EXPECT_NEAR((a[0] - b[0]) / (2 * strain), 105.92, 0.15);
  EXPECT_NEAR((a[1] - b[1]) / (2 * strain), 60.68, 0.15);
  EXPECT_NEAR((a[2] - b[2]) / (2 * strain), 60.68, 0.15);
  EXPECT_NEAR(-t[3] / strain, 60.27, 0.15);
}

TEST(DeformationThreads, BitsDoNotDependOnThem) {
  const auto run = [](int threads) {
    const Device device = Device::cpu(threads);
    Configuration c = fcc(8, 0.6);
    thermalize(c, 1, 4);
    Simulation s(device, c, lennard_jones(device, 2.5, "force_shift"), 5);
    ShearSettings settings = shear(3);
    settings.work = true;
    Deformation deformation(settings, "shear");
    VelocityVerlet integrator({0.002});
    begin(s, deformation, integrator);
    s.advance(integrator, 120);
    const Configuration end = s.particles().configuration();
    return std::tuple(end.box, end.position, end.velocity, s.totals().work);
  };
  const auto one = run(1);
  EXPECT_LT(std::get<0>(one).xy, 0);  // it has turned
  EXPECT_EQ(run(2), one);
  EXPECT_EQ(run(5), one);
}

PERRIN_INSTANTIATE_DEVICES(DeformationTest);

}  // namespace
}  // namespace perrin
