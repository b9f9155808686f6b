// LAMMPS data and extended XYZ as other programs write them: styles, units, boxes, ids.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <set>
#include <string>

#include "engine/base/error.h"
#include "io/formats.h"
#include "io/lammps_styles.h"
#include "io/lammps_units.h"
#include "io/turned_box.h"

namespace perrin::io {
namespace {

class Foreign : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/perrin_foreign_XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Frame read(const char* format, const std::string& text, const OpenOptions& how = {},
             const ReadOptions& as = {}) {
    const std::string path = folder_ + "/file";
    std::ofstream(path, std::ios::binary) << text;
    return open_frames(path, format_of_name(format), how)->read(0, as);
  }
  std::string refusal(const char* format, const std::string& text, const OpenOptions& how = {}) {
    try {
      read(format, text, how);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  std::string folder_;
  const std::string box_ = "1 atom types\n0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\n";
};

/// 0 is no molecule: bonds say who belongs together there.
TEST_F(Foreign, MoleculeZeroIsNone) {
  const auto numbers = [&](const std::vector<int>& molecules, const std::string& more = "") {
    std::string text = "t\n\n5 atoms\n" + std::string(more.empty() ? "" : "2 bonds\n") +
                       "1 bond types\n" + box_ + "Atoms # molecular\n\n";
    for (std::size_t k = 0; k < 5; ++k)
      text += std::to_string(k + 1) + " " + std::to_string(molecules[k]) + " 1 " +
              std::to_string(k) + " 1 1\n";
    return read("lammps", text + more).configuration.topology.molecule;
  };
  using Numbers = std::vector<std::uint32_t>;
  EXPECT_EQ(numbers({2, 2, 1, 1, 7}), (Numbers{2, 2, 1, 1, 7}));
  EXPECT_EQ(numbers({0, 0, 0, 0, 0}), Numbers{});
  const Numbers alone = numbers({0, 3, 0, 3, 0});
  EXPECT_EQ(alone[1], 3u);
  EXPECT_EQ(alone[3], 3u);
  EXPECT_EQ(std::set<std::uint32_t>(alone.begin(), alone.end()).size(), 4u);
  EXPECT_EQ(std::ranges::count(alone, 0u), 0);
  const Numbers bonded = numbers({0, 3, 0, 3, 0}, "\nBonds\n\n1 1 1 3\n2 1 2 4\n");
  EXPECT_EQ(bonded[0], bonded[2]);
  EXPECT_EQ(bonded[1], 3u);
  EXPECT_NE(bonded[4], bonded[0]);
  EXPECT_TRUE(has(refusal("lammps", "t\n\n2 atoms\n" + box_ +
                                        "Atoms # molecular\n\n1 0 1 1 1 1\n"
                                        "2 4294967295 1 2 2 2\n"),
                  "leaves no numbers"));
  // Written, they begin from 1.
  Frame frame =
      read("lammps", "t\n\n2 atoms\n" + box_ + "Atoms # molecular\n\n1 1 1 1 1 1\n2 2 1 2 2 2\n");
  frame.configuration.topology.molecule = {0, 1};
  const std::string path = folder_ + "/written.data";
  const auto writer = format_of_name("lammps")->create(path, frame, {});
  writer->write(frame);
  writer->finish();
  EXPECT_EQ(open_frames(path, format_of_name("lammps"))->read(0).configuration.topology.molecule,
            (Numbers{1, 2}));
}

TEST_F(Foreign, StylesAreNamedOrTheOnlyOnesThatFit) {
  const std::string head = "title\n\n2 atoms\n" + box_;
  // charge, molecular or dpd; a charge below 0 is none of the others but mdpd.
  EXPECT_TRUE(has(refusal("lammps", head + "Atoms\n\n1 1 1 1 2 3\n2 1 1 2 2 3\n"), "several"));
  EXPECT_EQ(read("lammps", head + "Atoms\n\n1 1 1 1 2 3\n2 1 1 2 2 3\n",
                 {.groups = {}, .atom_style = "charge"})
                .configuration.charge.size(),
            2u);
  // With bonds there is one style of nine columns.
  const std::string bonded = "t\n\n2 atoms\n1 bonds\n1 bond types\n" + box_;
  const auto told = read(
      "lammps", bonded + "Atoms\n\n1 1 1 1 2 3 0 0 0\n2 1 1 2 2 3 0 0 0\n\nBonds\n\n1 1 1 2\n");
  EXPECT_EQ(told.configuration.topology.molecule.size(), 2u);
  ASSERT_EQ(told.configuration.warnings.size(), 1u);
  EXPECT_TRUE(has(told.configuration.warnings[0], "molecular"));
  // A remark is no style; "atom_style" in line 1 is one; hybrids list what each part adds.
  EXPECT_EQ(read("lammps", head + "Atoms # the beads\n\n1 1 1 2 3\n2 1 2 2 3\n")
                .configuration.position.size(),
            2u);
  const auto sphere = read("lammps", "atom_style sphere\n\n2 atoms\n" + box_ +
                                         "Atoms\n\n1 1 2 0.5 1 2 3\n2 1 0 7 2 2 3\n");
  EXPECT_DOUBLE_EQ(sphere.configuration.mass[0], 0.5 * 8 * std::numbers::pi / 6);
  EXPECT_DOUBLE_EQ(sphere.configuration.mass[1], 7);  // a point
  // Images of others would be coordinates at which two particles lie.
  const auto images = read("lammps", head + "Atoms\n\n1 1 1.5 2 3 0 0 0\n2 1 2.5 2 3 0 0 0\n");
  EXPECT_EQ(images.configuration.position[1].x, 2.5);
  EXPECT_EQ(named_style("hybrid charge sphere").list(), "id, type, x, y, z, q, diameter, density");
  EXPECT_TRUE(has(refusal("lammps", head + "Atoms # hybrid\n\n1 1 1 2 3\n2 1 2 2 3\n"),
                  "styles of hybrid"));
}

TEST_F(Foreign, UnitsOfTheFirstLine) {
  EXPECT_EQ(units_in_title("via write_data, timestep = 5, units = real", ""), "real");
  EXPECT_EQ(units_in_title("water in metal units", ""), "metal");
  EXPECT_EQ(units_in_title("a real liquid", ""), "");
  EXPECT_THROW(units_in_title("units = furlongs", ""), UserError);
  const auto frame = read("lammps", "x, timestep = 12, units = metal\n\n1 atoms\n" + box_ +
                                        "Atoms # atomic\n\n1 1 1 2 3\n");
  EXPECT_EQ(frame.units.velocity, "Angstrom ps-1");
  EXPECT_TRUE(frame.has_step);
  EXPECT_EQ(frame.configuration.step, 12);
}

TEST_F(Foreign, BoxesThatPointAnywhere) {
  const std::array<Vec3<double>, 3> edges{Vec3<double>{0, 4, 0}, {-5, 1, 0}, {0.5, 0.25, 6}};
  const TurnedBox turn = turn_box(edges, "here");
  EXPECT_TRUE(turn.turned);
  const auto turned = turn.box.edges();
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      double before = 0, after = 0;
      for (int k = 0; k < 3; ++k) {
        before += edges[i][k] * edges[j][k];
        after += turned[i][k] * turned[j][k];
      }
      EXPECT_NEAR(before, after, 1e-12);  // the same lengths and angles
    }
  EXPECT_NEAR(turned[1].x, turn(edges[1]).x, 1e-12);
  EXPECT_THROW(turn_box({Vec3<double>{0, 4, 0}, {5, 1, 0}, {0, 0, 6}}, "here"), UserError);
}

TEST_F(Foreign, LabelsRepeatsAndSectionsThatAreNotRead) {
  const auto frame = read(
      "lammps",
      "t\n\n2 atoms\n1 bonds\n1 bond types\n1 atom types\n0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\n"
      "Atom Type Labels\r\n\r\n1 Na\r\n\r\nBond Type Labels\n\n1 Na-Na\n\nMasses\n\nNa 23 # "
      "salt\n\n"
      "Pair Coeffs # lj/cut\n\nNa 1 1\n\nAtoms # bond\n\n1\t1\tNa 1 2 3\n2 1 Na 2 2 3\n\n"
      "Bonds\n\n1 Na-Na 1 2\n\nMolecules\n\n1 0\n2 0\n");
  EXPECT_EQ(frame.configuration.types, std::vector<std::string>{"Na"});
  EXPECT_EQ(frame.configuration.mass[1], 23);
  ASSERT_EQ(frame.configuration.warnings.size(), 1u);
  EXPECT_TRUE(has(frame.configuration.warnings[0], "Pair Coeffs, Molecules"));
  const auto twice = read("lammps", "t\n\n2 atoms\n2 bonds\n1 bond types\n" + box_ +
                                        "Atoms # bond\n\n1 1 1 1 2 3\n2 1 1 2 2 3\n\nBonds\n\n"
                                        "1 1 1 2\n2 1 2 1\n");
  EXPECT_EQ(twice.configuration.topology.bonds.size(), 2u);
  EXPECT_TRUE(has(twice.configuration.warnings.at(0), "every row counts"));
}

TEST_F(Foreign, XyzByIdsAndWithoutABox) {
  const std::string line =
      "Lattice=\"9 0 0 0 9 0 0 0 9\" energy=1 energy=2 "
      "Properties=id:I:1:pos:R:3:forces:R:3\n";
  const auto frame = read("xyz", "2\n" + line + "8 1 1 1 0 0 0\n3 2 2 2 0 0 0\n");
  EXPECT_EQ(frame.configuration.position[0].x, 2);
  ASSERT_EQ(frame.configuration.warnings.size(), 3u);
  EXPECT_TRUE(has(frame.configuration.warnings[0], "energy"));
  EXPECT_TRUE(has(frame.configuration.warnings[1], "forces"));
  EXPECT_TRUE(has(frame.configuration.warnings[2], "all particles are of type A"));
  EXPECT_TRUE(has(refusal("xyz", "2\n" + line + "8 1 1 1 0 0 0\n8 2 2 2 0 0 0\n"), "id 8 twice"));
  const std::string plain = "2\nmade for the run of the week\nA 1 1 1\nB 5 5 5\n";
  EXPECT_TRUE(has(refusal("xyz", plain), "--box"));
  ReadOptions as;
  as.box = {8, 9, 10};
  EXPECT_EQ(read("xyz", plain, {}, as).configuration.box.length.y, 9);
}

}  // namespace
}  // namespace perrin::io
