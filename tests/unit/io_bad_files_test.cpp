// Files of others that are wrong: one error with file, place and value, and no more memory than the
// file is worth. Small ones are the seeds of the fuzzers (tests/fuzz/corpus).
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "engine/base/error.h"
#include "io/formats.h"
#include "io/hdf5.h"
#include "io/writer.h"
#include "tests/three_particles.h"

namespace perrin::io {
namespace {

namespace fs = std::filesystem;

std::string message(const std::string& path, Format format) {
  try {
    const auto reader = open_frames(path, format);
    for (std::int64_t k = 0; k < reader->frames(); ++k) reader->read(k);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_part(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << "\"" << message << "\" lacks " << part;
}

struct Case {
  const char *file, *expected;
};

void check(const char* folder, Format format, std::initializer_list<Case> cases) {
  for (const auto& [file, expected] : cases) {
    const std::string path =
        std::string(PERRIN_SOURCE_DIR) + "/tests/fuzz/corpus/" + folder + "/" + file;
    ASSERT_TRUE(fs::exists(path)) << path;
    const std::string found = message(path, format);
    expect_part(found, expected);
    if (found != "accepted") expect_part(found, file);
  }
}

TEST(BadFiles, Gsd) {
  check("gsd", format_of_name("gsd"),
        {{"ok.gsd", "accepted"},
         {"bond_missing.gsd", "bond 0 names particle 7, expected 0 to 1"},
         {"bond_twice.gsd", "a bond of particles 0, 1 occurs twice"},
         {"changing_n.gsd", "accepted"},
         {"image_ovf.gsd", "image"},
         {"nan_charge.gsd", "charge of particle"},
         {"nan_diameter.gsd", "diameter of particle"},
         {"types_cols0.gsd", "frame 0, particles/types: "},
         {"types_float.gsd", "particles/types: numbers, expected text"},
         {"types_huge.gsd", "frame 0, particles/types: "},
         {"types_rows_overflow.gsd", "frame 0, particles/types: "}});
}

TEST(BadFiles, LammpsData) {
  check("lammps", format_of_name("lammps"),
        {{"good.data", "accepted"},
         {"atoms_twice.data", "the section \"Atoms\" occurs twice"},
         {"bonds_missing.data", "no section \"Bonds\": expected 2 bonds"},
         {"dup_bond.data", "accepted"},
         {"img_big.data", "expected an image flag (-2147483648 to 2147483647), got"},
         {"mol_big.data", "expected a molecule's id (0 to 4294967295), got 99999999999"},
         {"no_xlo.data", "the header has no line \"xlo xhi\""},
         {"vel_between.data", ": "}});
}

TEST(BadFiles, LammpsDump) {
  check("lammpsdump", format_of_name("lammpsdump"),
        {{"good.dump", "accepted"},
         {"everything.dump", "accepted"},
         {"tilted.dump", "accepted"},
         {"edges.dump", "accepted"},
         {"unwrapped.dump", "accepted"},
         {"shrunk.dump", "accepted"},
         {"id_twice.dump", ":11: the frame that ends here contains the particle id 1 twice"},
         {"rows_missing.dump", ":11: the file ends here, expected row 3 of 1000000000"},
         {"ids_change.dump", "other particle ids than the frame read before"},
         {"nan.dump", ":10: expected a coordinate (a finite number), got nan"},
         {"image_ovf.dump", "image x of particle 0 is 2147483648"},
         {"bounds_tilt.dump", "the bounds along x are narrower than the tilts"},
         {"mol_big.dump", "leaves no numbers for the particles that belong to none"},
         {"entries.dump", "ITEM: NUMBER OF ENTRIES is not read"}});
}

TEST(BadFiles, Dcd) {
  check("dcd", format_of_name("dcd"),
        {{"good.dcd", "accepted"},
         {"big_endian.dcd", "accepted"},
         {"long_markers.dcd", "accepted"},
         {"cosines.dcd", "accepted"},
         {"degrees.dcd", "accepted"},
         {"matrix.dcd", "accepted"},
         {"delta_nan.dcd", "accepted"},
         {"no_cell.dcd", "has no box: set"},
         {"xplor.dcd", "has no box: set"},
         {"cell_zero.dcd", "has no box: set"},
         {"cell_none.dcd", "no box has these"},
         {"cell_nan.dcd", "frame 0"},
         {"fixed.dcd", "files of fixed particles"},
         {"x_nan.dcd", "coordinate x of particle 0 is nan"},
         {"x_huge.dcd", "boxes away along x"},
         {"n_huge.dcd", "the file ends within frame 0"},
         {"cut.dcd", "the file ends within frame 1"}});
}

TEST(BadFiles, ExtendedXyz) {
  check("xyz", format_of_name("xyz"),
        {{"good.xyz", "accepted"},
         {"box_zero.xyz", "box length x is 0"},
         {"image_ovf.xyz", "image x of particle 0 is 2147483648"},
         {"molecule_neg.xyz", ":3: expected a molecule (0 to 4294967295), got -1"},
         {"pbc_bad.xyz", ":2: expected pbc="},
         {"tilt_nan.xyz", "boxes away along"}});
}

/// A good H5MD file, and what is done to it.
class BadH5md : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/perrin_bad_XXXXXX";
    folder_ = ::mkdtemp(name);
    Frame frame;
    frame.configuration = three_particles();
    const auto out = write_h5md(path(), frame);
    out->write(frame);
    out->finish();
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path() const { return folder_ / "bad.h5"; }

  /// Puts another dataset in the place of one, or nothing (n < 0).
  template <class T>
  void put(const std::string& name, const Shape& shape, const std::vector<T>& data,
           hid_t type = hdf5_type<T>(), bool chunked = false) {
    writer().call([&] {
      File file = File::modify(path());
      replace(file.root().id(), name, shape, data.data(), data.size(), type, chunked);
      file.close();
    });
  }
  static void replace(hid_t root, const std::string& name, const Shape& shape, const void* data,
                      std::size_t values, hid_t type, bool chunked) {
    H5Ldelete(root, name.c_str(), H5P_DEFAULT);
    const Hid space(shape.empty() ? H5Screate(H5S_SCALAR)
                                  : H5Screate_simple(int(shape.size()), shape.data(), nullptr));
    const Hid creation(H5Pcreate(H5P_DATASET_CREATE));
    if (chunked) {
      const Shape chunk(shape.size(), 1);
      H5Pset_chunk(creation, int(chunk.size()), chunk.data());
    }
    const Hid set(H5Dcreate2(root, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    ASSERT_GE(set, 0) << name;
    if (values > 0) {
      ASSERT_GE(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), 0);
    }
  }
  void change(const std::function<void(const Node&)>& what) {
    writer().call([&] {
      File file = File::modify(path());
      what(file.root());
      file.close();
    });
  }
  void expect(const std::string& part) {
    const std::string found = message(path(), format_of_name("h5md"));
    expect_part(found, part);
    if (part != "accepted") expect_part(found, path());
    TearDown(), SetUp();
  }
  fs::path folder_;
};

TEST_F(BadH5md, NumbersThatDoNotFit) {
  expect("accepted");
  put<std::int64_t>("connectivity/bonds", {2, 2}, {0, 1, 0, (1LL << 32) + 1});
  expect("/connectivity/bonds: names particle 4294967297, which is not among the ids");
  put<double>("connectivity/bonds", {1, 2}, {0.5, 1});
  expect("/connectivity/bonds: floating-point numbers, expected integers");
  put<std::int32_t>("parameters/perrin/bonds_type", {2}, {-1, 0});
  expect("bonds_type: the value -1");
  put<std::uint32_t>("parameters/perrin/bonds_type", {2}, {1, 0});
  expect("bonds_type: type 1, expected 0 to 0");
  put<std::uint64_t>("particles/all/species", {3}, {0, 1, std::uint64_t(1) << 63});
  expect("/particles/all/species: the value 9223372036854775808");
  put<double>("particles/all/charge", {3}, {1, std::nan(""), 1});
  expect("charge of particle 1 is nan");
  put<std::int32_t>("particles/all/id", {3}, {2, 2, 1});
  expect("/particles/all/id: the id 2 occurs twice");
  put<std::int64_t>("particles/all/position/step", {1, 3}, {0, 0, 0});
  expect("/particles/all/position/step: the shape [1][3], expected one per frame");
  put<std::int64_t>("particles/all/position/step", {0}, {});
  expect("/particles/all/position: has 1 values and 0 steps, frame 0 is wanted");
  put<std::int32_t>("parameters/perrin/dimension", {0}, {});
  expect("/parameters/perrin/dimension: 0 values, expected one");
}

TEST_F(BadH5md, NamesAndKinds) {
  const Hid four(H5Tcopy(H5T_C_S1));
  H5Tset_size(four, 4);
  put<char>("parameters/perrin/type_names", {2}, {0, 0, 0, 0, 'B', 0, 0, 0}, four);
  expect("the name of type 0 is empty");
  put<char>("parameters/perrin/type_names", {2}, {'B', 0, 0, 0, 'B', 0, 0, 0}, four);
  expect("two types have the name \"B\"");
  put<char>("parameters/perrin/type_names", {2}, {'C', '\n', 'D', 0, 'B', 0, 0, 0}, four);
  expect("the name of type 0 is not plain text");
  put<char>("parameters/perrin/type_names", {hsize_t(1) << 40}, {}, four);
  expect("/parameters/perrin/type_names: the shape [1099511627776] is larger than");
  change([](const Node& root) {
    H5Ldelete(root.id(), "parameters/perrin/dimension", H5P_DEFAULT);
    root.make_group("parameters/perrin/dimension");
  });
  expect("/parameters/perrin/dimension: is not a dataset");
  change([](const Node& root) {
    const Node box = root.open("particles/all/box");
    H5Adelete(box.id(), "boundary");
    box.attribute("boundary", std::vector<std::int32_t>{1, 1, 1});
  });
  expect("/particles/all/box: its attribute boundary is not text");
  change([](const Node& root) {
    H5Ldelete(root.id(), "particles/all/box/edges", H5P_DEFAULT);
    H5Lcreate_soft("/particles/all/box/edges", root.id(), "particles/all/box/edges", H5P_DEFAULT,
                   H5P_DEFAULT);
  });
  expect("edges");
}

TEST_F(BadH5md, DeclaredShapesLargerThanTheFile) {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  put<float>("particles/all/position/value", {1, hsize_t(1) << 32, 3}, {}, H5T_NATIVE_FLOAT, true);
  expect("is larger than what the file stores of it");
  put<float>("particles/all/position/value", {1, hsize_t(1) << 62, 3}, {}, H5T_NATIVE_FLOAT, true);
  expect("is larger than what the file stores of it");
  put<double>("particles/all/charge", {hsize_t(1) << 40}, {});
  expect("/particles/all/charge: the shape [1099511627776] is larger than");
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024);  // KiB
}

TEST_F(BadH5md, ForeignOrdersAndCadences) {
  // Particles in any order with their ids beside, which bonds name.
  put<std::int32_t>("particles/all/id", {3}, {30, 10, 20});
  put<std::int32_t>("connectivity/bonds", {2, 2}, {30, 10, 10, 20});
  auto c = open_frames(path(), format_of_name("h5md"))->read(0).configuration;
  EXPECT_FLOAT_EQ(float(c.position[0].x), 2);
  EXPECT_FLOAT_EQ(float(c.position[2].x), 1);
  EXPECT_EQ(c.diameter[0], 2);
  EXPECT_EQ(c.topology.bonds[0].a, 2u);
  EXPECT_EQ(c.topology.bonds[0].b, 0u);
  // Velocities of other steps are not taken for these.
  change([](const Node& root) {
    H5Ldelete(root.id(), "particles/all/velocity/step", H5P_DEFAULT);
    root.write("particles/all/velocity/step", std::vector<std::int64_t>{5});
  });
  const auto frame = open_frames(path(), format_of_name("h5md"))->read(0);
  EXPECT_TRUE(frame.configuration.velocity.empty());
  expect_part(frame.no_velocities, "/particles/all/velocity has no value at step 0");
  // Steps as an increment and an offset.
  put<std::int64_t>("particles/all/position/step", {}, {10});
  change([](const Node& root) {
    root.open("particles/all/position/step").attribute("offset", std::int32_t(3));
  });
  EXPECT_EQ(open_frames(path(), format_of_name("h5md"))->read(0).configuration.step, 3);
}

}  // namespace
}  // namespace perrin::io
