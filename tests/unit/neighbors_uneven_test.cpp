// Mixtures of very different ranges, and systems that fill little of their box, against all pairs
// by brute force; and how much memory they take.
#include <functional>
#include <random>

#include "engine/dynamics/simulation.h"
#include "integrators/velocity_verlet.h"
#include "tests/devices.h"
#include "tests/fluids.h"
#include "tests/unit/neighbors_check.h"
#include "tests/ways.h"

namespace perrin {
namespace {

Box cube(double edge) {
  Box box;
  box.length = {edge, edge, edge};
  box.origin = {-edge / 2, -edge / 2, -edge / 2};
  return box;
}

using Fraction = std::function<Vec3<double>(std::mt19937&)>;

Vec3<double> uniform(std::mt19937& g) {
  std::uniform_real_distribution<double> u(0, 1);
  return {u(g), u(g), u(g)};
}

Configuration random_in(const Box& box, std::size_t n, unsigned seed, const Fraction& fraction) {
  Configuration c;
  c.box = box;
  c.types = {"A"};
  std::mt19937 generator(seed);
  for (std::size_t k = 0; k < n; ++k) c.position.push_back(box.point(fraction(generator)));
  c.type.assign(n, 0);
  return c;
}

/// Half of the particles in a droplet that lies across three faces, a third of a face wide.
Fraction droplet(double radius) {
  return [radius](std::mt19937& g) {
    Vec3<double> p = uniform(g);
    if (std::bernoulli_distribution(0.5)(g)) return p;
    do p = 2.0 * uniform(g) - Vec3<double>{1, 1, 1};
    while (dot(p, p) > 1);
    return radius * p + Vec3<double>{0.98, 0.01, 0.99};
  };
}

Vec3<double> slab(std::mt19937& g) {
  Vec3<double> p = uniform(g);
  if (std::bernoulli_distribution(0.95)(g)) p.z = 0.96 + 0.08 * p.z;
  return p;
}

/// A chain of n beads, a random walk of steps of 1, with its bonds; its middle is at a corner of
/// the box.
Configuration polymer(double edge, std::size_t n, unsigned seed) {
  Configuration c;
  c.box = cube(edge);
  c.types = {"A"};
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  Vec3<double> at = c.box.origin;
  for (std::size_t k = 0; k < n; ++k) {
    c.position.push_back(at);
    const Vec3<double> step{normal(generator), normal(generator), normal(generator)};
    at += (1 / std::sqrt(dot(step, step))) * step;
  }
  c.type.assign(n, 0);
  c.topology.bond_types = {"b"};
  for (std::uint32_t k = 0; k + 1 < n; ++k) c.topology.bonds.push_back({k, k + 1, 0});
  return c;
}

/// Types in the proportions of `weight`, at random.
Configuration with_types(Configuration c, const std::vector<double>& weight, unsigned seed) {
  std::mt19937 generator(seed);
  std::discrete_distribution<std::uint32_t> type(weight.begin(), weight.end());
  c.types.clear();
  for (std::size_t t = 0; t < weight.size(); ++t) c.types.push_back(std::string(1, char('A' + t)));
  for (auto& t : c.type) t = type(generator);
  return c;
}

struct System {
  std::string name;
  Configuration start;
  Ranges ranges;
};

/// Diameters of 1 and 5, and their mean for unlike ones.
Ranges one_to_five(double unit) { return {2, {unit, 3 * unit, 3 * unit, 5 * unit}}; }

std::vector<System> mixtures() {
  Box tilted = cube(13);
  tilted.xy = 4, tilted.xz = -3, tilted.yz = 2.5;
  Box flat = cube(40);
  flat.length.z = 1, flat.origin.z = -0.5, flat.dimension = 2;
  Box walls = cube(16);
  walls.periodic[1] = false;
  const auto mixed = [](const Box& box, std::size_t n, unsigned seed, std::vector<double> weight) {
    const Fraction where = [&](std::mt19937& g) {
      Vec3<double> p = uniform(g);
      if (box.dimension == 2) p.z = 0.5;
      return p;
    };
    return with_types(random_in(box, n, seed, where), weight, seed + 100);
  };
  return {
      {"few large among many small", mixed(cube(12), 1800, 1, {0.99, 0.01}), one_to_five(1)},
      {"half and half", mixed(cube(14), 1000, 2, {1, 1}), one_to_five(1)},
      {"few small among many large", mixed(cube(20), 1200, 3, {0.02, 0.98}), one_to_five(1)},
      {"tilted", mixed(tilted, 1200, 4, {0.9, 0.1}), one_to_five(0.8)},
      {"two dimensions", mixed(flat, 1000, 5, {0.9, 0.1}), one_to_five(0.9)},
      {"between walls", mixed(walls.padded_for(6), 1000, 6, {0.95, 0.05}), one_to_five(0.9)},
      {"a type that meets nobody, one that meets one",
       mixed(cube(13), 1500, 7, {1, 1, 1, 1}),
       {4, {1, 0, 3, 0, 0, 0, 0, 0, 3, 0, 5, 2, 0, 0, 2, 0}}},
      {"similar", mixed(cube(10), 1000, 8, {1, 1}), {2, {2, 2.1, 2.1, 2.2}}},
      {"like ones never meet", mixed(cube(10), 1000, 9, {1, 1}), {2, {0, 2, 2, 0}}},
      {"in a droplet", with_types(random_in(cube(200), 1200, 10, droplet(0.03)), {0.9, 0.1}, 1),
       one_to_five(1)},
  };
}

std::vector<System> uneven() {
  Configuration pair = random_in(cube(2000), 1200, 5, [](std::mt19937& g) {
    std::normal_distribution<double> u(0, 0.001);
    const double at = std::bernoulli_distribution(0.5)(g) ? 0.25 : 0.75;  // fold onto one another
    return Vec3<double>{at + u(g), at + u(g), at + u(g)};
  });
  return {{"droplet in vapour", random_in(cube(100), 2500, 1, droplet(0.05)), 2.0},
          {"slab", random_in(cube(40), 3000, 2, slab), 2.0},
          {"polymer, box of 1e3 ranges", polymer(2500, 1000, 3), 2.5},
          {"polymer, box of 1e4 ranges", polymer(25000, 1000, 4), 2.5},
          {"two clumps half a box apart", pair, 2.0},
          {"nearly nobody", random_in(cube(1e4), 30, 6, droplet(1e-4)), 2.0}};
}

class UnevenTest : public DeviceTest {
 protected:
  std::vector<const char*> ways() const {
    std::vector<const char*> all = ways_of(device());
    all.push_back("standard");
    return all;
  }
  static NeighborSettings settings(const char* way) {
    NeighborSettings s = settings_of_way(way);
    s.skin = 0.3;
    return s;
  }
  /// Before and after particles have moved: less than lists allow for, then further.
  void check(const System& system, const char* way, bool exclusions) {
    SCOPED_TRACE(testing::Message() << system.name << ", " << way);
    Configuration c = system.start;
    Excluded excluded;
    if (exclusions && c.topology.bonds.empty()) {
      c.topology.bond_types = {"b"};
      for (std::uint32_t i = 0; i + 1 < c.position.size(); i += 2)
        c.topology.bonds.push_back({i, i + 1, 0});
      excluded = [](std::uint32_t a, std::uint32_t b) { return a / 2 == b / 2; };
    } else if (exclusions) {  // a chain
      excluded = [](std::uint32_t a, std::uint32_t b) { return a + 1 == b || b + 1 == a; };
    } else {
      c.topology.bonds.clear();
    }
    Particles particles(device(), c);
    Neighbors neighbors(particles, system.ranges, settings(way));
    std::mt19937 generator(17);
    for (const double distance : {0.0, 0.07, 2.0}) {
      move(particles, distance, generator);
      neighbors.update();
      const Pairs pairs = compare_with_brute_force(neighbors, excluded);
      EXPECT_GT(pairs.in_range, 0u);
      const std::string traversal = neighbors.traversal();
      if (distance == 0.07 || traversal == "clusters" || !neighbors.has_lists()) continue;
      // Lists hold what is in reach, and nothing else but for rounding of coordinates: by `small`
      // to 10^-6 of the longest edge, in a ball that grows by so much.
      const double n = double(particles.size()), listed = neighbors.mean_entries() * n;
      const Vec3<double>& edges = particles.box().length;
      const double more = traversal == "small" ? 3e-6 * std::max({edges.x, edges.y, edges.z}) : 0;
      EXPECT_NEAR(listed, double(pairs.in_reach),
                  2 + (0.003 + more / system.ranges.longest()) * double(pairs.in_reach));
    }
  }
  static void move(Particles& particles, double distance, std::mt19937& generator) {
    auto p = particles.position().to_host();
    const Metric m = particles.box().metric();
    std::uniform_real_distribution<double> u(-distance, distance);
    for (Position& q : p) {
      const Real3 d = m.fixed({Real(u(generator)), Real(u(generator)), Real(u(generator))});
      if (particles.box().periodic[0]) q.x += std::uint32_t(std::int64_t(d.x));
      if (particles.box().periodic[1]) q.y += std::uint32_t(std::int64_t(d.y));
      if (particles.box().dimension == 3) q.z += std::uint32_t(std::int64_t(d.z));
    }
    particles.position().assign(p);
  }
};

TEST_P(UnevenTest, MixturesEqualBruteForce) {
  for (const auto& system : mixtures())
    for (const char* way : ways()) check(system, way, false);
}

TEST_P(UnevenTest, MixturesWithExclusions) {
  for (const auto& system : mixtures())
    for (const char* way : ways()) check(system, way, true);
}

TEST_P(UnevenTest, UnevenDensitiesEqualBruteForce) {
  for (const auto& system : uneven())
    for (const char* way : ways()) check(system, way, false);
}

TEST_P(UnevenTest, UnevenDensitiesWithExclusions) {
  for (const auto& system : uneven())
    for (const char* way : ways()) check(system, way, true);
}

TEST_P(UnevenTest, MemoryFollowsTheParticles) {
  // The same number of particles in boxes a thousand and a million times as large: a gas, a chain.
  const auto bytes = [&](const Configuration& c, const char* way) {
    Particles particles(device(), c);
    Neighbors neighbors(particles, 2.5, settings(way));
    neighbors.update();
    return double(neighbors.bytes());
  };
  for (const char* way : ways()) {
    SCOPED_TRACE(way);
    const std::size_t n = 3000;
    // Tiles have up to four bricks for a particle, each with room for lists; clusters copy
    // coordinates.
    const double most = (device().is_cuda() ? 8192.0 : 256.0 * sizeof(Real)) * n;
    for (const double edge : {17.0, 170.0, 1700.0}) {
      EXPECT_LT(bytes(random_in(cube(edge), n, 1, uniform), way), most) << edge;
      EXPECT_LT(bytes(polymer(10 * edge, n, 2), way), most) << edge;
    }
  }
}

TEST_P(UnevenTest, OneLargeParticleDoesNotLengthenAllRows) {
  Configuration c = random_in(cube(24), 4000, 1, uniform);
  const auto bytes = [&] {
    Particles particles(device(), c);
    Neighbors neighbors(particles, Ranges(2, {1, 6, 6, 11}), settings("verlet_list"));
    neighbors.update();
    return double(neighbors.bytes());
  };
  c.types = {"A", "B"};
  const double small = bytes();
  c.type[7] = 1;  // meets a sixth of all the others
  EXPECT_LT(bytes(), small + 64.0 * 4000);
}

TEST_P(UnevenTest, MixturesKeepTheirEnergy) {
  // The potential cut smoothly, so that what a list misses would be seen.
  Configuration c = fcc(6, 0.05);
  for (std::size_t k = 0; k < c.type.size(); ++k) c.type[k] = k % 7 == 0 ? 1 : 0;
  c.types = {"A", "B"};
  thermalize(c, 1, 3);
  const std::vector<LennardJonesPair> pairs{{0.5, 1.25}, {1.25, 3.125}, {1.25, 3.125}, {2, 5}};
  const auto forces = [&] {
    return lennard_jones(device(), pairs, Ranges(2, {1.25, 3.125, 3.125, 5}), "force_shift");
  };
  for (const char* way : ways()) {
    SCOPED_TRACE(way);
    Simulation s(device(), c, forces(), 0, settings(way));
    VelocityVerlet integrator({0.002});
    integrator.begin(s);
    const double energy = s.totals().potential + s.totals().kinetic;
    s.advance(integrator, 1500);
    if (s.neighbors()->has_lists()) {
      EXPECT_GT(s.neighbors()->builds(), 5);
    }
    EXPECT_NEAR(s.totals().potential + s.totals().kinetic, energy, 2e-3 * s.totals().kinetic);
    EXPECT_GT(compare_with_brute_force(*s.neighbors()).in_range, 100u);
  }
}

PERRIN_INSTANTIATE_DEVICES(UnevenTest);

TEST(RowPlan, ClassesWhereRangesDiffer) {
  const Box box = cube(100);
  const auto classes = [&](const Ranges& reaches, std::vector<std::int64_t> particles) {
    const double n = double(particles[0] + particles[1]);
    return plan_rows(box, reaches, {n / 1e6, 1, std::move(particles)}, {12}).classes();
  };
  EXPECT_EQ(classes(2.5, {500000, 500000}), 1u);
  EXPECT_EQ(classes({2, {2.5, 2.6, 2.6, 2.7}}, {500000, 500000}), 1u);
  EXPECT_EQ(classes(one_to_five(1.5), {900000, 5000}), 2u);
  EXPECT_EQ(classes({2, {0, 2, 2, 5}}, {500000, 50000}), 2u);
}

TEST(RowPlan, GridsAreFoldedToTheNumberOfParticles) {
  const RowGrid grid = make_row_grid(cube(1000), 1, 64);
  EXPECT_LE(grid.cells.x * grid.cells.y * grid.cells.z, 64);
  for (int axis = 0; axis < 3; ++axis) {
    EXPECT_GE(grid.fold[axis], 7);
    EXPECT_GE(double(grid.edge[axis]), 1.0);
    EXPECT_NEAR(double(grid.edge[axis]) * grid.cells[axis], std::ldexp(1000, -grid.fold[axis]),
                1e-3);
  }
}

}  // namespace
}  // namespace perrin
