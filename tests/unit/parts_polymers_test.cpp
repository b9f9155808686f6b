// Architectures of polymers in starts made of parts: how beads are bonded, and how far they reach.
#include <fmt/format.h>

#include "tests/unit/parts_check.h"

namespace perrin {
namespace {

using Degrees = std::vector<int>;

TEST(PartsPolymers, ChainsAreLinear) {
  const auto c = in_box(R"({"type": "chains", "number": 9, "pattern": "A3B7",
                            "angle_type": "bend", "dihedral_type": "twist"})");
  EXPECT_EQ(c.position.size(), 90u);
  EXPECT_EQ(c.topology.bonds.size(), 81u);
  EXPECT_EQ(c.topology.angles.size(), 72u);
  EXPECT_EQ(c.topology.dihedrals.size(), 63u);
  EXPECT_EQ(c.topology.bond_types, std::vector<std::string>{"bond"});
  EXPECT_EQ(count_type(c, "A"), 27);
  EXPECT_EQ(c.types[c.type[2]], "A");
  EXPECT_EQ(c.types[c.type[3]], "B");
  for (std::uint32_t k = 0; k < 9; ++k) EXPECT_EQ(degrees(c, k), (Degrees{0, 2, 8}));
  expect_bonds(c, 0.97);
}

TEST(PartsPolymers, RingsCloseUp) {
  const auto c = in_box(R"({"type": "rings", "number": 7, "pattern": "A20", "bond_length": 1.1,
                            "angle_type": "bend", "dihedral_type": "twist"})");
  EXPECT_EQ(c.position.size(), 140u);
  EXPECT_EQ(c.topology.bonds.size(), 140u);
  EXPECT_EQ(c.topology.angles.size(), 140u);
  EXPECT_EQ(c.topology.dihedrals.size(), 140u);
  for (std::uint32_t k = 0; k < 7; ++k) EXPECT_EQ(degrees(c, k), (Degrees{0, 0, 20}));
  // Each bead is the vertex of one angle, between those bonded to it.
  const Bonded bonded(c);
  std::set<std::uint32_t> vertices;
  for (const auto& a : c.topology.angles) {
    vertices.insert(a.b);
    EXPECT_TRUE(bonded(a.a, a.b) && bonded(a.b, a.c));
  }
  EXPECT_EQ(vertices.size(), 140u);
  expect_bonds(c, 1.1);
}

TEST(PartsPolymers, TheSmallestRingsAreTriangles) {
  const auto c = in_box(R"({"type": "rings", "number": 5, "pattern": "A3", "dihedral_type": "x"})");
  EXPECT_EQ(c.topology.bonds.size(), 15u);
  EXPECT_EQ(c.topology.dihedrals.size(), 0u);  // of three beads there are none
  expect_bonds(c, 0.97);
}

TEST(PartsPolymers, StarsHaveArms) {
  const auto c = in_box(R"({"type": "stars", "number": 4, "arms": 5, "arm": "A4B2",
                            "center": "C", "angle_type": "bend"})");
  EXPECT_EQ(c.position.size(), 4u * 31);
  EXPECT_EQ(c.topology.bonds.size(), 4u * 30);
  EXPECT_EQ(c.topology.angles.size(), 4u * 5 * 5);  // along arms, from the centre on
  EXPECT_EQ(count_type(c, "C"), 4);
  EXPECT_EQ(count_type(c, "B"), 4 * 10);
  for (std::uint32_t k = 0; k < 4; ++k) EXPECT_EQ(degrees(c, k), (Degrees{0, 5, 25, 0, 0, 1}));
  const BondGraph graph(c.position.size(), c.topology.bonds);
  for (std::uint32_t id = 0; id < c.position.size(); ++id) {
    if (c.types[c.type[id]] == "C") {
      EXPECT_EQ(graph.neighbors(id).size(), 5u);
    }
  }
  expect_bonds(c, 0.97);
}

TEST(PartsPolymers, CombsHaveSideChains) {
  // Side chains on the beads 2, 5, 8 and 11 of 12.
  const auto c = in_box(R"({"type": "combs", "number": 3, "backbone": "A12", "side": "B3",
                            "spacing": 3, "first": 2})");
  EXPECT_EQ(c.position.size(), 3u * 24);
  EXPECT_EQ(c.topology.bonds.size(), 3u * 23);
  EXPECT_EQ(count_type(c, "B"), 3 * 12);
  for (std::uint32_t k = 0; k < 3; ++k) EXPECT_EQ(degrees(c, k), (Degrees{0, 6, 14, 4}));
  const BondGraph graph(c.position.size(), c.topology.bonds);
  std::vector<std::uint32_t> branching;
  for (std::uint32_t id = 0; id < 24; ++id)
    if (graph.neighbors(id).size() == 3) branching.push_back(id);
  EXPECT_EQ(branching, (std::vector<std::uint32_t>{1, 4, 7, 10}));
  expect_bonds(c, 0.97);
}

/// A dendrimer of g generations, functionality f and spacers of P beads has
/// 1 + P f ((f - 1)^(g + 1) - 1) / (f - 2) beads.
TEST(PartsPolymers, DendrimersBranch) {
  for (const auto& [g, f, p] : {std::array{0, 3, 2}, {2, 3, 2}, {1, 4, 1}, {3, 3, 1}}) {
    const int spacers = f * (int(std::pow(f - 1, g + 1)) - 1) / (f - 2);
    const int tips = f * int(std::pow(f - 1, g)), beads = 1 + p * spacers;
    const auto c = in_box(
        fmt::format(R"({{"type": "dendrimers", "number": 2, "generations": {}, "functionality": {},
                         "spacer": [["A", {}]], "core": "C"}})",
                    g, f, p),
        R"("min_distance": 0.6, )");
    EXPECT_EQ(c.position.size(), std::size_t(2 * beads));
    EXPECT_EQ(c.topology.bonds.size(), std::size_t(2 * (beads - 1)));
    EXPECT_EQ(count_type(c, "C"), 2);
    Degrees expected(std::size_t(f + 1));
    expected[1] = tips;
    expected[2] = (p - 1) * spacers;
    expected[std::size_t(f)] += 1 + spacers - tips;
    EXPECT_EQ(degrees(c, 0), expected) << g << " " << f << " " << p;
    EXPECT_EQ(degrees(c, 1), expected);
    expect_bonds(c, 0.97);
  }
}

TEST(PartsPolymers, BrushesStandOnTheirPlane) {
  const std::string open = R"("box": [16, 12, 10], "periodic": [true, true, false], )";
  for (const std::string arrangement : {"random", "square"})
    for (const std::string direction : {"up", "down"}) {
      const auto c = make_start(
          open + fmt::format(R"("parts": [{{"type": "brush", "pattern": "A3B5", "grafted": "G",
                                 "grafting_density": 0.2, "direction": "{}",
                                 "arrangement": "{}"}}])",
                             direction, arrangement));
      const double side = direction == "up" ? 1 : -1;
      const auto chains = std::size_t(std::llround(0.2 * 16 * 12));
      ASSERT_EQ(c.position.size(), 8 * chains);
      EXPECT_EQ(c.topology.bonds.size(), 7 * chains);
      EXPECT_EQ(count_type(c, "G"), int(chains));
      EXPECT_EQ(count_type(c, "A"), int(2 * chains));
      double above = 0;
      for (std::uint32_t id = 0; id < c.position.size(); ++id) {
        const double height = 5 + side * c.position[id].z;
        if (id % 8 == 0) {
          EXPECT_EQ(c.types[c.type[id]], "G");
          EXPECT_NEAR(height, 0, 1e-12);
        } else {
          EXPECT_GE(height, 0);
          above += height;
        }
      }
      EXPECT_GT(above, 0);
      expect_bonds(c, 0.97);
    }
}

/// Those that begin to grow early must not close the way to later ones.
TEST(PartsPolymers, DenseBrushesGrow) {
  for (const std::string arrangement : {"random", "square"}) {
    const auto c =
        make_start(fmt::format(R"("box": [16, 14, 30], "periodic": [true, true, false], "parts": [
                       {{"type": "brush", "pattern": "A20", "grafting_density": 0.4,
                         "arrangement": "{}"}}])",
                               arrangement));
    EXPECT_EQ(c.position.size(), std::size_t(20 * std::llround(0.4 * 16 * 14)));
    expect_apart(
        c, [](const auto&, const auto&) { return 0.8; }, Bonded(c));
    expect_bonds(c, 0.97);
  }
}

/// Freely jointed chains have <R²> = n b²; rings of n bonds <Rg²> = b² (n² - 1) / (12 n) where
/// walks are Gaussian. Both with random walks: no minimum distance.
TEST(PartsPolymers, WalksAreIdealWithoutDistances) {
  const std::string none = R"("min_distance": 0, )";
  const auto chains =
      in_box(R"({"type": "chains", "number": 2000, "pattern": "A31", "bond_length": 1})", none);
  double square = 0;
  for (std::uint32_t k = 0; k < 2000; ++k) {
    const Vec3<double> r = unwrapped(chains, 31 * k + 30) - unwrapped(chains, 31 * k);
    square += dot(r, r) / 2000;
  }
  // The spread of R² is sqrt(2/3) of its mean.
  EXPECT_NEAR(square, 30, 5 * 30 * std::sqrt(2.0 / 3 / 2000));

  const auto rings =
      in_box(R"({"type": "rings", "number": 2000, "pattern": "A30", "bond_length": 1})", none);
  double gyration = 0, spread = 0;
  for (std::uint32_t k = 0; k < 2000; ++k) {
    Vec3<double> mean;
    double own = 0;
    for (std::uint32_t i = 0; i < 30; ++i) mean += (1.0 / 30) * unwrapped(rings, 30 * k + i);
    for (std::uint32_t i = 0; i < 30; ++i) {
      const Vec3<double> d = unwrapped(rings, 30 * k + i) - mean;
      own += dot(d, d) / 30;
    }
    gyration += own / 2000;
    spread += own * own / 2000;
  }
  const double error = std::sqrt((spread - gyration * gyration) / 2000);
  const double ideal = (30.0 * 30 - 1) / (12 * 30);
  EXPECT_NEAR(gyration, ideal, 5 * error + 0.03 * ideal);
  expect_bonds(rings, 1);
}

TEST(PartsPolymers, PlanarOnesToo) {
  const auto c = make_start(R"("box": [40, 40], "dimension": 2, "parts": [
      {"type": "rings", "number": 10, "pattern": "A12"},
      {"type": "stars", "number": 5, "arms": 3, "arm": "B4"},
      {"type": "brush", "axis": "y", "position": 0, "number": 6, "pattern": "C5"}])");
  EXPECT_EQ(c.box.dimension, 2);
  EXPECT_EQ(c.position.size(), 10u * 12 + 5 * 13 + 6 * 5);
  for (const auto& r : c.position) EXPECT_EQ(r.z, 0);
  for (std::uint32_t id = 185; id < c.position.size(); ++id) {
    EXPECT_GE(unwrapped(c, id).y, 0);
  }
  expect_apart(
      c, [](const auto&, const auto&) { return 0.8; }, Bonded(c));
  expect_bonds(c, 0.97);
}

}  // namespace
}  // namespace perrin
