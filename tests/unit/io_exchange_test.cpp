// LAMMPS dumps, DCD, GRO and PDB by numbers worked out by hand, and what is wrong with them.
// Against other programs: tests/readers/check_exchange.py.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/base/error.h"
#include "io/convert.h"
#include "io/formats.h"

namespace perrin::io {
namespace {

namespace fs = std::filesystem;

class Exchange : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/perrin_exchange_XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string file(const std::string& name, const std::string& contents) const {
    std::ofstream(folder_ / name, std::ios::binary) << contents;
    return folder_ / name;
  }
  std::string path(const std::string& name) const { return folder_ / name; }

  /// What is said of a file; "accepted".
  std::string message(const char* format, const std::string& contents) const {
    try {
      const auto reader = open_frames(file("bad", contents), format_of_name(format));
      for (std::int64_t k = 0; k < reader->frames(); ++k) reader->read(k);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }
  std::string dump(const std::string& contents) const { return message("lammpsdump", contents); }
  Frame read(const char* format, const std::string& contents, std::int64_t frame = 0,
             const ReadOptions& options = {}) const {
    return open_frames(file("good", contents), format_of_name(format))->read(frame, options);
  }
  /// The lines of a file that is written.
  std::vector<std::string> written(const char* format, const Frame& frame,
                                   const WriteOptions& options = {}) const {
    fs::remove(path("out"));
    const auto writer = format_of_name(format)->create(path("out"), frame, options);
    writer->write(frame);
    writer->finish();
    std::ifstream in(path("out"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  fs::path folder_;
};

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" lacks " << part;
}

bool says(const std::vector<std::string>& sentences, const std::string& part) {
  for (const std::string& sentence : sentences)
    if (sentence.find(part) != sentence.npos) return true;
  return false;
}

std::string dump_head(const std::string& columns, int n = 2,
                      const std::string& box = "pp pp pp\n0 5\n0 5\n0 5") {
  return "ITEM: TIMESTEP\n40\nITEM: NUMBER OF ATOMS\n" + std::to_string(n) + "\nITEM: BOX BOUNDS " +
         box + "\nITEM: ATOMS " + columns + "\n";
}

TEST_F(Exchange, DumpOfEveryColumn) {
  const Frame frame = read(
      "lammpsdump",
      "ITEM: UNITS\nreal\nITEM: TIME\n2.5\n" +
          dump_head("id mol type mass q x y z ix iy iz vx vy vz radius fx c_e quatw quati quatj "
                    "quatk angmomx angmomy angmomz c_k[1]") +
          "7 3 2 4.0 -1 1 2 3 0 -1 2 .1 .2 .3 0.5 9 11 0 0 0 2 4 5 6 1\n"
          "2 0 1 1.5 +1 4 3 2 1 0 0 .4 .5 .6 0.25 9 12 1 0 0 0 0 0 1 1\n");
  const Configuration& c = frame.configuration;
  EXPECT_TRUE(frame.has_step);
  EXPECT_EQ(c.step, 40);
  EXPECT_EQ(frame.time, 2.5);
  EXPECT_EQ(frame.units.velocity, "Angstrom fs-1");
  EXPECT_EQ(c.types, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(c.type, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(c.position[1], (Vec3<double>{1, 2, 3}));
  EXPECT_EQ(c.image[1].y, -1);
  EXPECT_EQ(c.image[0].x, 1);
  EXPECT_EQ(c.velocity[0], (Vec3<double>{.4, .5, .6}));
  EXPECT_EQ(c.mass, (std::vector<double>{1.5, 4}));
  EXPECT_EQ(c.charge, (std::vector<double>{1, -1}));
  EXPECT_EQ(c.diameter, (std::vector<double>{0.5, 1}));
  EXPECT_EQ(c.topology.molecule, (std::vector<std::uint32_t>{4, 3}));  // 0 is none
  EXPECT_EQ(c.attributes.at("c_e"), (std::vector<double>{12, 11}));
  EXPECT_EQ(c.orientation.at(1), (Quaternion{0, 0, 1, 0}));
  EXPECT_EQ(c.angular_momentum.at(1), (Vec3<double>{-4, -5, 6}));
  EXPECT_TRUE(says(c.warnings, "columns are not read: fx, c_k[1]"));
}

TEST_F(Exchange, DumpBoxes) {
  // Bounds around a tilted box: xy = 2, xz = -1, yz = 1.
  const Frame tilted = read("lammpsdump", dump_head("id type xs ys zs", 1,
                                                    "xy xz yz pp pp pp\n-1 12 2\n0 11 -1\n0 10 1") +
                                              "1 1 0.5 0.5 0.5\n");
  const Box& box = tilted.configuration.box;
  EXPECT_EQ(box.length, (Vec3<double>{10, 10, 10}));
  EXPECT_EQ(box.origin, (Vec3<double>{0, 0, 0}));
  EXPECT_EQ((Vec3<double>{box.xy, box.xz, box.yz}), (Vec3<double>{2, -1, 1}));
  EXPECT_EQ(tilted.configuration.position[0], (Vec3<double>{5.5, 5.5, 5}));
  // Edges that are turned by a quarter about z, the corner at (10, 0, 0).
  const Frame turned = read(
      "lammpsdump",
      dump_head("id type x y z vx vy vz", 1, "abc origin pp ff pp\n0 5 0 10\n-5 0 0 0\n0 0 5 0") +
          "1 1 9 2 3 1 0 0\n");
  const Configuration& t = turned.configuration;
  EXPECT_EQ(t.box.periodic, (std::array<bool, 3>{true, false, true}));
  EXPECT_NEAR(t.position[0].x, 12, 1e-12);
  EXPECT_NEAR(t.position[0].y, 1, 1e-12);
  EXPECT_NEAR(t.velocity[0].y, -1, 1e-12);
  // Unwrapped places say the images; of two ways to say it, wrapped ones with images.
  const Frame far = read("lammpsdump", dump_head("id type xu yu zu", 1) + "1 1 6 -1 12\n");
  EXPECT_EQ(far.configuration.position[0], (Vec3<double>{1, 4, 2}));
  EXPECT_EQ(far.configuration.image[0].z, 2);
  const Frame both =
      read("lammpsdump", dump_head("id type xu yu zu ix iy iz", 1) + "1 1 6 -1 12 1 -1 2\n");
  EXPECT_EQ(both.configuration.image[0].z, 2);
  const Frame fine = read("lammpsdump", dump_head("id type x y z ix iy iz xu yu zu", 1) +
                                            "1 1 1.00001 4 2 1 -1 2 6 -1 12\n");
  EXPECT_EQ(fine.configuration.position[0].x, 1.00001);
  // A face at the outermost particle, which six digits have put outside.
  const Frame shrunk = read(
      "lammpsdump", dump_head("id type x y z", 1, "pp pp ss\n0 5\n0 5\n0 4.99") + "1 1 1 1 5\n");
  EXPECT_EQ(shrunk.configuration.box.length.z, 5);
  EXPECT_EQ(shrunk.configuration.position[0].z, 5);
}

TEST_F(Exchange, DumpTypes) {
  const auto types = [&](const std::string& columns, const std::string& rows) {
    return read("lammpsdump", dump_head(columns) + rows).configuration.types;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(types("id type x y z", "1 10 1 1 1\n2 9 1 1 2\n"), (Names{"9", "10"}));
  EXPECT_EQ(types("id type element x y z", "1 2 Ar 1 1 1\n2 1 Kr 1 1 2\n"), (Names{"Kr", "Ar"}));
  EXPECT_EQ(types("id type element x y z", "1 2 C 1 1 1\n2 1 C 1 1 2\n"), (Names{"1", "2"}));
  EXPECT_EQ(types("id element x y z", "1 Kr 1 1 1\n2 Ar 1 1 2\n"), (Names{"Ar", "Kr"}));
  EXPECT_EQ(types("id x y z", "1 1 1 1\n2 1 1 2\n"), (Names{"1"}));
}

TEST_F(Exchange, BadDumps) {
  const std::string head = dump_head("id type x y z");
  expect_part(dump(head + "1 1 1 1 1\n2 1 2 2 2\n"), "accepted");
  expect_part(dump(head + "1 1 1 1 1\n"), "bad:10: the file ends here, expected row 2 of 2 of");
  expect_part(dump(head + "1 1 1 1 1\n" + head), "bad:11: expected 2 rows of frame 0, found 1");
  expect_part(dump(head + "1 1 1 1 1\n1 1 2 2 2\n"),
              "bad:11: the frame that ends here contains the");
  expect_part(dump(head + "1 1 1 1 1\n2 1 2 2 2\n3 1 2 2 2\n"), "bad:12: expected a line \"ITEM:");
  expect_part(dump(head + "1 1 1 nan 1\n2 1 2 2 2\n"),
              "bad:10: expected a coordinate (a finite number), got nan");
  expect_part(dump(head + "1 1 1 1\n2 1 2 2 2\n"),
              "bad:10: expected 5 columns (id type x y z), got");
  expect_part(dump(head + "1.5 1 1 1 1\n2 1 2 2 2\n"), "a particle's id (a whole number)");
  expect_part(dump(dump_head("id type x y") + "1 1 1 1\n2 1 2 2\n"), "has no positions");
  expect_part(dump(dump_head("id id x y z") + "1 1 1 1 1\n2 1 2 2 2\n"),
              "column \"id\" occurs twice");
  expect_part(dump(dump_head("", 0)), "names no columns");
  expect_part(dump(dump_head("id x y z", 0)), "no particles");
  expect_part(dump(dump_head("id x y z", -3)), "a number of atoms from 0, got -3");
  expect_part(dump(""), "the file is empty");
  expect_part(dump("hello\n"),
              "bad:1: expected a line \"ITEM: …\" of a LAMMPS dump, got \"hello\"");
  expect_part(dump("ITEM: TIMESTEP\n0\nITEM: ATOMS id x y z\n"), "no ITEM: NUMBER OF ATOMS before");
  expect_part(dump("ITEM: TIMESTEP\n0\nITEM: TIMESTEP\n0\n"), "bad:3: ITEM: TIMESTEP occurs twice");
  expect_part(dump("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ENTRIES\n4\n"), "ENTRIES is not read");
  expect_part(dump("ITEM: UNITS\nimperial\n"), "bad:2: unknown units of LAMMPS \"imperial\"");
  const auto box = [&](const std::string& lines) {
    return dump(dump_head("id x y z", 1, lines) + "1 1 1 1\n");
  };
  expect_part(box("pp pp\n0 5\n0 5\n0 5"), "three boundaries");
  expect_part(box("pp pf pp\n0 5\n0 5\n0 5"), "expected the boundary along y");
  expect_part(box("pp pp pp\n0 5\n5 0\n0 5"), "bad:7: the upper bound of the box must be above");
  expect_part(box("pp pp pp\n0 5\n0 5 1\n0 5"), "expected two bounds of the box (2 numbers)");
  expect_part(box("xy xz yz pp pp pp\n0 5 6\n0 5 0\n0 5 0"), "the bounds along x are narrower");
  expect_part(box("abc origin pp pp pp\n1 0 0 0\n2 0 0 0\n0 0 5 0"), "span no volume");
  expect_part(box("pp pp ff\n0 5\n0 5\n0 0.5"), "outside of the box along z");
  // Two frames of other particles.
  expect_part(dump(dump_head("id x y z", 1) + "1 1 1 1\n" + dump_head("id x y z", 1) + "2 1 1 1\n"),
              "other particle ids than the frame read before");
  expect_part(dump(dump_head("id x y z", 1) + "1 1 1 1\n" + dump_head("id x y z", 2) +
                   "1 1 1 1\n2 2 2 2\n"),
              "has 2 particles, the frame read before 1: expected the same number in all frames");
  expect_part(dump("\x1f\x8b\x08"), "is compressed by gzip, expected it unpacked: gunzip -k ");
  expect_part(dump("BZh9"), "is compressed by bzip2, expected it unpacked: bunzip2 -k ");
}

/// Bytes of a DCD file of two frames of two particles.
struct Dcd {
  bool swapped = false, cell = true;
  std::size_t marker = 4;
  std::int32_t fixed = 0, version = 24, n = 2, frames = 2;
  std::array<double, 6> box{10, 0, 11, 0, 0, 12};
  float x = 1;
  std::string title = "";

  template <class T>
  void put(std::string& to, T value) const {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    if (swapped) std::reverse(bytes, bytes + sizeof(T));
    to.append(bytes, sizeof(T));
  }
  std::string record(const std::string& data) const {
    std::string length;
    if (marker == 4)
      put(length, std::uint32_t(data.size()));
    else
      put(length, std::uint64_t(data.size()));
    return length + data + length;
  }
  std::string bytes() const {
    std::string head = "CORD", titles, count;
    for (const std::int32_t number : {frames, 100, 50, 150, 0, 0, 0, 0, fixed}) put(head, number);
    put(head, 2.0f);
    for (const std::int32_t number : {cell ? 1 : 0, 0, 0, 0, 0, 0, 0, 0, 0, version})
      put(head, number);
    put(titles, std::int32_t(1));
    titles += title + std::string(80 - title.size(), ' ');
    put(count, n);
    std::string all = record(head) + record(titles) + record(count);
    for (int frame = 0; frame < 2; ++frame) {
      std::string numbers;
      for (const double number : box) put(numbers, number);
      if (cell) all += record(numbers);
      for (int axis = 0; axis < 3; ++axis) {
        std::string along;
        put(along, x + float(axis)), put(along, float(4 * frame - axis));
        all += record(along);
      }
    }
    return all;
  }
};

TEST_F(Exchange, DcdByHand) {
  for (const bool swapped : {false, true})
    for (const std::size_t marker : {4u, 8u}) {
      const std::string bytes = Dcd{.swapped = swapped, .marker = marker}.bytes();
      EXPECT_EQ(guess_format(file("named.not", bytes), true)->name, "dcd");
      const Frame frame = read("dcd", bytes, 1);
      const Configuration& c = frame.configuration;
      EXPECT_EQ(c.step, 150);
      EXPECT_NEAR(frame.time, 150 * 2 * 0.0488882129, 1e-6);
      EXPECT_EQ(c.box.length, (Vec3<double>{10, 11, 12}));
      EXPECT_EQ(c.position[0], (Vec3<double>{1, 2, 3}));
      EXPECT_EQ(c.position[1], (Vec3<double>{4, 3, 2}));
      EXPECT_TRUE(frame.units.empty());
      EXPECT_EQ(frame.convention.length, "Angstrom");
    }
  const Frame lammps = read("dcd", Dcd{.title = "Written by LAMMPS"}.bytes(), 1);
  EXPECT_NEAR(lammps.time, 150 * 2, 1e-6);
  EXPECT_TRUE(says(lammps.configuration.warnings, "in the unit of time of its script"));
  // The three meanings of a cell, of one and the same box: gamma = 60 degrees.
  const Box cosines = read("dcd", Dcd{.box = {10, 0.5, 8, 0, 0, 6}}.bytes()).configuration.box;
  const Box degrees = read("dcd", Dcd{.box = {10, 60, 8, 90, 90, 6}}.bytes()).configuration.box;
  // The symmetric root of the matrix of products 100, 40, 64.
  const double root = std::sqrt(100 * 64 - 40 * 40), trace = std::sqrt(164 + 2 * root);
  const double xx = (100 + root) / trace, xy = 40 / trace, yy = (64 + root) / trace;
  const Frame matrix = read("dcd", Dcd{.version = 35, .box = {xx, -xy, yy, 0, 0, 6}}.bytes());
  EXPECT_NEAR(cosines.xy, 4, 1e-12);
  EXPECT_NEAR(cosines.length.y, std::sqrt(48), 1e-12);
  EXPECT_NEAR(degrees.xy, cosines.xy, 1e-12);
  EXPECT_EQ(degrees.xz, 0);
  EXPECT_NEAR(matrix.configuration.box.xy, -4, 1e-12);
  EXPECT_NEAR(matrix.configuration.box.length.x, 10, 1e-12);
  EXPECT_NEAR(matrix.configuration.box.length.y, std::sqrt(48), 1e-12);
  EXPECT_TRUE(says(matrix.configuration.warnings, "the box is rotated"));
  // Without a box.
  expect_part(message("dcd", Dcd{.cell = false}.bytes()), "frame 0: has no box: set \"box\"");
  expect_part(message("dcd", Dcd{.box = {}}.bytes()), "frame 0: has no box: set \"box\"");
  ReadOptions options;
  options.box = {20, 20, 20};
  EXPECT_EQ(read("dcd", Dcd{.cell = false}.bytes(), 1, options).configuration.box.length.x, 20);
  EXPECT_TRUE(says(read("dcd", Dcd{.frames = 9}.bytes()).configuration.warnings,
                   "the header counts 9 frames, the file has 2"));
}

TEST_F(Exchange, BadDcd) {
  const auto dcd = [&](const std::string& bytes) { return message("dcd", bytes); };
  const std::string good = Dcd{}.bytes();
  expect_part(dcd(good), "accepted");
  for (std::size_t cut = 0; cut < good.size(); ++cut) {
    const std::string said = dcd(good.substr(0, cut));
    if (said == "accepted") {  // after the head, or after a whole frame
      EXPECT_TRUE(cut == 196 || cut == 196 + 104) << cut;
    }
  }
  expect_part(dcd(good.substr(0, good.size() - 1)),
              "the file ends within frame 1, after 103 of its");
  expect_part(dcd("text"), "is not a DCD file");
  expect_part(dcd(Dcd{.fixed = 1}.bytes()), "files of fixed particles");
  expect_part(dcd(Dcd{.n = 0}.bytes()), "0 particles, expected 1 or more");
  expect_part(dcd(Dcd{.n = -7}.bytes()), "-7 particles, expected 1 or more");
  expect_part(dcd(Dcd{.n = 3}.bytes()), ": ");
  expect_part(dcd(Dcd{.n = 2000000000}.bytes()), "the file ends within frame 0");
  expect_part(dcd(Dcd{.x = NAN}.bytes()), "frame 0: coordinate x of particle 0 is nan");
  expect_part(dcd(Dcd{.box = {10, 2, 11, 90, 90, -1}}.bytes()),
              "the edges of the box are 10, 11, -1");
  expect_part(dcd(Dcd{.box = {10, NAN, 11, 90, 90, 5}}.bytes()), "bad, frame 0: ");
  expect_part(dcd(Dcd{.box = {10, 170, 11, 20, 20, 5}}.bytes()), "no box has these");
  std::string broken = good;
  broken[196] = 47;
  expect_part(dcd(broken), "byte 196: frame 0: a box of 47 bytes, expected 48");
  broken = good;
  broken[92] = 7;  // the length of the titles
  expect_part(dcd(broken), "byte ");
}

/// Three particles in a tilted box in nm.
Frame tilted_sample() {
  Frame frame;
  Configuration& c = frame.configuration;
  c.step = 20, frame.time = 0.5;
  c.box.length = {3, 4, 5}, c.box.origin = {-1, -2, -3}, c.box.xy = 1, c.box.xz = -0.5;
  c.types = {"Cl", "Bead_long"};
  c.position = {{-0.5, -1, -2}, {0, 0, 0}, {1, 1, 1.5}};
  c.type = {0, 1, 1};
  c.velocity = {{1, 2, 3}, {-1, -2, -3}, {0.5, 0, 0}};
  c.topology.molecule = {0, 1, 1};
  c.topology.bond_types = {"b"};
  c.topology.bonds = {{1, 2, 0}, {0, 1, 0}};
  frame.units.length = "nm", frame.units.time = "ns", frame.units.velocity = "nm ns-1";
  return frame;
}

TEST_F(Exchange, GroByHand) {
  Frame frame = tilted_sample();
  const auto lines = written("gro", frame);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "Perrin, t= 500.00000 step= 20");
  EXPECT_EQ(lines[1], "    3");
  EXPECT_EQ(lines[2], "    1UNL     Cl    1   0.500   1.000   1.000  0.0010  0.0020  0.0030");
  EXPECT_EQ(lines[3], "    2UNL  Bead_    2   1.000   2.000   3.000 -0.0010 -0.0020 -0.0030");
  EXPECT_EQ(lines[5],
            "   3.00000   4.00000   5.00000   0.00000   0.00000   1.00000   0.00000  -0.50000   "
            "0.00000");
  EXPECT_TRUE(says(losses(frame, format_of_name("gro")), "(Bead_long to Bead_)"));
  WriteOptions fine;
  fine.decimals = 5;
  EXPECT_EQ(written("gro", frame, fine)[2],
            "    1UNL     Cl    1   0.50000   1.00000   1.00000  0.001000  0.002000  0.003000");
  // Molecules that are counted from 1 keep their numbers.
  frame.configuration.topology.molecule = {7, 100003, 1};
  EXPECT_EQ(written("gro", frame)[2].substr(0, 8), "    7UNL");
  EXPECT_EQ(written("gro", frame)[3].substr(0, 8), "    3UNL");
  frame.configuration.position[1].x = 12345;
  EXPECT_THROW(written("gro", frame), UserError);
  frame.configuration.position[1].x = 0;
  frame.configuration.velocity[2].z = -1e6;
  try {
    written("gro", frame);
    ADD_FAILURE();
  } catch (const UserError& error) {
    expect_part(error.what(), "velocity z of particle 2 is -1000 nm/ps");
  }
}

TEST_F(Exchange, PdbByHand) {
  Frame frame = tilted_sample();
  auto lines = written("pdb", frame);
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_EQ(lines[0], "TITLE     Perrin, t= 0.5 step= 20");
  EXPECT_EQ(lines[1], "CRYST1   30.000   41.231   50.249  91.38  95.71  75.96 P 1           1");
  EXPECT_EQ(lines[2],
            "HETATM    1 Cl   UNL     1       5.000  10.000  10.000  1.00  0.00          CL  ");
  EXPECT_EQ(lines[3],
            "HETATM    2 Bead UNL     2      10.000  20.000  30.000  1.00  0.00              ");
  EXPECT_EQ(lines[5], "CONECT    1    2");
  EXPECT_EQ(lines[6], "CONECT    2    1    3");
  EXPECT_EQ(lines[8], "END");
  Frame other = frame;
  other.configuration.topology.molecule = {7, 12, 1};
  other.configuration.types = {"λ", "Bead"};
  EXPECT_EQ(written("pdb", other)[3].substr(17, 9), "UNL    12");
  EXPECT_TRUE(says(losses(other, format_of_name("pdb")), "more than one byte"));
  other.configuration.step = std::int64_t(1) << 31;
  EXPECT_TRUE(says(losses(other, format_of_name("xtc")), "steps are not kept"));
  EXPECT_FALSE(says(losses(frame, format_of_name("xtc")), "steps"));
  WriteOptions several;
  several.frames = 2;
  const auto writer = format_of_name("pdb")->create(path("two"), frame, several);
  writer->write(frame);
  frame.configuration.topology.bonds.pop_back();
  writer->write(frame);
  writer->finish();
  EXPECT_TRUE(says(writer->lost_between(), "bonds are not the same"));
  std::ifstream in(path("two"));
  std::stringstream text;
  text << in.rdbuf();
  expect_part(text.str(), "MODEL        2\n");
  expect_part(text.str(), "ENDMDL\nCONECT    1    2\n");
  frame.configuration.position[1].x = -200;
  EXPECT_THROW(written("pdb", frame), UserError);
  // More particles than columns.
  frame = Frame();
  Configuration& c = frame.configuration;
  c.box.length = {50, 50, 50};
  c.types = {"A"};
  c.position.assign(100002, {1, 1, 1});
  c.type.assign(c.position.size(), 0);
  c.topology.bond_types = {"b"};
  c.topology.bonds = {{0, 1, 0}};
  lines = written("pdb", frame);
  EXPECT_EQ(lines[2 + 99998].substr(0, 12), "HETATM99999 ");
  EXPECT_EQ(lines[2 + 99999].substr(0, 12), "HETATM    0 ");
  EXPECT_EQ(lines.back(), "END");
  EXPECT_EQ(lines[lines.size() - 2].substr(0, 6), "HETATM");
  EXPECT_TRUE(says(losses(frame, format_of_name("pdb")), "bonds are left out"));
}

TEST_F(Exchange, DcdRoundTrip) {
  for (const bool named : {false, true}) {
    Frame frame = tilted_sample();
    if (!named) frame.units = {};
    const std::string name = path(named ? "named.dcd" : "plain.dcd");
    const auto writer = format_of_name("dcd")->create(name, frame, {});
    writer->write(frame);
    frame.configuration.step = 30, frame.time = 0.75;
    writer->write(frame);
    writer->finish();
    EXPECT_TRUE(writer->lost_between().empty());
    const auto reader = open_frames(name, format_of_name("dcd"));
    ASSERT_EQ(reader->frames(), 2);
    const Frame back = reader->read(1);
    const double unit = named ? 10 : 1;
    EXPECT_EQ(back.units.length, named ? "Angstrom" : "");
    EXPECT_TRUE(back.convention.empty());
    EXPECT_EQ(back.configuration.step, 30);
    EXPECT_NEAR(back.time, named ? 750 : 0.75, 1e-4);
    EXPECT_NEAR(back.configuration.box.xy, unit, 1e-12);
    EXPECT_NEAR(back.configuration.box.xz, -0.5 * unit, 1e-12);
    EXPECT_NEAR(back.configuration.box.length.z, 5 * unit, 1e-12);
    EXPECT_EQ(back.configuration.position[2], unit * (Vec3<double>{2, 3, 4.5}));
  }
  // Steps that DCD cannot hold.
  Frame frame = tilted_sample();
  const auto writer = format_of_name("dcd")->create(path("uneven.dcd"), frame, {});
  for (const std::int64_t step : {0, 10, 100}) {
    frame.configuration.step = step, frame.time = double(step);
    writer->write(frame);
  }
  writer->finish();
  EXPECT_TRUE(says(writer->lost_between(), "steps are left out"));
  EXPECT_TRUE(says(writer->lost_between(), "times are not kept"));
  EXPECT_EQ(open_frames(path("uneven.dcd"), format_of_name("dcd"))->read(2).configuration.step, 2);
  frame.configuration.position.pop_back(), frame.configuration.type.pop_back();
  const auto other = format_of_name("dcd")->create(path("n.dcd"), tilted_sample(), {});
  EXPECT_THROW(other->write(frame), UserError);
}

TEST_F(Exchange, Convert) {
  const std::string in =
      file("in.lammpstrj", dump_head("id type x y z") + "1 1 1 1 1\n2 1 2 2 2\n");
  ConvertOptions options;
  options.in = in, options.out = path("out.dump");
  try {
    convert(options);
    ADD_FAILURE();
  } catch (const UserError& error) {
    expect_part(error.what(), "the format lammpsdump can be read but not written; expected h5md");
  }
  for (const char* name : {"out.gsd", "out.h5", "out.dcd", "out.gro", "out.pdb", "out.xyz"}) {
    options.out = path(name);
    EXPECT_EQ(convert(options), 1) << name;
  }
  for (const char* name : {"out.gro", "out.pdb"})
    EXPECT_THROW(open_frames(path(name), guess_format(path(name), true)), UserError);
  // Angstrom by convention; H5MD says that it does not know.
  std::vector<std::string> said;
  options.in = file("foreign.dcd", Dcd{}.bytes());
  options.overwrite = true;
  options.warn = [&](const std::string& what) { said.push_back(what); };
  options.out = path("out.gro");
  convert(options);
  std::ifstream gro(options.out);
  std::string line;
  for (int k = 0; k < 3; ++k) std::getline(gro, line);
  EXPECT_EQ(line, "    1UNL      A    1   0.100   0.200   0.300");
  options.out = path("out.h5");
  convert(options);
  EXPECT_TRUE(says(said, "by convention in Angstrom, are kept as they are"));
}

}  // namespace
}  // namespace perrin::io
