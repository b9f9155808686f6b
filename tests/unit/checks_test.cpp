// Units, initial velocities, the checks of a configuration, the closest pair.
#include "engine/system/checks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/components/degrees_of_freedom.h"
#include "engine/components/force.h"
#include "engine/components/integrator.h"
#include "engine/components/setup.h"
#include "engine/dynamics/velocities.h"
#include "engine/settings/units.h"
#include "engine/system/closest_pair.h"
#include "engine/system/configuration_archive.h"
#include "rng/keyed.h"

namespace perrin {
namespace {

Configuration random_configuration(std::size_t n, bool periodic, double tilt, int dimension = 3) {
  Configuration c;
  c.types = {"A", "B"};
  c.box.length = {5, 7, dimension == 3 ? 6.0 : 1.0};
  c.box.xy = tilt;
  c.box.dimension = dimension;
  c.box.origin = {-1, 2, 0};
  c.box.periodic = {periodic, true, dimension == 3};
  auto g = keyed<Philox>(Purpose::test, 7, n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    Vec3<double> s{g.uniform<double>(), g.uniform<double>(), g.uniform<double>()};
    if (dimension == 2) s.z = 0;
    c.position.push_back(c.box.point(s));
    c.type.push_back(i % 2);
    c.mass.push_back(i % 2 == 0 ? 1.0 : 3.0);
  }
  return c;
}

double brute_force(const Configuration& c) {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < c.position.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      for (int x = -1; x <= 1; ++x)
        for (int y = -1; y <= 1; ++y)
          for (int z = -1; z <= 1; ++z) {
            const int shift[3] = {x, y, z};
            bool allowed = true;
            for (std::size_t k = 0; k < 3; ++k) allowed &= c.box.periodic[k] || shift[k] == 0;
            if (!allowed) continue;
            const auto e = c.box.edges();
            const auto d = c.position[i] - c.position[j] + double(x) * e[0] + double(y) * e[1] +
                           double(z) * e[2];
            best = std::min(best, std::sqrt(dot(d, d)));
          }
  return best;
}

TEST(ClosestPair, AgreesWithAllPairs) {
  for (const std::size_t n : {2, 3, 5, 30, 400})
    for (const bool periodic : {true, false})
      for (const double tilt : {0.0, 1.7})
        for (const int dimension : {2, 3}) {
          const auto c = random_configuration(n, periodic, tilt, dimension);
          const auto pair = closest_pair(c);
          ASSERT_TRUE(pair);
          EXPECT_LT(pair->a, pair->b);
          // Beyond half the box the nearest image in a tilted box may be another one.
          if (pair->distance > largest_range(c.box)) continue;
          EXPECT_NEAR(pair->distance, brute_force(c), 1e-12)
              << n << " " << periodic << " " << tilt << " " << dimension;
        }
}

TEST(ClosestPair, FindsCoincidingParticlesAcrossTheBoundary) {
  auto c = random_configuration(200, true, 0);
  c.position[17] = c.position[150] + Vec3<double>{5, -7, 0};
  const auto pair = closest_pair(c);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->a, 17u);
  EXPECT_EQ(pair->b, 150u);
  EXPECT_NEAR(pair->distance, 0, 1e-12);
  c.position.resize(1);
  EXPECT_FALSE(closest_pair(c));
}

TEST(Velocities, HaveTheTemperatureAndNoMomentum) {
  for (const int dimension : {2, 3}) {
    auto c = random_configuration(500, true, 0, dimension);
    draw_velocities(c, 0.7, 2.0, 42, DegreesOfFreedom(c));
    Vec3<double> momentum;
    double twice_kinetic = 0;
    for (std::size_t i = 0; i < c.position.size(); ++i) {
      momentum += c.mass[i] * c.velocity[i];
      twice_kinetic += c.mass[i] * dot(c.velocity[i], c.velocity[i]);
      if (dimension == 2) {
        EXPECT_EQ(c.velocity[i].z, 0);
      }
    }
    EXPECT_NEAR(twice_kinetic, dimension * 499 * 2.0 * 0.7, 1e-9);
    EXPECT_NEAR(std::sqrt(dot(momentum, momentum)), 0, 1e-10);
    // Equipartition: light and heavy particles have the same kinetic energy on average; with 250 of
    // each the ratio scatters by sqrt(2 · 2 / (250 dimension)) < 0.09. Five of that.
    double light = 0, heavy = 0;
    for (std::size_t i = 0; i < c.position.size(); ++i)
      (i % 2 ? heavy : light) += c.mass[i] * dot(c.velocity[i], c.velocity[i]);
    EXPECT_NEAR(light / heavy, 1, 0.45);
    auto again = random_configuration(500, true, 0, dimension);
    draw_velocities(again, 0.7, 2.0, 42, DegreesOfFreedom(again));
    EXPECT_EQ(again.velocity, c.velocity);
    draw_velocities(again, 0.7, 2.0, 43, DegreesOfFreedom(again));
    EXPECT_NE(again.velocity, c.velocity);
  }
}

/// A force that only says what it does to the momentum.
struct Says : Force {
  MomentumChange change;
  explicit Says(MomentumChange c) : change(c) {}
  void compute(StepContext&, const ForceOutput&) override {}
  MomentumChange momentum_change(std::span<const std::int64_t>) const override { return change; }
};
/// The same of what it moves.
DegreesOfFreedom counted(const Configuration& c, const std::vector<MomentumChange>& changes,
                         const Motion& motion = {}) {
  std::vector<std::unique_ptr<Force>> forces;
  for (const auto& change : changes) forces.push_back(std::make_unique<Says>(change));
  DegreesOfFreedom freedom(c);
  freedom.count(forces, motion);
  return freedom;
}

TEST(DegreesOfFreedom, AreThoseThatNothingConserves) {
  const auto c = random_configuration(10, true, 0), flat = random_configuration(10, true, 0, 2);
  const auto one = random_configuration(1, true, 0);
  EXPECT_EQ(counted(c, {}).number(), 27);
  EXPECT_EQ(counted(flat, {}).number(), 18);
  EXPECT_EQ(counted(one, {}).number(), 3);
  const MomentumChange wall{{false, false, true}, {}}, pull{{}, {2, 0, 0}}, push{{}, {-2, 0, 0}};
  EXPECT_EQ(counted(c, {wall}).number(), 28);
  EXPECT_EQ(counted(flat, {wall}).number(), 18);
  EXPECT_EQ(counted(c, {pull}).number(), 28);
  EXPECT_EQ(counted(c, {pull, push}).number(), 27);
  EXPECT_EQ(counted(c, {pull, wall}).number(), 29);
  // Of ten particles five are A. A bath takes momentum, and so do those who are held.
  EXPECT_EQ(counted(c, {}, {{}, {true, true, true}, false}).number(), 30);
  EXPECT_EQ(counted(c, {}, {{1, 0}, {true, true, true}, true}).number(), 15);
  EXPECT_EQ(counted(c, {}, {{0, 1}, {true, false, false}, false}).number(), 5);
  EXPECT_EQ(counted(c, {}, {{0, 0}, {true, true, true}, true}).number(), 0);
  EXPECT_EQ(counted(c, {}, {{0, 0}, {true, true, true}, true}).kt(1, {}), 0);
}

TEST(Velocities, HaveTheTemperatureOfWhatMoves) {
  const auto start = random_configuration(50, true, 0);
  const auto momentum = [](const Configuration& c) {
    Vec3<double> sum;
    for (std::size_t i = 0; i < c.position.size(); ++i) sum += c.mass[i] * c.velocity[i];
    return sum;
  };
  const auto twice_kinetic = [](const Configuration& c, bool only_a) {
    double sum = 0;
    for (std::size_t i = 0; i < c.position.size(); ++i)
      if (!only_a || c.type[i] == 0) sum += c.mass[i] * dot(c.velocity[i], c.velocity[i]);
    return sum;
  };
  Configuration c = start;
  draw_velocities(c, 0.7, 1, 3, counted(c, {MomentumChange{{false, false, true}, {}}}));
  EXPECT_NEAR(twice_kinetic(c, false), (3 * 50 - 2) * 0.7, 1e-9);
  EXPECT_NEAR(momentum(c).x, 0, 1e-10);
  EXPECT_NEAR(momentum(c).y, 0, 1e-10);
  EXPECT_GT(std::abs(momentum(c).z), 0.01);
  draw_velocities(c, 0.7, 1, 3, counted(c, {}, {{1, 0}, {true, true, true}, false}));
  EXPECT_NEAR(twice_kinetic(c, true), 3 * 25 * 0.7, 1e-9);
}

TEST(Instances, DrawFromSeedsOfTheirOwn) {
  SetupContext context;
  context.seed = 12;
  perrin::Setup first(context, "stages[0]"), second(context, "stages[3].integrator");
  EXPECT_EQ(first.seed(Purpose::dpd), 12u);
  EXPECT_EQ(second.instance(Purpose::dpd), 1u);
  EXPECT_NE(second.seed(Purpose::dpd), 12u);
  EXPECT_EQ(second.seed(Purpose::dpd), second.seed(Purpose::dpd));
  EXPECT_EQ(second.seed(Purpose::langevin), 12u);  // the first to draw for that
  EXPECT_EQ(first.instance(Purpose::dpd), 0u);
  EXPECT_NE(instance_seed(12, 1), instance_seed(12, 2));
  EXPECT_NE(instance_seed(12, 1), instance_seed(13, 1));
}

TEST(Checks, NameWhatIsWrongWithAConfiguration) {
  EXPECT_TRUE(check_configuration(random_configuration(10, true, 0)).empty());
  EXPECT_EQ(check_configuration({}).front(), "has no particles");
  auto c = random_configuration(10, true, 0);
  c.position[4].y = std::nan("");
  c.position[6].x = std::numeric_limits<double>::infinity();
  ASSERT_EQ(check_configuration(c).size(), 1u);
  EXPECT_EQ(check_configuration(c).front().rfind("particle 4 has the position", 0), 0u);
  EXPECT_NE(check_configuration(c).front().find("and 1 more"), std::string::npos);
  c = random_configuration(10, false, 0);
  c.position[3].x += 10;
  EXPECT_NE(check_configuration(c).front().find("particle 3"), std::string::npos);
  c = random_configuration(10, true, 0);
  c.mass[2] = 0;
  c.type[5] = 2;
  EXPECT_EQ(check_configuration(c).size(), 2u);
  c = random_configuration(10, true, 0);
  c.velocity.resize(10);
  c.velocity[7].y = 2.0 * double(std::numeric_limits<Real>::max());  // infinite in the engine
  ASSERT_EQ(check_configuration(c).size(), 1u);
  EXPECT_EQ(check_configuration(c).front().rfind("particle 7 has the velocity", 0), 0u);
}

TEST(Checks, TheLargestRangeIsHalfTheSmallestHeight) {
  Box box;
  box.length = {10, 8, 6};
  EXPECT_DOUBLE_EQ(largest_range(box), 3);
  box.periodic = {true, true, false};
  EXPECT_DOUBLE_EQ(largest_range(box), 4);
  box.xy = 8;  // a leans by 45 degrees: its faces come nearer
  EXPECT_NEAR(largest_range(box), 10 / std::sqrt(2.0) / 2, 1e-12);
  box.periodic = {false, false, false};
  EXPECT_TRUE(std::isinf(largest_range(box)));
}

TEST(Units, TimeAndBoltzmannFollow) {
  const Units md = make_units({"nm", "kJ/mol", "u"});
  EXPECT_EQ(md.time, "ps");
  EXPECT_NEAR(md.k_boltzmann, 0.00831446261815324, 1e-15);  // CODATA: R in kJ/(mol K)
  EXPECT_EQ(md.pressure(), "kJ mol-1 nm-3");
  const Units real = make_units({"angstrom", "kcal/mol", "g/mol"});
  EXPECT_EQ(real.time, "48.8882129083962 fs");  // the time unit of AKMA
  const Units si = make_units({"m", "J", "kg"});
  EXPECT_EQ(si.time, "s");
  EXPECT_DOUBLE_EQ(si.k_boltzmann, 1.380649e-23);
  EXPECT_EQ(make_units({"nm", "K", "u"}).k_boltzmann, 1);
  EXPECT_TRUE(Units{}.reduced());
  EXPECT_EQ(Units{}.pressure(), "");
}

TEST(ConfigurationArchive, GivesEverythingBack) {
  auto c = random_configuration(20, false, 0.5);
  c.topology.bond_types = {"a b", "c"};
  c.topology.bonds = {{0, 1, 0}, {1, 2, 1}};
  c.topology.angle_types = {"bend"};
  c.topology.angles = {{0, 1, 2, 0}};
  c.topology.dihedral_types = {"twist"};
  c.topology.dihedrals = {{0, 1, 2, 3, 0}};
  c.topology.improper_types = {"flat", "steep"};
  c.topology.impropers = {{3, 2, 1, 0, 1}};
  c.topology.molecule.assign(20, 3);
  c.charge.assign(20, -1);
  c.step = 77;
  auto out = Archive::saving();
  archive_configuration(out, c);
  auto in = Archive::restoring(out.records());
  Configuration d;
  archive_configuration(in, d);
  EXPECT_EQ(d.box, c.box);
  EXPECT_EQ(d.types, c.types);
  EXPECT_EQ(d.position, c.position);
  EXPECT_EQ(d.type, c.type);
  EXPECT_EQ(d.mass, c.mass);
  EXPECT_EQ(d.charge, c.charge);
  EXPECT_TRUE(d.diameter.empty());
  EXPECT_EQ(d.topology.bond_types, c.topology.bond_types);
  EXPECT_EQ(d.topology.bonds.size(), 2u);
  EXPECT_EQ(d.topology.bonds[1].type, 1u);
  EXPECT_EQ(d.topology.angles[0].b, 1u);
  EXPECT_EQ(d.topology.dihedral_types, c.topology.dihedral_types);
  EXPECT_EQ(d.topology.dihedrals[0].d, 3u);
  EXPECT_EQ(d.topology.improper_types, c.topology.improper_types);
  EXPECT_EQ(d.topology.impropers[0].type, 1u);
  EXPECT_EQ(d.topology.molecule, c.topology.molecule);
  EXPECT_EQ(d.step, 77);
}

}  // namespace
}  // namespace perrin
