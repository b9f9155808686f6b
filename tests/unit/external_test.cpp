// External forces: a harmonic trap, a constant force, a flat wall.
#include <cmath>
#include <random>

#include "engine/dynamics/simulation.h"
#include "forces/constant_force.h"
#include "forces/harmonic_trap.h"
#include "forces/lj_wall.h"
#include "integrators/velocity_verlet.h"
#include "tests/devices.h"

namespace perrin {
namespace {

constexpr double rounding = sizeof(Real) == 4 ? 3e-6 : 1e-8;

Configuration particles_at(std::vector<Vec3<double>> positions) {
  Configuration c;
  c.box.length = {10, 12, 14};
  c.box.origin = {-5, -6, -7};
  c.types = {"A", "B"};
  c.position = std::move(positions);
  c.type.assign(c.position.size(), 0);
  return c;
}

/// Forces by id; the totals afterwards in the simulation.
template <class F, class S>
std::unique_ptr<Simulation> simulate(const Device& device, const Configuration& c,
                                     const S& settings,
                                     const std::vector<std::uint32_t>& types = {}) {
  std::vector<std::unique_ptr<Force>> forces;
  forces.push_back(std::make_unique<F>(settings, device, c.types.size(), types));
  auto simulation = std::make_unique<Simulation>(device, c, std::move(forces));
  simulation->ensure_forces();
  return simulation;
}

Vec3<double> force_on(Simulation& s, std::int64_t id) {
  const auto f = s.particles().force().to_host(id);
  return {double(f.x), double(f.y), double(f.z)};
}

void expect_near(Vec3<double> a, Vec3<double> b, double tolerance) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}

class External : public DeviceTest {};

TEST_P(External, TrapPullsToTheNearestImage) {
  auto c = particles_at({{1, 2, 3}, {-4.5, 0.5, 0}, {4.5, 0, 0}});
  c.type[2] = 1;
  HarmonicTrapSettings s;
  s.stiffness = {2, 3, 4};
  s.center = {4, 0, 0};
  auto all = simulate<HarmonicTrap>(device(), c, s);
  expect_near(force_on(*all, 0), {6, -6, -12}, 20 * rounding);
  // The nearest image of the particle at -4.5 is at 5.5.
  expect_near(force_on(*all, 1), {-3, -1.5, 0}, 20 * rounding);
  expect_near(force_on(*all, 2), {-1, 0, 0}, 20 * rounding);
  EXPECT_NEAR(all->totals().potential,
              0.5 * (2 * 9 + 3 * 4 + 4 * 9) + 0.5 * (2 * 2.25 + 3 * 0.25) + 0.25, 1e2 * rounding);
  for (const double w : all->totals().virial) EXPECT_EQ(w, 0);

  auto only_b = simulate<HarmonicTrap>(device(), c, s, {1});
  expect_near(force_on(*only_b, 0), {0, 0, 0}, 0);
  expect_near(force_on(*only_b, 2), {-1, 0, 0}, 20 * rounding);
  EXPECT_NEAR(only_b->totals().potential, 0.25, rounding);
}

TEST_P(External, TrapCanHoldTheUnwrappedParticle) {
  auto c = particles_at({{1, 2, 3}, {-4.5, 0.5, 0}});
  c.image = {{1, -2, 0}, {0, 0, 3}};
  HarmonicTrapSettings s;
  s.stiffness = {1, 1, 1};
  s.center = {4, 0, 20};  // outside of the box: unwrapped coordinates go on
  s.unwrapped = true;
  auto simulation = simulate<HarmonicTrap>(device(), c, s);
  expect_near(force_on(*simulation, 0), {-7, 22, 17}, 40 * rounding);
  expect_near(force_on(*simulation, 1), {8.5, -0.5, -22}, 40 * rounding);
}

TEST_P(External, TrapReachesThroughABoxThatIsNotPeriodic) {
  // The distance of 9 exceeds half of the edge: there is no nearer image.
  auto c = particles_at({{-4.5, 0, 0}});
  c.box.periodic = {false, false, false};
  HarmonicTrapSettings s;
  s.stiffness = {1, 1, 1};
  s.center = {4.5, 0, 0};
  auto simulation = simulate<HarmonicTrap>(device(), c, s);
  expect_near(force_on(*simulation, 0), {9, 0, 0}, 20 * rounding);
}

TEST_P(External, TrapInATiltedBox) {
  auto c = particles_at({{1, 2, 3}});
  c.box.xy = 2, c.box.xz = -1, c.box.yz = 1.5;
  HarmonicTrapSettings s;
  s.stiffness = {1, 1, 1};
  s.center = {0.5, 1, 1.5};
  auto simulation = simulate<HarmonicTrap>(device(), c, s);
  expect_near(force_on(*simulation, 0), {-0.5, -1, -1.5}, 10 * rounding);
}

/// Every image that can be nearer than `r` itself.
Vec3<double> nearest_image(const Box& box, const Vec3<double>& r) {
  const auto edge = box.edges();
  const auto height = box.heights();
  int reach[3];
  for (int axis = 0; axis < 3; ++axis)
    reach[axis] = box.periodic[std::size_t(axis)]
                      ? int(std::ceil(2 * std::sqrt(dot(r, r)) / height[axis]))
                      : 0;
  Vec3<double> nearest = r;
  for (int x = -reach[0]; x <= reach[0]; ++x)
    for (int y = -reach[1]; y <= reach[1]; ++y)
      for (int z = -reach[2]; z <= reach[2]; ++z) {
        const Vec3<double> image =
            r + double(x) * edge[0] + double(y) * edge[1] + double(z) * edge[2];
        if (dot(image, image) < dot(nearest, nearest)) nearest = image;
      }
  return nearest;
}

TEST_P(External, TrapPullsToTheNearestImageInTiltedBoxes) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> u(-1, 1);
  const struct {
    double xy, xz, yz;
    std::array<bool, 3> periodic{true, true, true};
  } tilts[] = {{2, -1, 1.5},
               {5, 0, 0},
               {5, 5, 6},
               {-5, 5, -6},
               {23, -31, 17},
               {0, 40, 0},
               {5, 5, 6, {true, true, false}},
               {5, 3, 6, {true, false, true}},
               {5, 3, 6, {false, true, true}}};
  for (const auto& tilt : tilts) {
    SCOPED_TRACE(testing::Message() << tilt.xy << ", " << tilt.xz << ", " << tilt.yz);
    auto c = particles_at(std::vector<Vec3<double>>(200));
    c.box.xy = tilt.xy, c.box.xz = tilt.xz, c.box.yz = tilt.yz;
    c.box.periodic = tilt.periodic;
    c.box.origin = {0, 0, 0};
    for (auto& r : c.position)
      r = c.box.point(Vec3<double>{0.5 + 0.5 * u(generator), 0.5 + 0.5 * u(generator),
                                   0.5 + 0.5 * u(generator)});
    HarmonicTrapSettings s;
    s.stiffness = {1, 1, 1};
    s.center = c.box.point(Vec3<double>{0.3, 0.4, 0.45});
    auto simulation = simulate<HarmonicTrap>(device(), c, s);
    double by_fractions = 0;
    for (std::int64_t i = 0; i < 200; ++i) {
      const Vec3<double> r = c.position[std::size_t(i)] - s.center;
      const auto index = simulation->particles().index().to_host(i);
      const Vec3<double> expected = nearest_image(c.box, r);
      const Vec3<double> force = force_on(*simulation, std::int64_t(index));
      // Two images may be equally far: then it is the distance that is the same.
      EXPECT_NEAR(std::sqrt(dot(force, force)), std::sqrt(dot(expected, expected)), 100 * rounding);
      Vec3<double> f = c.box.fraction(c.box.origin + r);
      for (int axis = 0; axis < 3; ++axis)
        if (c.box.periodic[std::size_t(axis)]) f[axis] -= std::rint(f[axis]);
      const Vec3<double> rounded = c.box.point(f) - c.box.origin;
      by_fractions = std::max(by_fractions, dot(rounded, rounded) - dot(expected, expected));
    }
    EXPECT_GT(by_fractions, 1) << "rounding fractions would have done";
  }
}

TEST_P(External, ConstantForceConservesEnergyAcrossTheBoundary) {
  auto c = particles_at({{1, 2, 3}, {-2, 0, 5}});
  c.velocity = {{1, 0, 0}, {0, 0.5, 0}};
  c.mass = {1, 2};
  c.type[1] = 1;
  ConstantForceSettings s;
  s.force = {0.5, 0, -1};
  auto simulation = simulate<ConstantForce>(device(), c, s, {0});
  const double before = simulation->totals().potential + simulation->totals().kinetic;
  EXPECT_NEAR(simulation->totals().potential, -0.5 + 3, 10 * rounding);
  VelocityVerlet integrator({0.01});
  integrator.begin(*simulation);
  simulation->advance(integrator, 1000);
  // r = v t + f t²/2: t = 10.
  const auto end = simulation->particles().configuration();
  const auto unwrapped = [&](std::size_t i) {
    return end.position[i] +
           Vec3<double>{10.0 * end.image[i].x, 12.0 * end.image[i].y, 14.0 * end.image[i].z};
  };
  // Each of the thousand kicks (0.005, 0.01) rounds a velocity of up to 10 to 6e-7; should all err
  // to one side, the velocity is off by 6e-4 · 10 and the position by half of that times the time.
  expect_near(unwrapped(0), {1 + 10 + 25, 2, 3 - 50}, 1000 * rounding);
  expect_near(unwrapped(1), {-2, 5, 5}, 100 * rounding);
  EXPECT_EQ(end.image[0].x, 4);  // 36 lies in the box from 35 to 45
  EXPECT_NEAR(simulation->totals().potential + simulation->totals().kinetic, before,
              1000 * rounding);
}

double wall_energy(const LjWallSettings& s, double h) {
  const double x3 = std::pow(s.sigma / h, 3);
  return s.form == "9-3" ? s.epsilon * (2.0 / 15 * x3 * x3 * x3 - x3)
                         : 4 * s.epsilon * (x3 * x3 * x3 * x3 - x3 * x3);
}

TEST_P(External, WallRepelsOnBothSidesAndEndsAtItsCutOff) {
  for (const char* form : {"9-3", "12-6"}) {
    for (const bool periodic : {true, false}) {
      const LjWallSettings s{.axis = "z",
                             .form = form,
                             .position = -6.5,
                             .epsilon = 1.5,
                             .sigma = 1.1,
                             .cutoff = 2.4,
                             .types = {}};
      // Distances 1.2 and 2 above; 0.4 below the wall; at 6.5 (1 below the wall's image at 7.5, if
      // there is one), and out of reach.
      auto c = particles_at({{1, 2, -5.3}, {0, 0, -4.5}, {0, 1, -6.9}, {3, 3, 6.5}, {0, 0, 0}});
      c.box.periodic = {true, true, periodic};
      auto simulation = simulate<LjWall>(device(), c, s);
      const double h[] = {1.2, 2, -0.4, periodic ? -1.0 : 13.0, 6.5};
      double energy = 0;
      for (std::int64_t i = 0; i < 5; ++i) {
        const double distance = std::abs(h[i]);
        double expected = 0;
        if (distance < 2.4) {
          const double step = 1e-5;
          expected = -(wall_energy(s, distance + step) - wall_energy(s, distance - step)) /
                     (2 * step) * (h[i] < 0 ? -1 : 1);
          energy += wall_energy(s, distance) - wall_energy(s, 2.4);
        }
        // Near the wall a rounding of the distance is multiplied by the power.
        const double tolerance = 20 * rounding * (1 + std::abs(expected));
        expect_near(force_on(*simulation, i), {0, 0, expected}, tolerance);
      }
      EXPECT_NEAR(simulation->totals().potential, energy, 20 * rounding * std::abs(energy));
      for (const double w : simulation->totals().virial) EXPECT_EQ(w, 0);
    }
  }
}
PERRIN_INSTANTIATE_DEVICES(External);

}  // namespace
}  // namespace perrin
