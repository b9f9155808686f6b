// Starts made of parts: distances, regions, densities, random numbers, mistakes.
#include <fmt/format.h>

#include <bit>
#include <numbers>

#include "tests/unit/parts_check.h"

namespace perrin {
namespace {

/// Boxes of all kinds.
class PartsBoxes : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(
    All, PartsBoxes,
    ::testing::Values(R"("box": [16, 14, 15])",
                      R"("box": [16, 14, 15], "periodic": [false, false, false])",
                      R"("box": [16, 14, 15], "periodic": [true, false, true],
                         "origin": [100, -3, 7])",
                      R"("box": [16, 14, 15], "tilts": [5, -4, 6])",
                      R"("box": [16, 14, 15], "tilts": [20, 9, -17],
                         "periodic": [true, true, false])"));

TEST_P(PartsBoxes, NoTwoAreNearerThanTheirDistance) {
  const auto c = make_start(std::string(GetParam()) + R"(, "min_distance": 0.85, "min_distances": [
      {"types": ["L", "L"], "distance": 4}, {"types": ["W", "L"], "distance": 2.4},
      {"types": ["W", "W"], "distance": 0.5}, {"types": ["A", "W"], "distance": 0}], "parts": [
      {"type": "random", "particles": {"L": 8}},
      {"type": "rods", "number": 12, "pattern": "R5", "spacing": 0.6},
      {"type": "chains", "number": 20, "pattern": "A9"},
      {"type": "rings", "number": 10, "pattern": "A12", "bond_length": 0.7},
      {"type": "combs", "number": 5, "backbone": "A8", "side": "B2", "spacing": 2},
      {"type": "random", "particles": {"W": 1500}}])");
  EXPECT_EQ(c.position.size(), 8u + 60 + 180 + 120 + 80 + 1500);
  const auto distance = [](const std::string& a, const std::string& b) {
    const std::string pair = std::min(a, b) + std::max(a, b);
    return pair == "LL" ? 4.0 : pair == "LW" ? 2.4 : pair == "WW" ? 0.5 : pair == "AW" ? 0 : 0.85;
  };
  const Bonded bonded(c);
  const auto may = [&](std::uint32_t a, std::uint32_t b) {
    const bool same = c.topology.molecule[a] == c.topology.molecule[b];
    return bonded(a, b) || (same && c.types[c.type[a]] == "R");
  };
  expect_apart(c, distance, may);
  for (const auto& bond : c.topology.bonds) {
    const double d = length(unwrapped(c, bond.a) - unwrapped(c, bond.b));
    EXPECT_TRUE(std::abs(d - 0.97) < 1e-9 || std::abs(d - 0.7) < 1e-9 || std::abs(d - 0.6) < 1e-9);
  }
  for (const auto& r : c.position) {
    const Vec3<double> s = c.box.fraction(r);
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_GE(s[axis], -1e-12);
      EXPECT_LE(s[axis], 1 + 1e-12);
    }
  }
}

TEST(Parts, SmallBoxesHaveManyImages) {
  const auto c = make_start(R"("box": [2.2, 3, 2.5], "tilts": [1.1, 0, 0.7], "min_distance": 1,
      "parts": [{"type": "random", "particles": {"A": 7}}])");
  expect_apart(
      c, [](const auto&, const auto&) { return 1.0; }, [](auto, auto) { return false; });
}

TEST(Parts, RegionsHoldTheirParticles) {
  const std::string parts = R"(
      {"type": "random", "particles": {"A": 300},
       "region": {"box": [[1, null, -2], [5, 0, null]]}},
      {"type": "random", "particles": {"B": 300},
       "region": {"sphere": {"center": [7, 7, 7], "radius": 4}}},
      {"type": "random", "particles": {"C": 300},
       "region": {"cylinder": {"center": [-5, 0, 2], "radius": 2, "axis": "y"}}},
      {"type": "random", "particles": {"D": 300},
       "region": {"box": [[6, null, null], [10, null, null]]}},
      {"type": "random", "particles": {"F": 300},
       "region": {"outside": [{"box": [[6, null, null], [10, null, null]]}]}},
      {"type": "chains", "number": 30, "pattern": "E10",
       "region": {"box": [[-7, -7, -7], [7, 7, 7]],
                  "outside": [{"sphere": {"center": [0, 0, 0], "radius": 6}},
                              {"cylinder": {"center": [0, 0, 0], "radius": 2}}]}})";
  const auto c = in_box(parts, R"("min_distance": 0.4, )");
  ASSERT_EQ(c.position.size(), 1800u);
  const auto images = images_of(c.box);
  int beyond = 0;
  for (std::uint32_t id = 0; id < c.position.size(); ++id) {
    const Vec3<double> r = c.position[id];
    const std::string& type = c.types[c.type[id]];
    const double from_b = length(images.nearest(r - Vec3<double>{7, 7, 7}));
    if (type == "A") {
      EXPECT_TRUE(r.x >= 1 && r.x <= 5 && r.y <= 0 && r.z >= -2);
    } else if (type == "B") {
      EXPECT_LE(from_b, 4);
      beyond += r.x < 0 || r.y < 0 || r.z < 0 ? 1 : 0;
    } else if (type == "C") {
      EXPECT_LE(std::hypot(r.x + 5, r.z - 2), 2);
    } else if (type == "D") {
      EXPECT_TRUE(r.x >= 6 || r.x <= -6);  // across the face at 8
      beyond += r.x < 0 ? 1000 : 0;
    } else if (type == "F") {
      EXPECT_LT(std::abs(r.x), 6);
    } else {
      EXPECT_LE(std::max({std::abs(r.x), std::abs(r.y), std::abs(r.z)}), 7);
      EXPECT_GT(length(r), 6);
      EXPECT_GT(std::hypot(r.x, r.y), 2);
    }
  }
  EXPECT_GT(beyond % 1000, 50);   // of the sphere, across the faces
  EXPECT_GT(beyond / 1000, 100);  // of the slab: a half, about 150
}

/// Without an upper corner a region ends at the box's face: chains do not grow across it, and
/// nothing beyond it counts in a density.
TEST(Parts, RegionsWithoutAnUpperCornerEndAtTheFace) {
  const auto c = in_box(R"(
      {"type": "chains", "number": 20, "pattern": "A10"},
      {"type": "chains", "number": 40, "pattern": "B10",
       "region": {"box": [[0, null, null], [null, null, null]]}},
      {"type": "fill", "types": {"W": 1}, "density": 0.4,
       "region": {"box": [[0, null, null], [null, null, null]],
                  "sphere": {"center": [0, 0, 0], "radius": 7}}})",
                        R"("min_distance": 0.5, )");
  int half = 0;
  for (std::uint32_t id = 0; id < c.position.size(); ++id) {
    if (c.types[c.type[id]] != "A") {
      EXPECT_GE(c.position[id].x, 0);
    }
    if (c.position[id].x >= 0 && length(c.position[id]) <= 7) ++half;
  }
  EXPECT_NEAR(half, 0.4 * 2 * std::numbers::pi / 3 * 343, 2);
}

/// Points in a ball are spread evenly: the mean of (r/R)³ is 1/2, its spread sqrt(1/12).
TEST(Parts, PlacesInARegionAreUniform) {
  constexpr int n = 20000;
  const auto c = in_box(R"({"type": "random", "particles": {"A": 20000},
      "region": {"sphere": {"center": [1, 2, 3], "radius": 3}}})",
                        R"("min_distance": 0, )");
  double cube = 0;
  Vec3<double> mean;
  for (const auto& r : c.position) {
    const Vec3<double> d = r - Vec3<double>{1, 2, 3};
    cube += std::pow(length(d) / 3, 3) / n;
    mean += (1.0 / n) * d;
  }
  EXPECT_NEAR(cube, 0.5, 4.5 * std::sqrt(1.0 / 12 / n));
  for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(mean[axis], 0, 4.5 * 3 * std::sqrt(0.2 / n));
}

TEST(Parts, DensitiesAreReached) {
  const std::string chains = R"({"type": "chains", "number": 50, "pattern": "A10"}, )";
  const auto all = in_box(chains + R"({"type": "fill", "types": {"V": 1, "W": 3}, "density": 0.3})",
                          R"("min_distance": 0.7, )");
  EXPECT_EQ(all.position.size(), std::size_t(std::llround(0.3 * 4096)));
  EXPECT_NEAR(count_type(all, "W"), 3 * count_type(all, "V"), 2);

  const auto slab = in_box(chains + R"({"type": "fill", "types": {"W": 1}, "density": 0.4,
                   "region": {"box": [[null, null, 0], [null, null, 5]]}})",
                           R"("min_distance": 0.7, )");
  int inside = 0;
  for (const auto& r : slab.position) inside += r.z >= 0 && r.z <= 5 ? 1 : 0;
  EXPECT_EQ(inside, std::llround(0.4 * 16 * 16 * 5));

  const auto random = in_box(R"({"type": "random", "densities": {"A": 0.1},
      "region": {"sphere": {"center": [0, 0, 0], "radius": 5}}})");
  EXPECT_NEAR(double(random.position.size()), 0.1 * 4 * pi / 3 * 125, 1);
}

/// The free volume is that outside of a sphere of radius 3 around each of two large particles.
TEST(Parts, FreeVolumesAreFilled) {
  const auto c = in_box(R"(
      {"type": "molecules", "number": 1, "particles": [{"type": "L", "position": [0, 0, 0]}],
       "center": [-8, 0, 0]},
      {"type": "molecules", "number": 1, "particles": [{"type": "L", "position": [0, 0, 0]}],
       "center": [2, 0, 0]},
      {"type": "fill", "types": {"W": 1}, "density": 0.5, "of": "free"})",
                        R"("min_distance": 0.5, "min_distances": [
      {"types": ["L", "W"], "distance": 3}], )");
  EXPECT_NEAR(count_type(c, "W"), 0.5 * (4096 - 2 * 4 * pi / 3 * 27), 2);
  expect_apart(
      c, [](const auto& a, const auto& b) { return a == b ? 0.5 : 3.0; },
      [](auto, auto) { return false; });
}

bool same(const Configuration& a, const Configuration& b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (!(a.position[i] == b.position[i]) || !(a.image[i] == b.image[i]) || a.type[i] != b.type[i])
      return false;
  return true;
}

TEST(Parts, TheStartDependsOnTheSeedAlone) {
  const std::string parts = R"("box": [16, 16, 16], "parts": [
      {"type": "chains", "number": 20, "pattern": "A10"},
      {"type": "rods", "number": 20, "pattern": "B4"},
      {"type": "lattice", "structure": "sc", "lattice_constant": 2, "types": {"W": 1, "V": 2},
       "overlapping": "leave_out"},
      {"type": "random", "particles": {"C": 100}}])";
  const auto c = make_start(parts, 12, 1);
  EXPECT_TRUE(same(c, make_start(parts, 12, 3), c.position.size()));
  EXPECT_FALSE(same(c, make_start(parts, 13, 1), 200));
}

/// Seeds keep their meaning: the bits of positions and images, which do not depend on the machine
/// either (the mathematical library has no part in them).
TEST(Parts, StartsKeepTheirBits) {
  const auto c = make_start(R"("box": [16, 16, 16], "parts": [
      {"type": "bilayer", "number": 50, "head": "H", "tail": "T2", "tails": 3, "position": 4},
      {"type": "spheres", "number": 2, "radius": 2, "spacing": 1},
      {"type": "brush", "pattern": "A4", "number": 20, "position": -8},
      {"type": "chains", "number": 10, "pattern": "A10"},
      {"type": "rings", "number": 5, "pattern": "A10"},
      {"type": "rods", "number": 10, "pattern": "B4"},
      {"type": "fill", "density": 0.3, "of": "free", "types": {"V": 1, "W": 1}}])");
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&hash](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3; };
  for (std::size_t i = 0; i < c.position.size(); ++i)
    for (int axis = 0; axis < 3; ++axis) {
      add(std::bit_cast<std::uint64_t>(c.position[i][axis]));
      add(std::uint64_t(std::int64_t(c.image[i][axis])));
    }
  EXPECT_EQ(c.position.size(), 1642u);
  EXPECT_EQ(hash, 12083772075203783384u);
}

/// What comes later in the list changes nothing of what is before it, and a part's own molecules
/// begin with the same ones however many there are.
TEST(Parts, EarlierPartsDoNotDependOnLaterOnes) {
  const std::string chains = R"({"type": "chains", "number": 20, "pattern": "A10"})";
  const std::string more = R"({"type": "chains", "number": 30, "pattern": "A10"})";
  const std::string gas = R"(, {"type": "random", "particles": {"C": 100}})";
  const auto c = in_box(chains + gas);
  EXPECT_TRUE(same(c, in_box(chains), 200));
  EXPECT_TRUE(same(c, in_box(more), 200));
  // Two equal parts have numbers of their own.
  const auto twice = in_box(chains + ", " + chains, R"("min_distance": 0, )");
  EXPECT_NE(twice.position[0].x, twice.position[200].x);
  // Those of a later part are proposed at the same places, whoever is there.
  const auto alone =
      in_box(R"({"type": "random", "particles": {"X": 1}})" + gas, R"("min_distance": 0, )");
  const auto beside = in_box(chains + gas, R"("min_distance": 0, )");
  EXPECT_TRUE(alone.position[1] == beside.position[200]);
}

TEST(Parts, OtherSystemsAreTakenAsTheyAre) {
  const std::string random =
      R"({"type": "source", "system": {"type": "random", "particles": {"S": 200},
          "box": [16, 16, 16], "min_distance": 0.3}})";
  const std::string chains = R"({"type": "source", "system": {"type": "chains", "chains": 9,
      "pattern": "A20", "box": [16, 16, 16], "bond_type": "spring"}})";
  const auto c = in_box(random + R"(, {"type": "chains", "number": 10, "pattern": "A5"})");
  EXPECT_EQ(c.position.size(), 250u);
  EXPECT_EQ(c.topology.molecule[199], 199u);  // each its own
  EXPECT_EQ(c.topology.molecule[249], 209u);
  expect_apart(
      c, [](const auto& a, const auto& b) { return a == "S" && b == "S" ? 0.3 : 0.8; }, Bonded(c));
  const auto walks = in_box(chains);
  EXPECT_EQ(walks.topology.bond_types, std::vector<std::string>{"spring"});
  expect_bonds(walks, 0.97);
  // Random numbers of the source are not those of the first part.
  const auto beside =
      in_box(R"({"type": "random", "particles": {"A": 1}}, )" + random, R"("min_distance": 0, )");
  EXPECT_FALSE(beside.position[0] == beside.position[1]);
  const std::string near = mistakes_of(R"("box": [16, 16, 16], "parts": [
      {"type": "random", "particles": {"A": 1000}}, )" +
                                       random + "]");
  EXPECT_NE(near.find("parts[1]: its particle"), std::string::npos) << near;
  EXPECT_NE(near.find("is nearer than 0.8 to particle"), std::string::npos) << near;
  const std::string out = mistakes_of(
      R"("box": [10, 10, 10], "periodic": [false, true, true], "parts": [)" + random + "]");
  EXPECT_NE(out.find("outside of the box"), std::string::npos) << out;
}

/// What is larger than the box, or of another shape, would be folded in: particles that are apart
/// would meet. What has just the box, wherever it begins, keeps its distances.
TEST(Parts, SystemsThatDoNotFitAreNotFoldedIn) {
  const auto says = [](const std::string& box, const std::string& parts) {
    return mistakes_of(box + R"(, "min_distance": 0.8, "parts": [)" + parts + "]");
  };
  const std::string gas = R"({"type": "source", "system": {"type": "random",
      "particles": {"A": 50}, "box": [10, 10, 10]}})";
  const std::string large = says(R"("box": [3, 3, 3])", gas);
  EXPECT_NE(large.find("parts[0]: its particles extend over 3."), std::string::npos) << large;
  EXPECT_NE(large.find("times the box along x"), std::string::npos) << large;
  EXPECT_NE(says(R"("box": [10, 10, 9])", gas).find("along z"), std::string::npos);
  EXPECT_NE(says(R"("box": [10, 10, 10], "tilts": [3, 0, 0])", gas).find("along x"),
            std::string::npos);
  EXPECT_EQ(says(R"("box": [10, 10, 10], "origin": [3, -7, 1])", gas), "");
  EXPECT_EQ(says(R"("box": [12, 10, 11])", gas), "");
}

TEST(Parts, MassesByTypeOverrideThoseOfParts) {
  const auto c = in_box(R"({"type": "molecules", "number": 3, "particles": [
      {"type": "A", "position": [0, 0, 0], "mass": 7},
      {"type": "B", "position": [1, 0, 0], "mass": 8}]},
      {"type": "random", "particles": {"C": 5}})",
                        R"("masses": {"A": 2, "C": 3}, )");
  EXPECT_EQ(c.mass[0], 2);
  EXPECT_EQ(c.mass[1], 8);
  EXPECT_EQ(c.mass[6], 3);
}

struct Mistake {
  const char *parts, *more, *says;
};

TEST(Parts, MistakesNameTheirKeys) {
  const Mistake mistakes[] = {
      {"", "", "parts: must have at least one part"},
      {R"({"type": "chain", "number": 1, "pattern": "A2"})", "", R"(unknown part "chain")"},
      {R"({"type": "chains", "number": 1, "pattern": "3A"})", "",
       "parts[0].pattern: must be blocks"},
      {R"({"type": "chains", "number": 1, "pattern": "A3", "bond_length": 9})", "",
       "parts[0].bond_length: must be below half the box (8), got 9"},
      {R"({"type": "chains", "number": 1, "pattern": "A3", "bond_length": 0.3})", "",
       "parts[0].bond_length: must be above half the minimum distance of A and A (0.8), got 0.3"},
      {R"({"type": "chains", "number": 1000000, "pattern": "A3"})", "",
       "parts[0].number: too dense"},
      {R"({"type": "rings", "number": 1, "pattern": "A2"})", "",
       "parts[0].pattern: must have at least 3 beads, got 2"},
      {R"({"type": "combs", "number": 1, "backbone": "A3", "side": "A", "first": 4})", "",
       "parts[0].first: must be at most the beads of the backbone (3), got 4"},
      {R"({"type": "random", "particles": {"A": 5}}, {"type": "random"})", "",
       "parts[1].particles: give either particles or densities"},
      {R"({"type": "random", "particles": {"A": 9000}})", "", "parts[0].particles: too dense"},
      {R"({"type": "random", "densities": {"A": 2}, "region": {"box": [[0, 0, 0], [5, 5, 5]]}})",
       R"("min_distance": 1, )", "parts[0].densities: too dense"},
      {R"({"type": "random", "particles": {"A": 5}, "region": {}})", "",
       "parts[0].region: must have at least one of"},
      {R"({"type": "random", "particles": {"A": 5}, "region": {"box": [[0, 0, 0], [1, 0, 1]]}})",
       "", "parts[0].region.box: its lower corner must be below the upper one along y"},
      {R"({"type": "random", "particles": {"A": 5}, "region": {"box": [[0, 0], [1, 1]]}})", "",
       "parts[0].region.box: must be two corners of 3 numbers or null, got 2"},
      {R"({"type": "random", "particles": {"A": 5}, "region": {"outside": [{}]}})", "",
       "parts[0].region.outside[0]: must have at least one of box, sphere and cylinder"},
      {R"({"type": "random", "particles": {"A": 5}, "region": {"sphere":
           {"center": [0, 0, 0], "radius": 2}, "outside": [{"sphere":
           {"center": [0, 0, 0], "radius": 3}}]}})",
       "", "parts[0].region: has no room within the box"},
      {R"({"type": "spheres", "number": 1, "radius": 2})", "",
       "parts[0].beads: give either beads or spacing"},
      {R"({"type": "rods", "number": 2, "pattern": "A3", "center": [0, 0, 0]})", "",
       R"(parts[0].center: goes with "number": 1 alone, got 2)"},
      {R"({"type": "rods", "number": 2, "pattern": "A17", "spacing": 1})", "",
       "parts[0]: its molecule is 16 across: at most 15.2 fit into the box"},
      {R"({"type": "rods", "number": 1, "pattern": "A3", "center": [9, 0, 0]})", "",
       "parts[0].center: must be in the box"},
      {R"({"type": "bilayer", "area_per_lipid": 1e-30, "head": "H", "tail": "T"})", "",
       "parts: too many"},
      {R"({"type": "brush", "pattern": "A3", "grafting_density": 1e30})", R"("min_distance": 0, )",
       "parts: too many"},
      {R"({"type": "random", "densities": {"A": 1e30}})", R"("min_distance": 0, )",
       "parts: too many"},
      {R"({"type": "lattice", "lattice_constant": 1e-30})", R"("min_distance": 0, )",
       "parts: too many"},
      {R"({"type": "spheres", "number": 1, "radius": 1e20, "spacing": 1e-20})", "",
       "parts[0].spacing: too many"},
      {R"({"type": "dendrimers", "number": 1, "generations": 12, "functionality": 100,
           "spacer": "A"})",
       "", "parts[0].generations: too many"},
      {R"({"type": "molecules", "number": 2, "particles": [{"type": "A", "position": [0, 0, 0]}],
           "bonds": {"b": [[0, 1]]}})",
       "", "parts[0].bonds.b[0]: must be 2 different particles from 0 to 0"},
      {R"({"type": "molecules", "number": 2, "particles": [{"type": "A", "position": [0, 0, 0]},
           {"type": "A", "position": [1, 0, 0]}],
           "bonds": {"a": [[0, 1]], "b": [[0, 1], [1, 0]]}})",
       "", "parts[0].bonds.b[1]: is b[0] once more, and would act twice: expected each once"},
      {R"({"type": "molecules", "number": 2, "particles": [{"type": "A", "position": [0, 0, 0]},
           {"type": "A", "position": [1, 0, 0]}, {"type": "A", "position": [1, 1, 0]}],
           "angles": {"b": [[0, 1, 2], [1, 0, 2], [2, 1, 0]]}})",
       "", "parts[0].angles.b[2]: is b[0] once more"},
      {R"({"type": "file", "number": 2, "path": "/nowhere.data"})", "",
       "parts[0].path: cannot read"},
      {R"({"type": "brush", "pattern": "A3"})", "", "parts[0].number: give either number or"},
      {R"({"type": "brush", "pattern": "A3", "grafting_density": 2})", "",
       "parts[0].grafting_density: too dense"},
      {R"({"type": "brush", "pattern": "A3", "number": 2, "position": 9})", "",
       "parts[0].position: must be in the box, from -8 to 8, got 9"},
      {R"({"type": "bilayer", "number": 8, "head": "H3", "tail": "T9"})", "",
       "parts[0].position: the membrane goes"},
      {R"({"type": "lattice", "structure": "square", "density": 1})", "",
       "parts[0].structure: square has 2 dimensions, but the box has 3"},
      {R"({"type": "lattice", "structure": "sc", "density": 8})", "",
       "parts[0].density: neighbours are 0.5 apart, the minimum distance of A and A is 0.8"},
      {R"({"type": "lattice"})", "", "parts[0].density: give either density or lattice_constant"},
      {R"({"type": "random", "particles": {"A": 5}})", R"("min_distance": 17, )",
       "min_distance: must be at most the height of the box (16), got 17"},
      {R"({"type": "random", "particles": {"A": 5}})",
       R"("min_distances": [{"types": ["A", "B"], "distance": 1}], )",
       R"(min_distances[0].types: unknown type "B"; the types are A)"},
      {R"({"type": "random", "particles": {"A": 5}})", R"("masses": {"B": 1}, )",
       R"(masses: unknown type "B"; the types are A)"},
      {R"({"type": "random", "particles": {"A": 5}})",
       R"("min_distances": [{"types": ["A", "A"], "distance": 1},
                            {"types": ["A", "A"], "distance": 2}], )",
       "min_distances[1].types: A and A have a minimum distance already"},
  };
  for (const Mistake& m : mistakes) {
    const std::string said = mistakes_of(std::string(R"("box": [16, 16, 16], )") + m.more +
                                         R"("parts": [)" + m.parts + "]");
    EXPECT_NE(said.find(m.says), std::string::npos) << m.parts << "\n  says: " << said;
  }
}

/// What is found only when particles are placed says which one, of how many, and what to do.
TEST(Parts, NoPlaceIsExplained) {
  const auto says = [](const std::string& parts, const std::string& what) {
    const std::string said =
        mistakes_of(R"("box": [8, 8, 8], "min_distance": 1, "parts": [)" + parts + "]");
    EXPECT_NE(said.find(what), std::string::npos) << said;
  };
  const std::string gas = R"({"type": "random", "particles": {"A": 300}}, )";
  says(gas + R"({"type": "random", "particles": {"B": 200}})",
       "parts[1]: no place found for particle ");
  says(gas + R"({"type": "random", "particles": {"B": 200}})", "of 200 (type B, at least 1 from");
  says(gas + R"({"type": "chains", "number": 50, "pattern": "B10", "bond_length": 1})",
       "parts[1]: no place found for molecule ");
  says(gas + R"({"type": "spheres", "number": 1, "radius": 2, "spacing": 1})",
       "parts[1]: no place found for molecule 1 of 1");
  says(gas + R"({"type": "fill", "density": 0.5})", "parts[1]: density: 0.5 is reached");
  says(R"({"type": "fill", "density": 1.5})", "parts[0]: density: too dense");
  says(gas + R"({"type": "bilayer", "number": 8, "head": "H", "tail": "T"})", "parts[1]: a bead ");
}

}  // namespace
}  // namespace perrin
