// Steps of the elements of H5MD files, and links that lead out of a file.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "engine/base/error.h"
#include "io/h5md_steps.h"
#include "io/hdf5_values.h"
#include "io/writer.h"

namespace perrin::io {
namespace {

namespace fs = std::filesystem;

class H5mdElements : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/perrin_steps_XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path() const { return folder_ / "steps.h5"; }
  /// A file is made, and read.
  void file(const std::function<void(const Node&)>& make,
            const std::function<void(const Node&)>& read) {
    fs::remove(path());
    writer().call([&] {
      File out = File::create(path());
      make(out.root());
      out.close();
      const File in = File::read(path());
      read(in.root());
    });
  }
  static void element(const Node& root, std::int64_t rows, const std::vector<std::int64_t>& step) {
    const Node group = root.make_group("velocity");
    group.write("value", std::vector<double>(std::size_t(rows)));
    group.write("step", step);
  }
  fs::path folder_;
};

using Rows = std::optional<std::int64_t>;

TEST_F(H5mdElements, StepsThatAreListed) {
  file(
      [](const Node& root) {
        element(root, 4, {3, 7, 7, 12});
      },
      [](const Node& root) {
        const H5mdSteps steps(root.open("velocity"));
        EXPECT_TRUE(steps.known());
        EXPECT_EQ(steps.rows(), 4);
        EXPECT_EQ(steps.at(3), 12);
        EXPECT_EQ(steps.row_of(7, 0), Rows(1));
        EXPECT_EQ(steps.row_of(7, 2), Rows(2));  // a frame of its own row
        EXPECT_EQ(steps.row_of(8, 2), Rows());
        EXPECT_EQ(steps.before(2), Rows());
        EXPECT_EQ(steps.before(3), Rows(0));
        EXPECT_EQ(steps.before(11), Rows(2));
        EXPECT_EQ(steps.before(100), Rows(3));
        EXPECT_THROW(steps.at(4), UserError);
      });
}

TEST_F(H5mdElements, StepsInAnyOrderAndTooFew) {
  file(
      [](const Node& root) {
        element(root, 5, {9, 3, 12});
      },
      [](const Node& root) {
        const H5mdSteps steps(root.open("velocity"));
        EXPECT_EQ(steps.row_of(3, 0), Rows(1));
        EXPECT_EQ(steps.before(10), Rows(0));
        EXPECT_EQ(steps.before(4), Rows(1));
        EXPECT_THROW(steps.at(3), UserError);
      });
}

TEST_F(H5mdElements, StepsAsIncrements) {
  for (const int offset : {0, 30}) {
    file(
        [&](const Node& root) {
          element(root, 4, {20});  // one number for several values
          if (offset != 0) root.open("velocity/step").attribute("offset", offset);
        },
        [&](const Node& root) {
          const H5mdSteps steps(root.open("velocity"));
          EXPECT_EQ(steps.at(3), 60 + offset);
          EXPECT_EQ(steps.row_of(40 + offset, 0), Rows(2));
          EXPECT_EQ(steps.row_of(50 + offset, 0), Rows());
          EXPECT_EQ(steps.row_of(80 + offset, 0), Rows());  // behind the last
          EXPECT_EQ(steps.before(offset - 1), Rows());
          EXPECT_EQ(steps.before(59 + offset), Rows(2));
          EXPECT_EQ(steps.before(1000), Rows(3));
        });
  }
  file([](const Node& root) { element(root, 4, {-20}); },
       [](const Node& root) { EXPECT_THROW(H5mdSteps(root.open("velocity")), UserError); });
}

TEST_F(H5mdElements, NothingIsReadOfOtherFiles) {
  const auto refused = [](const std::function<void()>& read) {
    try {
      read();
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  file(
      [](const Node& root) {
        root.write("mass", std::vector<double>{1, 2});
        H5Lcreate_external("other.h5", "/mass", root.id(), "there", H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_soft("/there", root.id(), "soft", H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_soft("/mass", root.id(), "inside", H5P_DEFAULT, H5P_DEFAULT);
        const Hid creation(H5Pcreate(H5P_DATASET_CREATE));
        const hsize_t shape[] = {2};
        const Hid space(H5Screate_simple(1, shape, nullptr));
        H5Pset_virtual(creation, space, "other.h5", "/mass", space);
        const Hid set(H5Dcreate2(root.id(), "virtual", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                 creation, H5P_DEFAULT));
      },
      [&](const Node& root) {
        EXPECT_EQ(read_reals(root.open("inside")), (std::vector<double>{1, 2}));
        for (const char* name : {"there", "soft"}) {
          const std::string part = std::string("/") + name + " is a link to another file";
          EXPECT_NE(refused([&] { root.has(name); }).find(part), std::string::npos);
          EXPECT_NE(refused([&] { root.open(name); }).find(part), std::string::npos);
        }
        const std::string found = refused([&] { root.open("virtual"); });
        EXPECT_NE(found.find("/virtual: its values are in other files"), std::string::npos)
            << found;
      });
}

TEST_F(H5mdElements, TextsOfOneLengthAndWithoutDimensions) {
  file(
      [](const Node& root) {
        root.write_text("empty", "");
        root.write_texts("names", {3}, {"A", "Bead µ", ""});
        const Hid type(H5Tcopy(H5T_C_S1));
        H5Tset_size(type, H5T_VARIABLE);
        const char* text = "of variable length";
        root.write("scalar", type, {}, &text);
      },
      [](const Node& root) {
        EXPECT_EQ(root.open("empty").read_text(), "");
        EXPECT_EQ(read_names(root.open("names")), (std::vector<std::string>{"A", "Bead µ", ""}));
        EXPECT_EQ(read_names(root.open("scalar")),
                  (std::vector<std::string>{"of variable length"}));
      });
}

}  // namespace
}  // namespace perrin::io
