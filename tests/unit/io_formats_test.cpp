// Every format: what is written is read back, and damaged files are refused with their place.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/base/error.h"
#include "io/convert.h"
#include "io/file_units.h"
#include "io/formats.h"

namespace perrin::io {
namespace {

namespace fs = std::filesystem;

class Formats : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    char name[] = "/tmp/perrin_io_XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string file(const std::string& name) const { return folder_ / name; }
  fs::path folder_;
};

/// Each particle with an orientation, an angular momentum and the moments of an ellipsoid; in two
/// dimensions it turns about z alone.
void let_turn(Configuration& c) {
  const bool flat = c.box.dimension == 2;
  for (std::size_t i = 0; i < c.position.size(); ++i) {
    const double x = 0.1 + double(i);
    c.orientation.push_back(normalized(
        Quaternion{flat ? 0 : std::sin(x), flat ? 0 : std::cos(2 * x), std::sin(3 * x), x - 4}));
    c.angular_momentum.push_back({flat ? 0 : 0.25 * x, flat ? 0 : -x, 1 / x});
    const double m = c.mass[i];
    c.moment_of_inertia.push_back(
        {flat ? 0 : 0.2 * m * (4 + 9), flat ? 0 : 0.2 * m * (1 + 9), 0.2 * m * (1 + 4)});
  }
}

Frame sample(bool triclinic, int dimension, std::int64_t step) {
  Frame frame;
  frame.time = 0.25 * double(step);
  Configuration& c = frame.configuration;
  c.step = step;
  c.box.length = {8, 9, 10};
  c.box.origin = {-4, -4.5, -5};
  c.box.dimension = dimension;
  if (triclinic)
    c.box.xy = 1.5, c.box.xz = dimension == 3 ? -0.75 : 0, c.box.yz = dimension == 3 ? 0.5 : 0;
  if (dimension == 2) c.box.length.z = 1, c.box.origin.z = -0.5;
  // GSD has its origin in the middle of the cell: the same for all formats, so that they compare.
  const auto e = c.box.edges();
  for (int axis = 0; axis < 3; ++axis)
    c.box.origin[axis] = -0.5 * (e[0][axis] + e[1][axis] + e[2][axis]);
  c.types = {"A", "Bead"};
  for (int i = 0; i < 12; ++i) {
    const Vec3<double> s{(i + 0.5) / 12, (7 * i % 12 + 0.25) / 12,
                         dimension == 2 ? 0.5 : (5 * i % 12 + 0.75) / 12};
    c.position.push_back(c.box.point(s));
    if (dimension == 2) c.position.back().z = 0;
    c.type.push_back(i % 3 == 0 ? 1u : 0u);
    c.velocity.push_back({0.5 * i, -0.25 * i, dimension == 2 ? 0.0 : 1.0 / (i + 1)});
    c.image.push_back({i - 5, 3 - i, dimension == 2 ? 0 : i % 2});
    c.mass.push_back(i % 3 == 0 ? 2.5 : 1.0);
    c.charge.push_back(i % 2 == 0 ? 0.5 : -0.5);
    c.topology.molecule.push_back(std::uint32_t(i / 4));
  }
  c.topology.bond_types = {"backbone", "side"};
  c.topology.bonds = {{0, 1, 0}, {1, 2, 1}, {5, 4, 0}};
  c.topology.angle_types = {"bend"};
  c.topology.angles = {{0, 1, 2, 0}};
  c.topology.dihedral_types = {"twist", "turn"};
  c.topology.dihedrals = {{0, 1, 2, 5, 1}, {3, 2, 1, 0, 0}};
  c.topology.improper_types = {"flat"};
  c.topology.impropers = {{4, 5, 6, 7, 0}};
  return frame;
}

/// float32 of the binary formats: 2^-24 of a coordinate below 16, thus 1e-6 with the shift of
/// origin.
void expect_near(const Configuration& a, const Configuration& b, double tolerance) {
  ASSERT_EQ(a.position.size(), b.position.size());
  ASSERT_EQ(a.orientation.size(), b.orientation.size());
  EXPECT_EQ(a.box.dimension, b.box.dimension);
  for (int axis = 0; axis < 3; ++axis) {
    EXPECT_NEAR(a.box.length[axis], b.box.length[axis], tolerance);
    EXPECT_NEAR(a.box.origin[axis], b.box.origin[axis], tolerance);
  }
  EXPECT_NEAR(a.box.xy, b.box.xy, tolerance);
  EXPECT_NEAR(a.box.xz, b.box.xz, tolerance);
  EXPECT_NEAR(a.box.yz, b.box.yz, tolerance);
  for (std::size_t i = 0; i < a.position.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_NEAR(a.position[i][axis], b.position[i][axis], tolerance) << i;
      EXPECT_NEAR(a.velocity.at(i)[axis], b.velocity.at(i)[axis], tolerance) << i;
      EXPECT_EQ(a.image.at(i)[axis], b.image.at(i)[axis]) << i;
    }
    EXPECT_EQ(a.types[a.type[i]], b.types[b.type[i]]);
    EXPECT_NEAR(a.mass.at(i), b.mass.at(i), tolerance);
    EXPECT_NEAR(a.charge.at(i), b.charge.at(i), tolerance);
    if (a.orientation.empty()) continue;
    EXPECT_NEAR(a.orientation[i].x, b.orientation.at(i).x, tolerance) << i;
    EXPECT_NEAR(a.orientation[i].y, b.orientation.at(i).y, tolerance) << i;
    EXPECT_NEAR(a.orientation[i].z, b.orientation.at(i).z, tolerance) << i;
    EXPECT_NEAR(a.orientation[i].w, b.orientation.at(i).w, tolerance) << i;
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_NEAR(a.angular_momentum.at(i)[axis], b.angular_momentum.at(i)[axis], 4 * tolerance)
          << i;
      EXPECT_NEAR(a.moment_of_inertia.at(i)[axis], b.moment_of_inertia.at(i)[axis], 4 * tolerance)
          << i;
    }
  }
}

void expect_topology(const Topology& a, const Topology& b, bool names) {
  ASSERT_EQ(a.bonds.size(), b.bonds.size());
  ASSERT_EQ(a.angles.size(), b.angles.size());
  for (std::size_t k = 0; k < a.bonds.size(); ++k) {
    EXPECT_EQ(a.bonds[k].a, b.bonds[k].a);
    EXPECT_EQ(a.bonds[k].b, b.bonds[k].b);
    EXPECT_EQ(a.bonds[k].type, b.bonds[k].type);
  }
  for (std::size_t k = 0; k < a.angles.size(); ++k) EXPECT_EQ(a.angles[k].c, b.angles[k].c);
  for (const auto list : {&Topology::dihedrals, &Topology::impropers}) {
    const auto &x = a.*list, &y = b.*list;
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      EXPECT_EQ(x[k].a, y[k].a);
      EXPECT_EQ(x[k].b, y[k].b);
      EXPECT_EQ(x[k].c, y[k].c);
      EXPECT_EQ(x[k].d, y[k].d);
      EXPECT_EQ(x[k].type, y[k].type);
    }
  }
  if (names) {
    EXPECT_EQ(a.bond_types, b.bond_types);
    EXPECT_EQ(a.dihedral_types, b.dihedral_types);
    EXPECT_EQ(a.improper_types, b.improper_types);
  }
}

TEST_P(Formats, RoundTrip) {
  const Format format = format_of_name(GetParam());
  for (const int kind : {0, 1, 2, 3})
    for (const int dimension : {3, 2}) {
      const bool triclinic = kind % 2 == 1, turning = kind >= 2;
      if (format == format_of_name("lammps") && dimension == 2)
        continue;  // the format cannot say so
      const std::string name = file("a" + std::to_string(10 * dimension + kind));
      Frame first = sample(triclinic, dimension, 5'000'000'000);
      if (turning) let_turn(first.configuration);
      const Frame last = [&] {
        Frame f = sample(triclinic, dimension, 6'000'000'001);
        if (turning) let_turn(f.configuration);
        for (auto& v : f.configuration.velocity) v.x += 1;
        for (auto& q : f.configuration.orientation) std::swap(q.z, q.w);
        for (auto& spin : f.configuration.angular_momentum) spin.z += 1;
        return f;
      }();
      const auto writer = format->create(name, first, {});
      writer->write(first);
      if (format != format_of_name("lammps")) writer->write(last);
      writer->finish();
      EXPECT_EQ(guess_format(name, true), format);  // by the contents: the name says nothing
      const auto reader = open_frames(name, format);
      ASSERT_EQ(reader->frames(), format == format_of_name("lammps") ? 1 : 2);
      const double tolerance =
          format == format_of_name("lammps") || format == format_of_name("xyz") ? 1e-12 : 2e-6;
      const Configuration a = reader->read(0).configuration;
      expect_near(first.configuration, a, tolerance);
      if (format != format_of_name("xyz"))
        expect_topology(first.configuration.topology, a.topology,
                        format != format_of_name("lammps"));
      if (format != format_of_name("gsd")) {
        auto molecule = first.configuration.topology.molecule;
        if (format == format_of_name("lammps"))  // where 0 is no molecule
          for (auto& number : molecule) ++number;
        EXPECT_EQ(molecule, a.topology.molecule);
      }
      if (format == format_of_name("lammps")) continue;
      EXPECT_EQ(a.step, 5'000'000'000);
      const Frame b = read_frame(*reader, name, -1);
      EXPECT_EQ(b.configuration.step, 6'000'000'001);
      expect_near(last.configuration, b.configuration, tolerance);
      EXPECT_THROW(read_frame(*reader, name, 2), UserError);
    }
}

TEST_P(Formats, TruncatedFileIsRefusedByName) {
  const Format format = format_of_name(GetParam());
  const std::string whole = file("whole"), cut = file("cut");
  const Frame frame = sample(false, 3, 7);
  const auto writer = format->create(whole, frame, {});
  writer->write(frame);
  writer->finish();
  const auto size = fs::file_size(whole);
  for (const double share : {0.02, 0.3, 0.6}) {
    fs::copy_file(whole, cut, fs::copy_options::overwrite_existing);
    fs::resize_file(cut, std::uintmax_t(share * double(size)));
    try {
      open_frames(cut, format)->read(0);
      ADD_FAILURE() << GetParam() << " cut to " << share << " was read";
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(cut), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(open_frames(file("missing"), format), UserError);
}

// Those that keep what a configuration has; of others io_exchange_test.
INSTANTIATE_TEST_SUITE_P(All, Formats, ::testing::Values("h5md", "gsd", "lammps", "xyz"),
                         [](const auto& i) { return i.param; });

class Refused : public Formats {
 protected:
  std::string message(Format format, const std::string& text) {
    const std::string name = file("bad");
    std::ofstream(name) << text;
    try {
      open_frames(name, format)->read(0);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }
  void expect(const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
};

TEST_F(Refused, ExtendedXyz) {
  const std::string box = "Lattice=\"5 0 0 0 5 0 0 0 5\" Properties=species:S:1:pos:R:3\n";
  const auto xyz = [&](const std::string& text) { return message(format_of_name("xyz"), text); };
  expect(xyz("1\n" + box + "A 1 nan 1\n"),
         "bad:3: expected a coordinate (a finite number), got nan");
  expect(xyz("2\n" + box + "A 1 1 1\n"), "row 2 of 2");
  expect(xyz("1\n" + box + "A 1 1\n"), "bad:3: expected 4 columns, got 3");
  expect(xyz("1\nProperties=species:S:1:pos:R:3\nA 1 1 1\n"), "has no box: set");
  expect(xyz("1\nLattice=\"5 0 0 0 5 0 0 0 5\" Properties=species:S:1\nA\n"), "no pos:R:3");
  expect(xyz("1\nLattice=\"0 5 0 5 0 0 0 0 5\"\nA 1 1 1\n"), "bad:2: box edges a = (0, 5, 0)");
  expect(xyz("1\nLattice=\"0 5 0 5 0 0 0 0 5\"\nA 1 1 1\n"), "left-handed: exchange two of them");
  expect(xyz("1\nLattice=\"5 0 0 10 0 0 0 0 5\"\nA 1 1 1\n"), "they span no volume");
  expect(xyz("0\n" + box), "no particles");
  expect(xyz("1\npbc=\"T T F\" " + box + "A 1 1 7\n"), "outside of the box along z");
  expect(xyz("1\npbc=\"T T T\" " + box + "A 1 1 7\n"), "accepted");
  expect(xyz("2\nDimension=2 " + box + "A 1 1 1\nA 1 2 2\n"),
         "particle 1 lies at z = 2 and particle 0 at 1: in two dimensions");
  expect(xyz("2\nDimension=2 " + box + "A 1 1 2\nA 1 2 2\n"), "accepted");
}

TEST_F(Refused, LammpsData) {
  const auto data = [&](const std::string& text) {
    return message(format_of_name("lammps"), text);
  };
  const std::string head = "x\n\n2 atoms\n1 atom types\n0 5 xlo xhi\n0 5 ylo yhi\n0 5 zlo zhi\n\n";
  expect(data(head + "Atoms # atomic\n\n1 1 0 0 0\n"), "row 2 of 2 of Atoms");
  expect(data(head + "Atoms # atomic\n\n1 1 0 0 0\n1 1 1 1 1\n"),
         "bad:12: particle 1 occurs twice");
  expect(data(head + "Atoms # atomic\n\n1 1 0 0 0\n2 2 1 1 1\n"), "type 2, expected 1 to 1");
  expect(data(head + "Atoms # atomic\n\n1 1 0 0 0\n2 1 1 inf 1\n"),
         "bad:12: expected a coordinate");
  expect(data(head + "Atoms # sphere\n\n1 1 0 0 0\n2 1 1 1 1\n"), "atom style \"sphere\"");
  expect(data(head + "Atoms\n\n1 1 1 0 0 0\n2 1 1 1 1 1\n"), "fit several atom styles");
  expect(data(head + "Masses\n\n1 1.0\n"), "no section \"Atoms\"");
  // Ids in any order, wrapped particles.
  const std::string name = file("good");
  std::ofstream(name) << head + "Atoms # atomic\n\n7 1 6 1 1\n3 1 2 2 2\n";
  const auto c = open_frames(name, format_of_name("lammps"))->read(0).configuration;
  EXPECT_DOUBLE_EQ(c.position[0].x, 2);
  EXPECT_DOUBLE_EQ(c.position[1].x, 1);
  EXPECT_EQ(c.image[1].x, 1);
}

/// Numbers of the ellipsoids of LAMMPS by hand; what is wrong with them.
TEST_F(Refused, LammpsEllipsoids) {
  const auto data = [&](const std::string& text) {
    return message(format_of_name("lammps"), text);
  };
  const std::string head =
      "x\n\n2 atoms\n1 atom types\n1 ellipsoids\n0 5 xlo xhi\n0 5 ylo yhi\n0 5 zlo zhi\n\n";
  const std::string atoms = "Atoms # ellipsoid\n\n7 1 1 2.0 1 1 1\n3 1 0 3.0 2 2 2\n\n";
  const std::string row = "Ellipsoids\n\n7 1 2 3 0 0 0 2\n";
  expect(data(head + atoms + row), "accepted");
  expect(data(head + atoms), "no section \"Ellipsoids\": particle 7 is an ellipsoid");
  expect(data(head + row + "\n" + atoms), "the section Ellipsoids precedes Atoms");
  expect(data(head + atoms + "Ellipsoids\n\n3 1 2 3 1 0 0 0\n"),
         "bad:17: particle 3 is no ellipsoid");
  expect(data(head + atoms + "Ellipsoids\n\n7 1 0 3 1 0 0 0\n"),
         "the shape 0, expected a positive");
  expect(data(head + atoms + "Ellipsoids\n\n7 1 2 3 0 0 0 0\n"), "the quaternion (0, 0, 0, 0)");
  expect(data(head + atoms + "Ellipsoids\n\n7 1 2 3 1 0 0\n"), "expected 8 columns in Ellipsoids");
  expect(data(head + "Atoms # ellipsoid\n\n7 1 2 2.0 1 1 1\n3 1 0 3.0 2 2 2\n"),
         "expected an ellipsoidflag of 0 or 1, got \"2\"");
  const std::string name = file("good");
  // The angular momentum of LAMMPS is in space; the particle is turned by half a turn about z.
  std::ofstream(name) << head + atoms + "Velocities\n\n3 0 0 0 0 0 0\n7 1 1 1 4 5 6\n\n" + row;
  const auto c = open_frames(name, format_of_name("lammps"))->read(0).configuration;
  EXPECT_DOUBLE_EQ(c.mass.at(0), 3);
  const double mass = 2.0 * M_PI / 6 * 1 * 2 * 3;
  EXPECT_DOUBLE_EQ(c.mass.at(1), mass);
  EXPECT_EQ(c.orientation.at(0), (Quaternion{0, 0, 0, 1}));
  EXPECT_EQ(c.orientation.at(1), (Quaternion{0, 0, 1, 0}));
  EXPECT_EQ(c.moment_of_inertia.at(0), (Vec3<double>{}));
  EXPECT_DOUBLE_EQ(c.moment_of_inertia.at(1).x, mass / 20 * (4 + 9));
  EXPECT_DOUBLE_EQ(c.moment_of_inertia.at(1).y, mass / 20 * (1 + 9));
  EXPECT_DOUBLE_EQ(c.moment_of_inertia.at(1).z, mass / 20 * (1 + 4));
  EXPECT_EQ(c.angular_momentum.at(1), (Vec3<double>{-4, -5, 6}));
  // In a box that is turned by a quarter about z, so is the particle; its own frame stays.
  std::ofstream(name) << "x\n\n1 atoms\n1 atom types\n1 ellipsoids\n0 5 0 avec\n-5 0 0 bvec\n"
                         "0 0 5 cvec\n0 0 0 abc origin\n\nAtoms # ellipsoid\n\n1 1 1 2.0 1 1 1\n\n"
                         "Velocities\n\n1 0 0 0 4 5 6\n\nEllipsoids\n\n1 1 2 3 1 0 0 0\n";
  const auto t = open_frames(name, format_of_name("lammps"))->read(0).configuration;
  const auto x = rotate(t.orientation.at(0), Vec3<double>{1, 0, 0});
  EXPECT_NEAR(x.y, -1, 1e-12);
  EXPECT_NEAR(t.angular_momentum.at(0).x, 4, 1e-12);
  EXPECT_NEAR(t.angular_momentum.at(0).y, 5, 1e-12);
}

TEST_F(Refused, OrientationsThatAreNone) {
  const std::string head =
      "1\nLattice=\"5 0 0 0 5 0 0 0 5\" Properties=species:S:1:pos:R:3:orientation:R:4";
  const auto xyz = [&](const std::string& text) { return message(format_of_name("xyz"), text); };
  expect(xyz(head + "\nA 1 1 1 0 0 0 0\n"), "bad:3: the orientation is (0, 0, 0, 0)");
  expect(xyz(head + "\nA 1 1 1 0 0 1\n"), "bad:3: expected 8 columns, got 7");
  expect(xyz(head + ":moment_of_inertia:R:3\nA 1 1 1 0 0 1 1 1 -2 3\n"),
         "frame 0: the moments of inertia of particle 0 are (1, -2, 3)");
  Frame frame = sample(false, 3, 0);
  let_turn(frame.configuration);
  frame.configuration.angular_momentum.clear();
  frame.configuration.orientation[5] = {0, 0, 0, 0};
  const std::string name = file("zero.gsd");
  const auto writer = write_gsd(name, frame);
  writer->write(frame);
  writer->finish();
  try {
    open_frames(name, format_of_name("gsd"))->read(0);
    ADD_FAILURE();
  } catch (const UserError& error) {
    expect(error.what(), "zero.gsd, frame 0: the orientation of particle 5 is (0, 0, 0, 0)");
  }
}

/// A file in which particles turn in a later frame has orientations in all.
TEST_F(Refused, OrientationsOfAnyFrameOfGsd) {
  Frame first = sample(false, 3, 0), second = first;
  let_turn(second.configuration);
  const std::string name = file("late.gsd");
  const auto writer = write_gsd(name, first);
  writer->write(first);
  writer->write(second);
  writer->write(first);
  writer->finish();
  const auto reader = open_frames(name, format_of_name("gsd"));
  for (const int k : {0, 2}) {
    const auto c = reader->read(k).configuration;
    EXPECT_EQ(c.orientation, std::vector<Quaternion>(12));
    EXPECT_EQ(c.angular_momentum, std::vector<Vec3<double>>(12));
  }
  expect_near(second.configuration, reader->read(1).configuration, 2e-6);
  ReadOptions still;
  still.velocities = false;
  EXPECT_TRUE(reader->read(1, still).configuration.angular_momentum.empty());
}

TEST_F(Refused, Binary) {
  const std::string name = file("bad");
  std::ofstream(name) << std::string(300, 'x');
  for (const Format format : {format_of_name("gsd"), format_of_name("h5md")}) {
    try {
      open_frames(name, format);
      ADD_FAILURE();
    } catch (const UserError& error) {
      expect(error.what(), name);
    }
  }
}

TEST_F(Refused, FramesKeepWhatIsTheirOwn) {
  // Images, bonds and masses of frame 0 are not those of frame 1.
  Frame first = sample(false, 3, 0), second = sample(false, 3, 1);
  Configuration& c = second.configuration;
  c.image.clear(), c.charge.clear(), c.diameter.clear();
  first.configuration.diameter.assign(12, 2.0);
  c.topology = {};
  c.mass.assign(12, 7.0);
  std::swap(c.types[0], c.types[1]);
  for (auto& type : c.type) type = 1 - type;
  c.type[0] = 1 - c.type[0];
  for (const Format format : {format_of_name("gsd"), format_of_name("xyz")}) {
    const std::string name = file(format == format_of_name("gsd") ? "own.gsd" : "own.xyz");
    const auto writer = format->create(name, first, {});
    writer->write(first);
    writer->write(second);
    writer->finish();
    const auto read = open_frames(name, format)->read(1).configuration;
    for (Image image : read.image)
      for (int axis = 0; axis < 3; ++axis) EXPECT_EQ(image[axis], 0);
    for (std::size_t i = 0; i < 12; ++i)
      EXPECT_EQ(read.types[read.type[i]], c.types[c.type[i]]) << i;
    EXPECT_EQ(read.mass, c.mass);
    EXPECT_TRUE(read.topology.bonds.empty());
    for (const double charge : read.charge) EXPECT_EQ(charge, 0);
    for (const double d : read.diameter) EXPECT_EQ(d, 1);  // what GSD says of a missing one
  }
  // H5MD has them once per file.
  int k = 0;
  const auto h5md = [&](auto change) -> std::string {
    Frame other = first;
    other.configuration.step = 9;
    change(other.configuration);
    const auto writer = write_h5md(file("own" + std::to_string(k++) + ".h5"), first);
    writer->write(first);
    try {
      writer->write(other);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(h5md([](Configuration&) {}), "accepted");
  expect(h5md([](Configuration& o) { o.type[3] = 0; }), "types of particles are at step 9 not the");
  expect(h5md([](Configuration& o) { o.mass[3] = 8; }), "masses are");
  expect(h5md([](Configuration& o) { o.charge.clear(); }), "charges are");
  expect(h5md([](Configuration& o) { o.velocity.clear(); }), "velocities");
  expect(h5md([](Configuration& o) { o.topology.bonds.pop_back(); }),
         "bonds, angles, dihedrals or molecules");
  expect(h5md([](Configuration& o) { o.box.periodic[1] = false; }), "periodic axes");
}

/// Edges that point anywhere are turned, and all vectors with them: lengths, angles and places
/// among the edges stay.
TEST_F(Refused, NotEdgesThatPointAnywhere) {
  const std::string name = file("turned.xyz");
  std::ofstream(name)
      << "2\nLattice=\"0 5 0 0 3 6 7 1 0\" Origin=\"1 2 3\" Properties=species:S:1:"
         "pos:R:3:image:I:3:vel:R:3 pbc=\"T T T\"\nA 2 3 4 0 1 2 1 2 -3\nA 1.5 6 5 0 0 0 0 1 0\n";
  const auto c = open_frames(name, format_of_name("xyz"))->read(0).configuration;
  ASSERT_EQ(c.warnings.size(), 1u);
  expect(c.warnings[0], "the box is rotated");
  const Vec3<double> a{0, 5, 0}, b{0, 3, 6}, e{7, 1, 0}, origin{1, 2, 3};
  const auto edges = c.box.edges();
  const Vec3<double> theirs[3] = {a, b, e};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(dot(edges[i], edges[k]), dot(theirs[i], theirs[k]), 1e-12);
  EXPECT_EQ(c.box.origin, origin);
  const Vec3<double> places[2] = {{2, 3, 4}, {1.5, 6, 5}}, velocities[2] = {{1, 2, -3}, {0, 1, 0}};
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto at = c.position[i] - origin + double(c.image[i].x) * edges[0] +
                      double(c.image[i].y) * edges[1] + double(c.image[i].z) * edges[2];
      const auto there = places[i] - origin + (i == 0 ? b + 2.0 * e : Vec3<double>{});
      EXPECT_NEAR(dot(at, edges[k]), dot(there, theirs[k]), 1e-12) << i << k;
      EXPECT_NEAR(dot(c.velocity[i], edges[k]), dot(velocities[i], theirs[k]), 1e-12) << i << k;
    }
}

TEST_F(Refused, AxesThatTheJobOpens) {
  const std::string name = file("a.xyz");
  const auto write = [&](const char* rows) {
    std::ofstream(name)
        << "2\nLattice=\"5 0 0 0 5 0 0 0 5\" Properties=species:S:1:pos:R:3:image:I:3 "
           "pbc=\"T T T\"\n"
        << rows;
  };
  ReadOptions open_z;
  open_z.periodic = {true, true, false};
  const auto read = [&](const ReadOptions& options) -> std::string {
    try {
      open_frames(name, format_of_name("xyz"))->read(0, options);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  };
  write("A 1 1 1 0 0 0\nA 6 2 -1 0 0 0\n");
  EXPECT_EQ(read({}), "accepted");
  expect(read(open_z), "particle 1 lies outside of the box along z, which is not periodic");
  write("A 1 1 1 0 0 0\nA 6 2 2 0 0 2\n");
  expect(read(open_z), "particle 1 has the image 2 along z, which is not periodic");
  open_z.images = false;
  EXPECT_EQ(read(open_z), "accepted");
}

TEST_F(Refused, MomentaNeedMasses) {
  const std::string name = file("ase.xyz");
  const auto write = [&](const char* masses, const char* column) {
    std::ofstream(name)
        << "1\nLattice=\"5 0 0 0 5 0 0 0 5\" Properties=species:S:1:pos:R:3:momenta:"
           "R:3"
        << masses << "\nAr 1 1 1 4 -8 0" << column << "\n";
  };
  write(":masses:R:1", " 4");
  auto c = open_frames(name, format_of_name("xyz"))->read(0).configuration;
  EXPECT_EQ(c.velocity[0], (Vec3<double>{1, -2, 0}));
  write("", "");
  EXPECT_THROW(open_frames(name, format_of_name("xyz"))->read(0), UserError);
  ReadOptions options;
  options.masses = {{"Ar", 8}};
  c = open_frames(name, format_of_name("xyz"))->read(0, options).configuration;
  EXPECT_EQ(c.velocity[0], (Vec3<double>{0.5, -1, 0}));
  EXPECT_EQ(c.mass[0], 8);
  options.masses = {{"Kr", 8}};
  EXPECT_THROW(open_frames(name, format_of_name("xyz"))->read(0, options), UserError);
  options = {};
  options.velocities = false;
  EXPECT_TRUE(
      open_frames(name, format_of_name("xyz"))->read(0, options).configuration.velocity.empty());
}

TEST_F(Refused, ConvertSaysWhatIsLostAndKeepsUnits) {
  Frame frame = sample(false, 2, 1);
  frame.configuration.box.periodic = {true, false, true};
  frame.configuration.image.clear();
  frame.units = {"um", "ns", "um ns-1", "kg"};
  const std::string a = file("a.h5");
  {
    const auto writer = write_h5md(a, frame);
    writer->write(frame);
    writer->finish();
  }
  ConvertOptions options;
  options.in = a;
  options.out = file("b.h5");
  std::string warnings;
  options.warn = [&](const std::string& what) { warnings += what + "\n"; };
  convert(options);
  EXPECT_EQ(warnings, "");
  EXPECT_EQ(open_frames(options.out, format_of_name("h5md"))->read(0).units, frame.units);
  options.out = file("b.data");
  convert(options);
  expect(warnings, "dimension 2");
  expect(warnings, "boundary p f p");
  expect(warnings, "names of the units");
  warnings.clear();
  options.out = file("b.xyz");
  convert(options);
  expect(warnings, "bonds, angles and dihedrals are left out");
  const auto c = open_frames(options.out, format_of_name("xyz"))->read(0).configuration;
  EXPECT_FALSE(c.box.periodic[1]);
  EXPECT_EQ(c.box.dimension, 2);
  // A name of two words is no column.
  frame.configuration.types[0] = "A 1";
  EXPECT_THROW(format_of_name("xyz")->create(file("c.xyz"), frame, {})->write(frame), UserError);
  EXPECT_THROW(write_lammps_data(file("c.data"), frame)->write(frame), UserError);
}

/// A file of double precision gives one, or a warning, but in GSD only from GSD.
TEST_F(Refused, ConvertKeepsDoublePrecision) {
  Frame frame = sample(true, 3, 1);
  for (auto& r : frame.configuration.position) r += Vec3<double>{1e-9, 2e-9, 3e-9};
  for (auto& v : frame.configuration.velocity) v += Vec3<double>{1e-9, 2e-9, 3e-9};
  const auto make = [&](const char* name, const Format format, const WriteOptions& how) {
    const auto writer = format->create(file(name), frame, how);
    writer->write(frame);
    writer->finish();
  };
  const Format h5md = format_of_name("h5md"), gsd = format_of_name("gsd");
  WriteOptions positions;
  positions.fine = true;
  WriteOptions fine = positions;
  fine.fine_velocity = true;
  make("fine.h5", h5md, fine);
  make("fine.gsd", gsd, fine);
  make("positions.h5", h5md, positions);
  make("single.h5", h5md, {});
  make("all.xyz", format_of_name("xyz"), {});
  const auto check = [&](const std::string& in, const std::string& out, bool kept,
                         const std::string& said, const std::string& precision = "file") {
    SCOPED_TRACE(in + " " + out + " " + precision);
    ConvertOptions options;
    options.in = file(in), options.out = file(out);
    options.overwrite = true, options.precision = precision;
    std::string warnings;
    options.warn = [&](const std::string& what) { warnings += what + "\n"; };
    convert(options);
    EXPECT_EQ(warnings.find("single precision") != warnings.npos, !said.empty()) << warnings;
    expect(warnings, said.c_str());
    if (!out.ends_with("h5") && !out.ends_with("gsd")) return;
    const Frame back = open_frames(file(out), out.ends_with("h5") ? h5md : gsd)->read(0);
    EXPECT_EQ(back.fine, kept);
    const double near = kept ? 1e-14 : 1e-6;
    for (std::size_t i = 0; i < 12; ++i)
      for (int axis = 0; axis < 3; ++axis)
        EXPECT_NEAR(back.configuration.position[i][axis], frame.configuration.position[i][axis],
                    near);
    if (!back.fine_velocity) return;
    EXPECT_EQ(back.configuration.velocity, frame.configuration.velocity);
  };
  for (const char* in : {"fine.h5", "fine.gsd"}) {
    check(in, "out.h5", true, "");
    check(in, "out.h5", false, "", "single");
    check(in, "out.dcd", false, "positions are rounded to single precision");
    check(in, "out.xtc", false, "");
  }
  check("fine.h5", "out.gsd", false, "positions and velocities are rounded to single precision");
  check("positions.h5", "out.gsd", false, "positions are rounded to single precision");
  check("fine.h5", "out.gsd", true, "", "double");
  check("fine.gsd", "out.gsd", true, "");
  check("fine.gsd", "out.gsd", false, "", "single");
  check("positions.h5", "out.h5", true, "");
  check("single.h5", "out.h5", false, "");
  check("all.xyz", "out.h5", false, "");
  check("all.xyz", "out.h5", true, "", "double");
  frame.configuration.box.length *= 1e6;
  for (auto& r : frame.configuration.position) r *= 1e6;
  make("large.xyz", format_of_name("xyz"), {});
  ConvertOptions options;
  options.in = file("large.xyz"), options.out = file("large.h5");
  std::string warnings;
  options.warn = [&](const std::string& what) { warnings += what + "\n"; };
  convert(options);
  expect(warnings, "coordinates of up to");
}

TEST(FileUnits, Conversions) {
  EXPECT_EQ(convert_unit("Angstrom", "nm", ""), 0.1);
  EXPECT_EQ(convert_unit("Angstrom fs-1", "nm ps-1", ""), 100);
  EXPECT_DOUBLE_EQ(convert_unit("48.5 fs", "ps", ""), 0.0485);
  EXPECT_DOUBLE_EQ(convert_unit("kcal mol-1", "kJ mol-1", ""), 4.184);
  EXPECT_EQ(convert_unit("g mol-1", "u", ""), 1);
  for (const char* wrong : {"ps", "nm2", "furlong", "nm-", "nm1e3", "0", "nm nm-1"})
    EXPECT_THROW(convert_unit(wrong, "nm", "here"), UserError) << wrong;
  const Units units = make_units({"angstrom", "kcal/mol", "g/mol"});
  EXPECT_EQ(file_length(units).name, "Angstrom");
  EXPECT_EQ(file_time(units).name, "ps");
  EXPECT_NEAR(file_time(units).factor, 0.04888821291, 1e-11);  // AKMA
  EXPECT_EQ(file_velocity(units).name, "Angstrom ps-1");
  EXPECT_NEAR(file_velocity(units).factor, 1 / 0.04888821291, 1e-8);
  EXPECT_EQ(file_force(units).name, "kcal mol-1 Angstrom-1");
  const Units si = make_units({"m", "J", "kg"});
  EXPECT_EQ(file_length(si).factor, 1e9);
  EXPECT_EQ(file_time(si).factor, 1e12);
  EXPECT_EQ(file_velocity(si).factor, 1e-3);  // m/s in nm/ps
  EXPECT_EQ(file_force(si).name, "N");
  EXPECT_EQ(file_time(Units{}).name, "");
}

TEST_F(Refused, ConvertTellsFramesWithoutImages) {
  const std::string in = file("some.xyz");
  {
    std::ofstream out(in);
    for (const bool images : {true, false, true})
      out << "1\nLattice=\"5 0 0 0 5 0 0 0 5\" Properties=species:S:1:pos:R:3"
          << (images ? ":image:I:3\nA 1 1 1 2 0 0\n" : "\nA 1 1 1\n");
  }
  ConvertOptions options;
  options.in = in, options.out = file("path.xyz");
  options.unwrapped = true;
  std::string warnings;
  options.warn = [&](const std::string& what) { warnings += what + "\n"; };
  convert(options);
  expect(warnings, "some.xyz: 1 of 3 frames have no images");
  EXPECT_EQ(open_frames(options.out, format_of_name("xyz"))->read(2).configuration.image[0].x, 2);
}

TEST_F(Refused, ConvertThroughAllFormats) {
  Frame frame = sample(true, 3, 12);
  let_turn(frame.configuration);
  const std::string a = file("a.gsd");
  const auto writer = write_gsd(a, frame);
  writer->write(frame);
  writer->write(frame);
  writer->finish();
  std::string last = a;
  for (const char* extension : {".h5", ".xyz", ".gsd", ".data"}) {
    ConvertOptions options;
    options.in = last;
    options.out = file(std::string("b") + extension);
    EXPECT_EQ(convert(options), std::string(extension) == ".data" ? 1 : 2);
    EXPECT_THROW(convert(options), UserError);  // it exists now
    last = options.out;
  }
  expect_near(frame.configuration,
              open_frames(last, format_of_name("lammps"))->read(0).configuration, 4e-6);
}

TEST(Formats, WhatLeavesThePlaneIsTold) {
  Configuration c = sample(false, 2, 1).configuration;
  let_turn(c);
  io::check_frame(c, "a file");
  EXPECT_TRUE(c.warnings.empty());
  c.velocity[3].z = 0.5;
  c.angular_momentum[4].x = 0.5;
  io::check_frame(c, "a file");
  ASSERT_EQ(c.warnings.size(), 2u);
  EXPECT_NE(c.warnings[0].find("velocities along z"), std::string::npos);
  EXPECT_NE(c.warnings[1].find("angular momenta about x and y"), std::string::npos);
  EXPECT_EQ(c.velocity[3].z, 0);
}

// A bond of 4 in a box of 5: by the nearest image it is 1 long.
TEST(Formats, ImagesComeFromBondsWhereAFileKnowsNone) {
  Configuration c;
  c.box.length = {5, 5, 5};
  c.box.origin = {0, 0, 0};
  c.position = {{0.5, 1, 1}, {4.5, 1, 1}};
  c.type = {0, 0};
  c.types = {"A"};
  c.topology.bond_types = {"bond"};
  c.topology.bonds = {{0, 1, 0}};
  const auto image_of_second = [](Configuration read) {
    io::check_frame(read, "a file");
    return read.image.empty() ? 0 : read.image[1].x - read.image[0].x;
  };
  EXPECT_EQ(image_of_second(c), -1);
  Configuration zeros = c;
  zeros.image.assign(2, Image{});
  EXPECT_EQ(image_of_second(zeros), -1);
  zeros.image[0].y = zeros.image[1].y = 1;  // it knows images: the bond is 4 long
  EXPECT_EQ(image_of_second(zeros), 0);
  Configuration unwrapped = c;  // outside of the box: so does this one
  unwrapped.position[0].y = unwrapped.position[1].y = 6;
  EXPECT_EQ(image_of_second(unwrapped), 0);
  unwrapped.position[0].y = unwrapped.position[1].y = 5.2;  // not wrapped for some steps
  EXPECT_EQ(image_of_second(unwrapped), -1);
}

}  // namespace
}  // namespace perrin::io
