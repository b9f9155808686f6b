// Paths along bonds, images from bonds, the nearest image: each against all there is.
#include "engine/system/bond_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/system/bond_images.h"
#include "engine/system/nearest_vector.h"
#include "engine/system/partners.h"
#include "neighbor/excluded_pairs.h"
#include "rng/keyed.h"

namespace perrin {
namespace {

/// Bonds between random particles, each pair once.
std::vector<Topology::Bond> random_bonds(std::uint32_t n, std::size_t count, std::uint64_t seed) {
  auto g = keyed<Philox>(Purpose::test, seed, n, 0);
  std::vector<Topology::Bond> bonds;
  while (bonds.size() < count) {
    const auto a = std::uint32_t(g.uniform<double>() * n),
               b = std::uint32_t(g.uniform<double>() * n);
    const bool there = std::ranges::any_of(bonds, [&](const Topology::Bond& bond) {
      return std::minmax(bond.a, bond.b) == std::minmax(a, b);
    });
    if (a != b && !there) bonds.push_back({a, b, 0});
  }
  return bonds;
}

/// Bonds of the shortest way between all pairs (Floyd, Warshall).
std::vector<int> all_distances(std::uint32_t n, const std::vector<Topology::Bond>& bonds) {
  std::vector<int> d(n * n, 1000);
  for (std::uint32_t i = 0; i < n; ++i) d[i * n + i] = 0;
  for (const auto& bond : bonds) d[bond.a * n + bond.b] = d[bond.b * n + bond.a] = 1;
  for (std::uint32_t k = 0; k < n; ++k)
    for (std::uint32_t i = 0; i < n; ++i)
      for (std::uint32_t j = 0; j < n; ++j)
        d[i * n + j] = std::min(d[i * n + j], d[i * n + k] + d[k * n + j]);
  return d;
}

TEST(BondGraph, CountsBondsOfTheShortestWay) {
  constexpr std::uint32_t n = 40;
  for (const std::size_t count : {0, 20, 45, 100}) {
    const auto bonds = random_bonds(n, count, count);
    const auto d = all_distances(n, bonds);
    const BondGraph graph(n, bonds);
    for (const int apart : {1, 2, 3}) {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> expected;
      for (std::uint32_t i = 0; i < n; ++i)
        for (std::uint32_t j = i + 1; j < n; ++j)
          if (d[i * n + j] == apart) expected.emplace_back(i, j);
      EXPECT_EQ(graph.pairs_apart(apart), expected) << count << " " << apart;
    }
    const auto molecule = graph.molecules();
    for (std::uint32_t i = 0; i < n; ++i)
      for (std::uint32_t j = 0; j < n; ++j)
        EXPECT_EQ(molecule[i] == molecule[j], d[i * n + j] < 1000) << i << " " << j;
    EXPECT_EQ(molecule[0], 0u);
  }
}

TEST(ExcludedPairs, OfWhatIsIgnoredTheListedOnesAreLeftIn) {
  using List = std::vector<std::string>;
  const List all{"bonds", "angles", "dihedrals", "molecules"};
  EXPECT_EQ(kinds_without(all, {}), all);
  EXPECT_EQ(kinds_without(all, {"bonds"}),
            (List{"angles listed", "dihedrals listed", "molecules"}));
  EXPECT_EQ(kinds_without(all, {"angles"}),
            (List{"bonds", "angles along bonds", "dihedrals", "molecules"}));
  EXPECT_EQ(kinds_without({"angles"}, {"angles", "bonds"}), List{});
  Topology t;
  t.bonds = {{0, 1, 0}, {1, 2, 0}, {2, 3, 0}};
  t.angles = {{0, 1, 3, 0}};
  EXPECT_EQ(excluded_text(4, t, {"bonds", "angles", "dihedrals"}),
            "3 bonded (1-2), 3 of angles (1-3), 1 of dihedrals (1-4)");
  EXPECT_EQ(excluded_text(4, t, {"angles listed"}), "1 of angles (1-3)");
  EXPECT_EQ(excluded_text(4, t, {"angles along bonds"}), "2 of angles (1-3)");
}

/// Flat, long and strongly tilted boxes among them.
std::vector<Box> boxes() {
  std::vector<Box> list(4);
  list[0].length = {5, 6, 7};
  list[1].length = {10, 1.5, 4}, list[1].xy = 4.9, list[1].xz = -4.7, list[1].yz = 0.7;
  list[2].length = {3, 9, 1}, list[2].xy = -1.4, list[2].xz = 1.2, list[2].yz = -4.4;
  list[3].length = {6, 5, 1}, list[3].xy = 2.9, list[3].dimension = 2;
  return list;
}

TEST(NearestVector, IsTheShortestOfAllImages) {
  auto g = keyed<Philox>(Purpose::test, 3, 1, 0);
  for (const Box& box : boxes()) {
    const auto images = images_of(box);
    const auto edges = box.edges();
    for (int k = 0; k < 300; ++k) {
      const auto share = [&] { return 2.4 * g.uniform<double>() - 1.2; };
      Vec3<double> r = share() * edges[0] + share() * edges[1];
      const double z = share();
      if (box.dimension == 3) r += z * edges[2];
      double best = dot(r, r);
      const int deep = box.dimension == 3 ? 12 : 0;
      for (int x = -12; x <= 12; ++x)
        for (int y = -12; y <= 12; ++y)
          for (int w = -deep; w <= deep; ++w) {
            const auto image =
                r + double(x) * edges[0] + double(y) * edges[1] + double(w) * edges[2];
            best = std::min(best, dot(image, image));
          }
      const auto found = images.nearest(r);
      EXPECT_NEAR(dot(found, found), best, 2e-6 * best);
      const Vec3<double> between = found - r;  // whole edges
      const double nz = between.z / edges[2].z, ny = (between.y - nz * edges[2].y) / edges[1].y;
      const double nx = (between.x - ny * edges[1].x - nz * edges[2].x) / edges[0].x;
      for (const double n : {nx, ny, nz}) EXPECT_NEAR(n, std::nearbyint(n), 1e-9);
    }
  }
}

/// Chains, branched at random, with bonds far below half the box; whole in space.
struct Molecules {
  Configuration wrapped;
  std::vector<Vec3<double>> whole;
};

Molecules molecules(const Box& box, std::uint64_t seed) {
  Molecules m;
  m.wrapped.box = box;
  m.wrapped.types = {"A"};
  m.wrapped.topology.bond_types = {"bond"};
  auto g = keyed<Philox>(Purpose::test, seed, 2, 0);
  for (std::uint32_t i = 0; i < 200; ++i) {
    const auto share = [&] { return g.uniform<double>() - 0.5; };
    Vec3<double> r{share(), share(), box.dimension == 3 ? share() : 0.0};
    if (i % 40 != 0) {
      const std::uint32_t partner = i - 1 - std::uint32_t(g.uniform<double>() * 3) % (i % 40);
      r = m.whole[partner] + 0.7 * r;
      m.wrapped.topology.bonds.push_back({i, partner, 0});
    }
    m.whole.push_back(r);
    Vec3<double> s = box.fraction(r);
    for (int axis = 0; axis < box.dimension; ++axis) s[axis] -= std::floor(s[axis]);
    m.wrapped.position.push_back(box.point(s));
    m.wrapped.type.push_back(0);
  }
  return m;
}

TEST(BondImages, MakeMoleculesWhole) {
  for (Box box : boxes()) {
    // Bonds are at most 0.61 long.
    const double scale = 2.5 / std::min({box.heights().x, box.heights().y,
                                         box.dimension == 3 ? box.heights().z : 1e9});
    box.length.x *= scale, box.length.y *= scale;
    if (box.dimension == 3) box.length.z *= scale;
    box.xy *= scale, box.xz *= scale, box.yz *= scale;
    const auto [wrapped, whole] = molecules(box, 5);
    for (const bool zeros : {false, true}) {
      Configuration c = wrapped;
      if (zeros) c.image.assign(c.position.size(), Image{7, -1, 0});
      EXPECT_FALSE(bonds_against_images(c).empty());
      images_from_bonds(c);
      ASSERT_EQ(c.image.size(), c.position.size());
      EXPECT_TRUE(bonds_against_images(c).empty());
      const auto edges = box.edges();
      const auto at = [&](std::size_t i) {
        return c.position[i] + double(c.image[i].x) * edges[0] + double(c.image[i].y) * edges[1] +
               double(c.image[i].z) * edges[2];
      };
      for (std::size_t i = 0; i < whole.size(); ++i) {
        const auto d = at(i) - at(i / 40 * 40) - (whole[i] - whole[i / 40 * 40]);
        EXPECT_LT(std::sqrt(dot(d, d)), 1e-9) << i;
      }
      if (zeros) {
        EXPECT_EQ(c.image[40].x, 7);
      }
    }
    // Images that break bonds are told of.
    Configuration known = wrapped;
    known.image.assign(known.position.size(), Image{});
    known.image[3] = {5, 0, 0};
    EXPECT_FALSE(bonds_against_images(known).empty());
  }
}

/// Along an axis without images the way to a partner is the whole one, however long.
TEST(Partners, AreAsFarAsBondsSeeThem) {
  Topology topology;
  topology.bond_types = {"bond"};
  topology.bonds = {{0, 1, 0}};
  const auto longest = [&](const Box& given, const Vec3<double>& a, const Vec3<double>& b) {
    const Box box = given.padded_for(1);
    return longest_to_partner(topology, {box.fixed(a, 0), box.fixed(b, 0)}, {0, 1}, box.metric());
  };
  Box box;
  box.length = {10, 10, 10};
  box.origin = {0, 0, 0};
  EXPECT_NEAR(longest(box, {0.5, 5, 5}, {9.5, 5, 5}), 1, 1e-6);
  for (int axis = 0; axis < 3; ++axis) {
    box.periodic = {true, true, true};
    box.periodic[std::size_t(axis)] = false;
    Vec3<double> a{5, 5, 5}, b = a;
    a[axis] = 0.5, b[axis] = 9.5;
    EXPECT_NEAR(longest(box, a, b), 9, 1e-5) << axis;
  }
  // In a tilted box the nearest image is not the one by fractions.
  box.periodic = {true, true, true}, box.xy = 4.9;
  EXPECT_NEAR(longest(box, {1, 1, 5}, {5.9, 5.5, 5}), 5.5, 1e-5);
}

TEST(BondImages, LeaveWhatWindsAroundTheBox) {
  Configuration c;
  c.box.length = {12, 12, 12};
  c.box.origin = {0, 0, 0};
  c.position = {{1, 1, 1}, {5, 1, 1}, {9, 1, 1}};
  c.type = {0, 0, 0};
  c.topology.bond_types = {"bond"};
  c.topology.bonds = {{0, 1, 0}, {1, 2, 0}, {2, 0, 0}};
  images_from_bonds(c);
  EXPECT_TRUE(c.image.empty());
  EXPECT_TRUE(bonds_against_images(c).empty());
}

}  // namespace
}  // namespace perrin
