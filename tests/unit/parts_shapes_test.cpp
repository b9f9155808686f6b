// Molecules that keep their shape, bilayers and lattices in starts made of parts.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/parts_check.h"

namespace perrin {
namespace {

TEST(PartsShapes, SpheresHaveBeadsOnTheirSurface) {
  const auto c = in_box(R"({"type": "spheres", "number": 3, "radius": 3, "spacing": 1,
                            "core": "C", "bead": "S", "bond_type": "spoke"})");
  // Each bead has the area of a hexagonal cell.
  const auto beads = std::llround(4 * pi * 9 / (std::sqrt(3.0) / 2));
  ASSERT_EQ(c.position.size(), std::size_t(3 * (beads + 1)));
  EXPECT_EQ(count_type(c, "C"), 3);
  EXPECT_EQ(c.topology.bonds.size(), std::size_t(3 * beads));
  expect_bonds(c, 3);
  // Evenly spread: neighbours are about as far as was asked for, everywhere.
  for (std::uint32_t i = 1; i <= beads; ++i) {
    double nearest = 1e30;
    for (std::uint32_t j = 1; j <= beads; ++j)
      if (j != i) nearest = std::min(nearest, length(unwrapped(c, i) - unwrapped(c, j)));
    EXPECT_GT(nearest, 0.8);
    EXPECT_LT(nearest, 1.05);
  }
}

TEST(PartsShapes, SpheresMayBeFilled) {
  const auto c =
      in_box(R"({"type": "spheres", "number": 1, "radius": 4, "beads": 200, "filled": true,
                 "center": [1, 2, 3]})");
  EXPECT_EQ(c.topology.bonds.size(), 0u);
  std::vector<int> shell(6);
  for (std::uint32_t id = 0; id < c.position.size(); ++id)
    ++shell[std::size_t(length(unwrapped(c, id) - Vec3<double>{1, 2, 3}) + 0.5)];
  EXPECT_EQ(shell[4], 200);
  EXPECT_EQ(shell[5], 0);
  // Without holes: some in every shell, about as dense as the surface everywhere.
  const double spacing = std::sqrt(4 * pi * 16 / 200 / (std::sqrt(3.0) / 2));
  for (int k = 1; k < 4; ++k) EXPECT_GT(shell[std::size_t(k)], 0);
  const double density = double(c.position.size()) / (4 * pi / 3 * std::pow(4 + spacing / 2, 3));
  EXPECT_NEAR(density * spacing * spacing * spacing, 2 / std::sqrt(3.0), 0.2);
}

TEST(PartsShapes, RodsAreStraight) {
  const auto c = in_box(R"({"type": "rods", "number": 20, "pattern": "A2B3", "spacing": 0.9,
                            "angle_type": "stiff"})");
  EXPECT_EQ(c.topology.bonds.size(), 80u);
  EXPECT_EQ(c.topology.angles.size(), 60u);
  expect_bonds(c, 0.9);
  for (std::uint32_t k = 0; k < 20; ++k)
    EXPECT_NEAR(length(unwrapped(c, 5 * k + 4) - unwrapped(c, 5 * k)), 3.6, 1e-9);
}

const char* const bent = R"({"type": "molecules", "number": %, "particles": [
    {"type": "O", "position": [5, 5, 5], "mass": 16, "charge": -0.8},
    {"type": "H", "position": [6, 5, 5], "charge": 0.4},
    {"type": "H", "position": [5, 7, 5], "charge": 0.4}],
    "bonds": {"OH": [[0, 1], [0, 2]]}, "angles": {"HOH": [[1, 0, 2]]}})";

std::string bents(int number) {
  std::string text = bent;
  return text.replace(text.find('%'), 1, std::to_string(number));
}

TEST(PartsShapes, MoleculesOfTheJobAreRigid) {
  const auto c = in_box(bents(30) + R"(, {"type": "random", "particles": {"H": 10}})");
  ASSERT_EQ(c.position.size(), 100u);
  EXPECT_EQ(c.types, (std::vector<std::string>{"O", "H"}));  // merged by name
  EXPECT_EQ(c.topology.bonds.size(), 60u);
  EXPECT_EQ(c.topology.angles.size(), 30u);
  for (std::uint32_t k = 0; k < 30; ++k) {
    const Vec3<double> a = unwrapped(c, 3 * k + 1) - unwrapped(c, 3 * k);
    const Vec3<double> b = unwrapped(c, 3 * k + 2) - unwrapped(c, 3 * k);
    EXPECT_NEAR(length(a), 1, 1e-9);
    EXPECT_NEAR(length(b), 2, 1e-9);
    EXPECT_NEAR(dot(a, b), 0, 1e-9);
    EXPECT_EQ(c.mass[3 * k], 16);
    EXPECT_EQ(c.charge[3 * k], -0.8);
    EXPECT_EQ(c.topology.molecule[3 * k], k);
  }
  EXPECT_EQ(c.mass[99], 1);
  EXPECT_EQ(c.charge[99], 0);
  EXPECT_EQ(c.topology.molecule[99], 39u);
}

/// Of a turned molecule every direction is equally likely: its components have mean 0 and mean
/// square 1/3, with spreads of sqrt(1/3) and sqrt(4/45); products of two have mean 0 and mean
/// square 1/15.
TEST(PartsShapes, OrientationsAreUniform) {
  constexpr int n = 20000;
  const auto c = in_box(bents(n), R"("min_distance": 0, )");
  for (const std::uint32_t arm : {1u, 2u}) {
    Vec3<double> mean, square;
    double product = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
      Vec3<double> u = unwrapped(c, 3 * k + arm) - unwrapped(c, 3 * k);
      u *= 1.0 / length(u);
      for (int axis = 0; axis < 3; ++axis) square[axis] += u[axis] * u[axis] / n;
      mean += (1.0 / n) * u;
      product += u.x * u.y / n;
    }
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_NEAR(mean[axis], 0, 4.5 * std::sqrt(1.0 / 3 / n));
      EXPECT_NEAR(square[axis], 1.0 / 3, 4.5 * std::sqrt(4.0 / 45 / n));
    }
    EXPECT_NEAR(product, 0, 4.5 * std::sqrt(1.0 / 15 / n));
  }
}

TEST(PartsShapes, OrientationsInThePlaneAreUniform) {
  constexpr int n = 10000;
  const auto c = make_start(R"("box": [9, 9], "dimension": 2, "min_distance": 0, "parts": [
      {"type": "rods", "number": 10000, "pattern": "A2"}])");
  double one = 0, two = 0;
  for (std::uint32_t k = 0; k < n; ++k) {
    const Vec3<double> u = unwrapped(c, 2 * k + 1) - unwrapped(c, 2 * k);
    const double angle = std::atan2(u.y, u.x);
    one += std::cos(angle) / n, two += std::sin(2 * angle) / n;
  }
  EXPECT_NEAR(one, 0, 4.5 * std::sqrt(0.5 / n));
  EXPECT_NEAR(two, 0, 4.5 * std::sqrt(0.5 / n));
}

TEST(PartsShapes, FixedOnesStayAsTheyAre) {
  std::string one = bents(1);
  one.insert(one.rfind('}'), R"(, "orientation": "fixed", "center": [1, 2, 3])");
  const auto c = in_box(one);
  const Vec3<double> mean = (1.0 / 3) * (c.position[0] + c.position[1] + c.position[2]);
  EXPECT_NEAR(length(mean - Vec3<double>{1, 2, 3}), 0, 1e-12);
  EXPECT_NEAR(length(c.position[2] - c.position[0] - Vec3<double>{0, 2, 0}), 0, 1e-12);
}

/// Three beads across a face of the file's box, without image flags.
TEST(PartsShapes, FilesAreMadeWhole) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("parts_{}", ::getpid());
  std::filesystem::create_directories(folder);
  const auto path = folder / "m.data";
  std::ofstream(path)
      << "LAMMPS data # molecular\n\n3 atoms\n2 bonds\n2 atom types\n1 bond types\n\n"
         "0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\nMasses\n\n1 1\n2 5\n\n"
         "Atoms # molecular\n\n1 1 1 8.5 1 1\n2 1 2 0.5 1 1\n3 1 1 1.5 1 1\n\n"
         "Bonds\n\n1 1 1 2\n2 1 2 3\n";
  const auto c = in_box(fmt::format(
      R"({{"type": "file", "path": "{}", "number": 12, "types": {{"1": "P", "2": "Q"}}}})",
      path.string()));
  std::filesystem::remove_all(folder);
  ASSERT_EQ(c.position.size(), 36u);
  EXPECT_EQ(count_type(c, "P"), 24);
  EXPECT_EQ(c.topology.bonds.size(), 24u);
  for (std::uint32_t k = 0; k < 12; ++k) {
    EXPECT_NEAR(length(unwrapped(c, 3 * k + 1) - unwrapped(c, 3 * k)), 1, 1e-9);
    EXPECT_NEAR(length(unwrapped(c, 3 * k + 2) - unwrapped(c, 3 * k)), 2, 1e-9);
    EXPECT_EQ(c.mass[3 * k + 1], 5);
    EXPECT_EQ(c.topology.molecule[3 * k + 2], k);
  }
}

TEST(PartsShapes, BilayersHaveTwoLeaflets) {
  for (const int tails : {1, 2, 3}) {
    const auto c = make_start(fmt::format(
        R"("box": [20, 15, 14], "min_distance": 0.7, "parts": [
           {{"type": "bilayer", "number": 101, "head": "H2", "tail": "T3", "tails": {},
             "position": 1, "gap": 1.5, "angle_type": "straight"}}])",
        tails));
    const std::size_t beads = std::size_t(2 + 3 * tails);
    ASSERT_EQ(c.position.size(), 101 * beads);
    EXPECT_EQ(c.topology.bonds.size(), 101 * (beads - 1));
    // Along the head there is none of two beads; along each tail, with the neck, two of four.
    EXPECT_EQ(c.topology.angles.size(), std::size_t(101 * 2 * tails));
    expect_bonds(c, 0.97);
    int upper = 0;
    for (std::uint32_t k = 0; k < 101; ++k) {
      const auto first = std::uint32_t(k * beads);
      const double side = unwrapped(c, first).z > 1 ? 1 : -1;
      upper += side > 0 ? 1 : 0;
      // The head is outside, the ends of the tails at the gap.
      for (std::uint32_t i = 1; i < beads; ++i)
        EXPECT_GT(side * (unwrapped(c, first).z - unwrapped(c, first + i).z), 0.5);
      EXPECT_NEAR(side * (unwrapped(c, first + 4).z - 1), 0.75, 1e-9);
    }
    EXPECT_EQ(upper, 51);
  }
  const auto c = make_start(R"("box": [20, 15, 14], "parts": [{"type": "bilayer",
      "area_per_lipid": 1.5, "head": "H", "tail": "T2"}])");
  EXPECT_EQ(c.position.size(), std::size_t(3 * 2 * 200));
}

TEST(PartsShapes, LatticesFillTheirRegion) {
  const auto c = make_start(R"("box": [16, 16, 30], "parts": [
      {"type": "lattice", "structure": "sc", "lattice_constant": 2,
       "types": {"A": 3, "B": 1}, "region": {"box": [[null, null, -3], [null, null, 3]]}}])");
  // Sites at -2, 0 and 2 along z.
  EXPECT_EQ(c.position.size(), 8u * 8 * 3);
  EXPECT_EQ(count_type(c, "B"), 48);
  for (const auto& r : c.position) EXPECT_LE(std::abs(r.z), 3);
  EXPECT_TRUE(c.warnings.empty());
  // 16 is not a multiple of 2.1: eight cells of 2.
  const auto fitted = in_box(R"({"type": "lattice", "structure": "sc", "lattice_constant": 2.1})");
  EXPECT_EQ(fitted.position.size(), 512u);
  EXPECT_EQ(fitted.warnings.size(), 3u);
  const auto dense = in_box(R"({"type": "lattice", "density": 0.5})");
  EXPECT_EQ(dense.position.size(), 4u * 8 * 8 * 8);  // fcc, cells of 2
}

TEST(PartsShapes, LatticesLeaveSitesEmpty) {
  const std::string parts = R"({"type": "spheres", "number": 1, "radius": 3, "spacing": 1,
      "filled": true, "center": [0, 0, 0]}, {"type": "lattice", "structure": "sc",
      "lattice_constant": 1, "types": {"W": 1}, "overlapping": "%"})";
  const auto with = [&](const std::string& what) {
    std::string text = parts;
    return text.replace(text.find('%'), 1, what);
  };
  const std::string refused =
      mistakes_of(R"("box": [16, 16, 16], "parts": [)" + with("refuse") + "]");
  EXPECT_NE(refused.find("parts[1]: site"), std::string::npos) << refused;
  const auto c = in_box(with("leave_out"));
  const double removed = 4096 - count_type(c, "W");
  EXPECT_GT(removed, 4 * pi / 3 * 27);
  EXPECT_LT(removed, 4 * pi / 3 * 64);
  expect_apart(
      c, [](const auto&, const auto&) { return 0.8; },
      [&](auto a, auto b) { return c.topology.molecule[a] == c.topology.molecule[b]; });
}

}  // namespace
}  // namespace perrin
