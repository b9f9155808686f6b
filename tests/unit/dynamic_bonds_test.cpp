// Bonds that are made and broken: who is near whom against all pairs, what an event does, and what
// follows it.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "engine/dynamics/close_pairs.h"
#include "engine/dynamics/dynamic_bonds.h"
#include "engine/dynamics/scheduled_changes.h"
#include "engine/dynamics/simulation.h"
#include "forces/angle_force.h"
#include "forces/angle_potentials.h"
#include "forces/bond_force.h"
#include "forces/bond_potentials.h"
#include "integrators/velocity_verlet.h"
#include "neighbor/neighbors.h"
#include "tests/devices.h"
#include "tests/fluids.h"

namespace perrin {
namespace {

const std::vector<bool> always{true};

std::vector<std::uint32_t> all_ids(std::size_t n) {
  std::vector<std::uint32_t> ids(n);
  for (std::uint32_t k = 0; k < n; ++k) ids[k] = k;
  return ids;
}

/// Anywhere in the box, of types 0 and 1.
std::vector<Position> scattered(const Box& box, std::size_t n, unsigned seed = 5) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(0, 1);
  std::vector<Position> positions;
  for (std::size_t k = 0; k < n; ++k) {
    const Vec3<double> s{u(random), u(random), box.dimension == 2 ? 0.0 : u(random)};
    positions.push_back(box.fixed(box.point(s), std::uint32_t(k % 2)));
  }
  return positions;
}

/// The shortest distance over the images around, where there are any.
double shortest(const Box& box, Vec3<double> a, Vec3<double> b) {
  double least = 1e300;
  const auto edges = box.edges();
  const auto far = [&](int axis) {
    return box.periodic[std::size_t(axis)] && axis < box.dimension ? 2 : 0;
  };
  for (int i = -far(0); i <= far(0); ++i)
    for (int j = -far(1); j <= far(1); ++j)
      for (int k = -far(2); k <= far(2); ++k) {
        const auto d = a - b + double(i) * edges[0] + double(j) * edges[1] + double(k) * edges[2];
        least = std::min(least, dot(d, d));
      }
  return std::sqrt(least);
}

struct NamedBox {
  const char* name;
  Box box;
  double distance;
};

std::vector<NamedBox> boxes() {
  Box cube, tilted, open, flat, tiny;
  cube.length = {11, 12, 13};
  tilted.length = {11, 9, 10}, tilted.xy = 5, tilted.xz = -4, tilted.yz = 3.5;
  open.length = {11, 12, 13}, open.periodic = {true, false, true};
  flat.length = {40, 30, 1}, flat.dimension = 2;
  tiny.length = {3, 3.2, 10};
  return {{"orthogonal", cube, 1.7},
          {"tilted", tilted, 1.9},
          {"with an open axis", open.padded_for(0.5), 1.7},
          {"two dimensions", flat, 1.4},
          {"one or two cells", tiny, 1.49}};
}

TEST(ClosePairs, AreThoseOfAllPairsInBoxesOfEveryKind) {
  for (const NamedBox& b : boxes()) {
    SCOPED_TRACE(b.name);
    const auto position = scattered(b.box, 800);
    const auto wanted = [](std::uint32_t a, std::uint32_t c) { return (a + c) % 3 != 0; };
    std::set<std::pair<std::uint32_t, std::uint32_t>> expected, found;
    for (std::uint32_t i = 0; i < 800; ++i)
      for (std::uint32_t j = i + 1; j < 800; ++j)
        if (wanted(i, j) &&
            shortest(b.box, b.box.point(position[i]), b.box.point(position[j])) <= b.distance)
          expected.insert({i, j});
    const auto pairs =
        close_pairs(Device::cpu(1), b.box, position, all_ids(800), b.distance, wanted);
    for (const auto& [i, j] : pairs) {
      EXPECT_LT(i, j);
      EXPECT_TRUE(found.insert({i, j}).second) << "twice";
    }
    EXPECT_GT(expected.size(), 100u);
    EXPECT_EQ(found, expected);
  }
}

TEST(ClosePairs, DoNotDependOnThreads) {
  const Box box = boxes()[0].box;
  const auto position = scattered(box, 20000);
  const auto wanted = [](std::uint32_t, std::uint32_t) { return true; };
  const auto pairs = [&](int threads) {
    return close_pairs(Device::cpu(threads), box, position, all_ids(20000), 0.5, wanted);
  };
  const auto one = pairs(1), three = pairs(3);
  ASSERT_EQ(one.size(), three.size());
  EXPECT_GT(one.size(), 1000u);
  for (std::size_t k = 0; k < one.size(); ++k)
    ASSERT_TRUE(one[k].a == three[k].a && one[k].b == three[k].b) << k;
}

/// Type 0 with two valences, type 1 with three; bonds 0 between unlike ones.
BondRules network(double distance, double probability) {
  BondRules rules;
  rules.form.push_back({{0, 1}, 0, std::nullopt, distance, probability, always});
  rules.valence = {2, 3};
  return rules;
}

std::vector<int> bonds_of(const Topology& t, std::size_t n) {
  std::vector<int> count(n, 0);
  for (const auto& bond : t.bonds) ++count[bond.a], ++count[bond.b];
  return count;
}

TEST(DynamicBondsTest, ValencesTypesAndDistancesHoldAndNoPairIsBondedTwice) {
  const Box box = boxes()[0].box;
  const auto position = scattered(box, 2000);
  const PositionDistance measure(box);
  DynamicBonds bonds(network(1.3, 0.5), 3, 1);
  Topology t;
  t.bond_types = {"ab"};
  std::size_t before = 0;
  for (std::uint64_t step = 1; step < 12; ++step) {
    bonds.react(t, position, box, step, 0, Device::cpu(2));
    std::vector<int> news(2000, 0);
    for (std::size_t k = before; k < t.bonds.size(); ++k)
      ++news[t.bonds[k].a], ++news[t.bonds[k].b];
    EXPECT_LE(*std::ranges::max_element(news), 1) << "more than one bond in an event";
    before = t.bonds.size();
  }
  EXPECT_GT(t.bonds.size(), 1000u);
  EXPECT_EQ(std::int64_t(t.bonds.size()), bonds.formed()[0]);
  const auto count = bonds_of(t, 2000);
  int most[2] = {0, 0};
  for (std::uint32_t id = 0; id < 2000; ++id) {
    int& m = most[position[id].type()];
    m = std::max(m, count[id]);
  }
  EXPECT_EQ(most[0], 2);
  EXPECT_EQ(most[1], 3);
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const auto& bond : t.bonds) {
    EXPECT_NE(position[bond.a].type(), position[bond.b].type());
    EXPECT_LE(measure.square(position[bond.a], position[bond.b]), 1.3 * 1.3);
    EXPECT_TRUE(pairs.insert({bond.a, bond.b}).second);
  }
}

TEST(DynamicBondsTest, EventsFollowFromSeedAndStepAlone) {
  const Box box = boxes()[1].box;
  const auto position = scattered(box, 3000);
  const auto after = [&](std::uint64_t seed, std::uint64_t step, int threads) {
    DynamicBonds bonds(network(1.0, 0.3), seed, 1);
    Topology t;
    bonds.react(t, position, box, step, 0, Device::cpu(threads));
    std::vector<std::uint32_t> ids;
    for (const auto& bond : t.bonds) ids.insert(ids.end(), {bond.a, bond.b});
    return ids;
  };
  const auto first = after(1, 100, 1);
  EXPECT_GT(first.size(), 200u);
  EXPECT_EQ(first, after(1, 100, 3));
  EXPECT_NE(first, after(2, 100, 1));
  EXPECT_NE(first, after(1, 200, 1));
}

TEST(DynamicBondsTest, AProbabilityIsTheFractionOfPairsThatAreBonded) {
  // Pairs far from each other: nobody has a choice.
  Box box;
  box.length = {100, 100, 100};
  std::vector<Position> position;
  for (std::uint32_t k = 0; k < 20000; ++k) {
    const std::uint32_t i = k / 2 % 25, j = k / 50 % 20, l = k / 1000;
    const Vec3<double> site{double(i), double(j), double(l)};
    position.push_back(box.fixed(
        box.origin + 4.0 * site + Vec3<double>{0.9 * double(k % 2) + 0.5, 0.5, 0.5}, k % 2));
  }
  DynamicBonds bonds(network(1, 0.07), 9, 1);
  Topology t;
  bonds.react(t, position, box, 1, 0, Device::cpu(2));
  const double n = 10000, p = 0.07;
  EXPECT_NEAR(double(t.bonds.size()), n * p, 5 * std::sqrt(n * p * (1 - p)));

  // With breaking it is a chain of two states, whose stationary fraction is known: a bond breaks
  // with q in an event, a free pair, but for one that has just broken, is bonded with p.
  const double q = 0.2;
  BondRules rules = network(1, 0.07);
  rules.broken.push_back({0, 0, q, always});
  DynamicBonds both(rules, 4, 1);
  t.bonds.clear();
  double sum = 0;
  int events = 0;
  for (std::uint64_t step = 1; step <= 150; ++step) {
    both.react(t, position, box, step, 0, Device::cpu(2));
    if (step > 50) sum += double(t.bonds.size()) / n, ++events;
  }
  const double expected = p / (p + q);
  // Events remember one another for 1/(p + q) events.
  const double error = std::sqrt(expected * (1 - expected) / n * 2 / (p + q) / events);
  EXPECT_NEAR(sum / events, expected, 5 * error);
  // Every one that is there has been made and not broken.
  EXPECT_EQ(both.formed()[0] - both.broken()[0], std::int64_t(t.bonds.size()));
}

TEST(DynamicBondsTest, AnglesFollowBondsAndGoWithThem) {
  Box box;
  box.length = {30, 30, 30};
  // A row of particles of alternating types, 1 apart: in the end a chain.
  std::vector<Position> position;
  for (std::uint32_t k = 0; k < 10; ++k)
    position.push_back(box.fixed({double(k) - 5, 0.2, 0.1}, k % 2));
  BondRules rules = network(1.1, 1);
  rules.valence = {2, 2};
  rules.form[0].angle = 0;
  DynamicBonds bonds(rules, 1, 1);
  Topology t;
  for (std::uint64_t step = 1; step <= 30; ++step)
    bonds.react(t, position, box, step, 0, Device::cpu(1));
  EXPECT_EQ(t.bonds.size(), 9u);
  EXPECT_EQ(t.angles.size(), 8u);
  std::set<std::uint32_t> vertices;
  for (const auto& angle : t.angles) {
    EXPECT_TRUE(vertices.insert(angle.b).second);
    EXPECT_EQ(std::set<std::uint32_t>({angle.a, angle.c}),
              std::set<std::uint32_t>({angle.b - 1, angle.b + 1}));
  }
  t.dihedrals = {{0, 1, 2, 3, 0}, {4, 5, 6, 7, 0}, {3, 4, 5, 6, 0}};
  t.impropers = {{4, 0, 1, 5, 0}, {0, 1, 2, 3, 0}};
  // Only the bond between 4 and 5 is too long.
  for (std::uint32_t k = 5; k < 10; ++k) position[k] = box.fixed({double(k) - 4, 0.2, 0.1}, k % 2);
  BondRules breaking;
  breaking.broken.push_back({0, 1.5, 1, always});
  breaking.valence = {-1, -1};
  DynamicBonds broken(breaking, 1, 1);
  EXPECT_TRUE(broken.react(t, position, box, 1, 0, Device::cpu(1)));
  EXPECT_EQ(t.bonds.size(), 8u);
  EXPECT_EQ(broken.broken()[0], 1);
  EXPECT_EQ(t.angles.size(), 6u);
  for (const auto& angle : t.angles) EXPECT_TRUE(angle.b != 4 && angle.b != 5);
  ASSERT_EQ(t.dihedrals.size(), 1u);
  EXPECT_EQ(t.dihedrals[0].a, 0u);
  ASSERT_EQ(t.impropers.size(), 1u);
  EXPECT_EQ(t.impropers[0].a, 0u);
  EXPECT_FALSE(broken.react(t, position, box, 2, 0, Device::cpu(1))) << "nothing is left to break";
}

TEST(DynamicBondsTest, RulesActInTheirStages) {
  BondRules rules = network(1, 1);
  rules.stride = 10;
  rules.form[0].stages = {false, true};
  const DynamicBonds bonds(rules, 1, 1);
  EXPECT_FALSE(bonds.is_due(20, 0));
  EXPECT_TRUE(bonds.is_due(20, 1));
  EXPECT_FALSE(bonds.is_due(21, 1));
  EXPECT_EQ(bonds.steps_to_event(20, 1), 10);
  EXPECT_EQ(bonds.steps_to_event(29, 1), 1);
  EXPECT_GT(bonds.steps_to_event(20, 0), std::int64_t(1) << 60);
}

TEST(DynamicBondsTest, ABoxThatHasBecomeTooSmallIsAnError) {
  Box box;
  box.length = {3, 3, 3};
  DynamicBonds bonds(network(1.6, 1), 1, 1);
  Topology t;
  EXPECT_THROW(bonds.react(t, scattered(box, 10), box, 1, 0, Device::cpu(1)), RunError);
}

/// Forces, tables, exclusions and lists follow, on every device and in every traversal.
class DynamicBondsOnDevices : public DeviceTest {
 protected:
  std::vector<const char*> traversals() const {
    if (device().is_cuda()) return {"tiles", "small", "cells", "verlet_list"};
    return {"clusters", "cells", "verlet_list"};
  }
  Forces forces(const Configuration& c) const {
    Forces all = lennard_jones(device(), 2.5, "force_shift");
    all.push_back(std::make_unique<BondForce<BondHarmonic>>(
        device(), c, std::map<std::string, BondHarmonic::Settings>{{"ab", {80, 1}}}));
    all.push_back(std::make_unique<AngleForce<AngleCosine>>(
        device(), c, std::map<std::string, AngleCosine::Settings>{{"bend", {2}}}));
    return all;
  }
  static NeighborSettings settings(const char* traversal) {
    NeighborSettings s;
    s.traversal = traversal;
    s.exclusions = {"bonds", "angles"};
    s.exclusions_change = true;
    return s;
  }
};

TEST_P(DynamicBondsOnDevices, WhatFollowsIsWhatIsMadeAnew) {
  Configuration c = fcc(6, 0.7);
  thermalize(c, 1.2, 5);
  c.topology.bond_types = {"ab"}, c.topology.angle_types = {"bend"};
  BondRules rules;
  rules.stride = 20;
  rules.form.push_back({{0, 0}, 0, 0, 1.2, 0.5, always});
  rules.broken.push_back({0, 1.1, 0.5, always});
  rules.valence = {3};
  for (const char* traversal : traversals()) {
    SCOPED_TRACE(traversal);
    Simulation s(device(), c, forces(c), 7, settings(traversal));
    s.changes().set(std::make_unique<DynamicBonds>(rules, 7, 1));
    VelocityVerlet integrator({0.002});
    integrator.begin(s);
    for (int event = 0; event < 8; ++event) {
      s.advance(integrator, 20);
      s.changes().make(0);
      s.advance(integrator, event);  // with recorded steps, or none
      s.ensure_forces();
      const Configuration now = s.particles().configuration();
      Simulation anew(device(), now, forces(now), 7, settings(traversal));
      anew.ensure_forces();
      const auto f = s.particles().by_id(s.particles().force()),
                 g = anew.particles().by_id(anew.particles().force());
      double worst = 0;
      for (std::size_t k = 0; k < f.size(); ++k)
        for (const double d : {f[k].x - g[k].x, f[k].y - g[k].y, f[k].z - g[k].z})
          worst = std::max(worst, std::abs(d));
      EXPECT_LT(worst, 0.02) << "event " << event;
      EXPECT_NEAR(s.totals().potential, anew.totals().potential,
                  1e-5 * std::abs(anew.totals().potential) + 1e-2);
      if (event == 7) {
        EXPECT_GT(now.topology.angles.size(), 100u);
      }
    }
    EXPECT_GT(s.changes().bonds()->formed()[0], 300);
    EXPECT_GT(s.changes().bonds()->broken()[0], 10);
  }
}

PERRIN_INSTANTIATE_DEVICES(DynamicBondsOnDevices);

}  // namespace
}  // namespace perrin
