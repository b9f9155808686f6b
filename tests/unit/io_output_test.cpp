// Output files: killed writers, full disks, resumed runs, and what the observers put into them.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "engine/base/error.h"
#include "engine/components/registry.h"
#include "engine/components/run_control.h"
#include "engine/dynamics/observation.h"
#include "engine/dynamics/simulation.h"
#include "integrators/register.h"
#include "io/checkpoint.h"
#include "io/checksum.h"
#include "io/formats.h"
#include "io/h5md_file.h"
#include "io/journal.h"
#include "io/new_file.h"
#include "io/register.h"
#include "io/seal.h"
#include "io/writer.h"
#include "tests/devices.h"

namespace perrin {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    char name[] = "/tmp/perrin_io_XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return path / name; }
  fs::path path;
};

Configuration gas(int n) {
  Configuration c;
  c.box.length = {10, 11, 12};
  c.box.origin = {-5, -5.5, -6};
  c.types = {"A", "B"};
  for (int i = 0; i < n; ++i) {
    c.position.push_back(
        c.box.point(Vec3<double>{(i + 0.5) / n, (3 * i % n + 0.25) / n, (7 * i % n + 0.5) / n}));
    c.velocity.push_back({1.0 + 0.01 * i, -0.5, 2.0});
    c.type.push_back(std::uint32_t(i % 2));
    c.mass.push_back(i % 2 == 0 ? 1.0 : 2.0);
  }
  c.topology.bond_types = {"spring"};
  c.topology.bonds = {{0, 1, 0}, {1, 2, 0}};
  return c;
}

io::H5mdFrame frame_of(std::int64_t k, std::size_t n) {
  io::H5mdFrame frame;
  frame.step = 100 * k;
  frame.time = 0.5 * double(k);
  frame.set_box(gas(1).box);
  std::vector<float> position, velocity;
  for (std::size_t i = 0; i < 3 * n; ++i) {
    position.push_back(float(double(i % 7) + 1e-3 * double(k % 1000)));
    velocity.push_back(float(k) - float(i));
  }
  frame.position = std::move(position);
  frame.velocity = std::move(velocity);
  frame.image = std::vector<std::int32_t>(3 * n, std::int32_t(k));
  return frame;
}

void make_file(const std::string& path, const Configuration& c, bool deflate = false) {
  io::H5mdLayout layout;
  layout.velocity = true;
  if (deflate) layout.packing.filter = io::Packing::Filter::deflate;
  io::writer().call([&] { io::H5mdWriter::create(path, c, layout, {}, {}, false); });
}

template <class T>
std::vector<T> list(const io::FrameArray<T>& values) {
  return {values.begin(), values.end()};
}

/// How many frames the file has, all of them compared with frame_of.
std::int64_t check_frames(const std::string& path, std::size_t n) {
  return io::writer().get([&] {
    const io::File file = io::File::read(path);
    const io::Node all = file.root().open("particles/all");
    const auto position = all.open("position/value"), velocity = all.open("velocity/value"),
               image = all.open("image/value");
    const auto frames = std::int64_t(position.shape()[0]);
    const auto step = all.open("position/step").read<std::int64_t>();
    for (std::int64_t k = 0; k < frames; ++k) {
      const io::H5mdFrame expected = frame_of(k, n);
      EXPECT_EQ(step.at(std::size_t(k)), expected.step);
      EXPECT_EQ(position.read_row<float>(k), list(expected.position)) << path << " frame " << k;
      EXPECT_EQ(velocity.read_row<float>(k), list(expected.velocity)) << path << " frame " << k;
      EXPECT_EQ(image.read_row<std::int32_t>(k), list(expected.image)) << path << " frame " << k;
    }
    return frames;
  });
}

/// A long text that is known by its frame.
std::string neighbors_of(std::int64_t k) {
  std::string text;
  while (text.size() < 900) text += fmt::format("clusters, skin {}; ", k);
  return text;
}

TEST(Killed, FilesOpenAndHoldEveryFlushedFrame) {
  const Folder folder;
  constexpr std::size_t n = 150;
  auto* done = static_cast<volatile std::int64_t*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::mt19937 random(2026);
  for (int round = 0; round < 30; ++round) {
    const std::string path = folder.file("killed" + std::to_string(round) + ".h5");
    *done = 0;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // The thread of the writer did not come along: HDF5 is called right here.
      io::H5mdLayout layout;
      layout.velocity = true;
      if (round % 2) layout.packing.filter = io::Packing::Filter::deflate;
      io::H5mdWriter::create(path, gas(int(n)), layout, {}, {}, false);
      io::H5mdWriter writer(path);
      for (std::int64_t k = 0;; ++k) {
        writer.append(frame_of(k, n));
        writer.write_neighbors(neighbors_of(k));
        *done = k + 1;
      }
    }
    while (*done < 1) ::usleep(100);
    ::usleep(random() % 40000);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const std::int64_t flushed = *done, found = check_frames(path, n);
    EXPECT_GE(found, flushed);
    EXPECT_LE(found, flushed + 1);
    const std::string neighbors = io::writer().get([&] {
      return io::File::read(path).root().open("parameters/perrin/neighbors").read_text();
    });
    EXPECT_TRUE(neighbors == neighbors_of(flushed - 1) || neighbors == neighbors_of(flushed))
        << neighbors << flushed;
    // And it can be continued.
    io::writer().call([&] {
      io::H5mdWriter::trim(path, JobRecord{}, flushed, 100 * (flushed - 1));
      io::H5mdWriter again(path);
      for (std::int64_t k = flushed; k < flushed + 3; ++k) again.append(frame_of(k, n));
      again.close();
    });
    EXPECT_EQ(check_frames(path, n), flushed + 3);
    if (round % 10 == 0) {
      EXPECT_EQ(std::system(("h5dump -H " + path + " > /dev/null").c_str()), 0);
    }
  }
}

TEST(FullDisk, NamesTheFileAndKeepsTheFrames) {
  const Folder folder;
  if (::mount("perrin", folder.path.c_str(), "tmpfs", 0, "size=2m") != 0)
    GTEST_SKIP() << "cannot mount a small tmpfs here (needs root)";
  constexpr std::size_t n = 2000;
  const std::string path = folder.file("full.h5");
  std::int64_t pushed = 0;
  std::string message;
  {
    make_file(path, gas(int(n)));
    auto file = std::make_shared<io::H5mdWriter*>(nullptr);
    std::unique_ptr<io::H5mdWriter> owner;
    io::writer().call([&] { owner = std::make_unique<io::H5mdWriter>(path); });
    try {
      for (; pushed < 200; ++pushed) {
        io::writer().push([&owner, k = pushed] { owner->append(frame_of(k, n)); });
        io::writer().flush_and_wait();
      }
    } catch (const RunError& error) {
      message = error.what();
    }
    io::writer().call([&] { owner.reset(); });
  }
  EXPECT_NE(message.find(path), std::string::npos) << message;
  EXPECT_NE(message.find("No space left"), std::string::npos) << message;
  EXPECT_GT(pushed, 5);
  EXPECT_EQ(check_frames(path, n), pushed);
  // A checkpoint for which there is no room leaves the one before it alone.
  Checkpoint checkpoint;
  checkpoint.job = std::string(1000, 'j');
  checkpoint.records["big"] = {"bytes", 1, std::vector<std::byte>(4 << 20)};
  EXPECT_THROW(write_checkpoint(folder.file("checkpoint.h5"), checkpoint), RunError);
  EXPECT_FALSE(fs::exists(folder.file("checkpoint.h5.part")));
  ::umount(folder.path.c_str());
}

TEST(Resume, TrimsOrRefuses) {
  const Folder folder;
  const std::string path = folder.file("t.h5");
  make_file(path, gas(10));
  EXPECT_THROW(make_file(path, gas(10)), UserError);  // never over an existing file
  io::writer().call([&] {
    io::H5mdWriter writer(path);
    for (std::int64_t k = 0; k < 9; ++k) writer.append(frame_of(k, 10));
  });
  io::writer().call([&] { io::H5mdWriter::trim(path, JobRecord{}, 4, 300); });
  EXPECT_EQ(check_frames(path, 10), 4);
  EXPECT_THROW(io::writer().call([&] { io::H5mdWriter::trim(path, JobRecord{}, 5, 400); }),
               UserError);
  EXPECT_THROW(io::writer().call([&] { io::H5mdWriter::trim(path, JobRecord{}, 4, 301); }),
               UserError);
  EXPECT_THROW(
      io::writer().call([&] { io::H5mdWriter::trim(folder.file("no.h5"), JobRecord{}, 1, 0); }),
      UserError);
}

TEST(CheckpointFile, KeepsThePreviousOne) {
  const Folder folder;
  const std::string path = folder.file("checkpoint.h5");
  struct Odd {
    char bytes[5];
  };
  for (std::int64_t k = 0; k < 3; ++k) {
    Archive archive = Archive::saving();
    std::vector<double> values{1.5, -2.5, double(k)};
    std::vector<Odd> odd(3, Odd{{'a', 'b', 'c', 'd', char('0' + k)}});
    std::vector<float> none;
    std::string text = "stream";
    std::uint64_t big = ~std::uint64_t(0) - std::uint64_t(k);
    {
      Archive::Scope scope(archive, "thermostat");
      archive("values", values);
      archive("odd", odd);
      archive("none", none);
    }
    archive("text", text);
    archive("big", big);
    write_checkpoint(
        path,
        {"{\"k\": " + std::to_string(k) + "}", "0.1", {{"device", "cpu"}}, archive.records()});
  }
  for (const std::int64_t k : {1, 2}) {
    Checkpoint c = read_checkpoint(k == 2 ? fs::path(path) : previous_checkpoint(path));
    EXPECT_EQ(c.job, "{\"k\": " + std::to_string(k) + "}");
    EXPECT_EQ(c.facts["device"], "cpu");
    Archive archive = Archive::restoring(c.records);
    std::vector<double> values;
    std::vector<Odd> odd;
    std::vector<float> none(4), wrong;
    std::string text;
    std::uint64_t big = 0;
    {
      Archive::Scope scope(archive, "thermostat");
      archive("values", values);
      archive("odd", odd);
      archive("none", none);
      EXPECT_THROW(archive("values", wrong), UserError);
      EXPECT_THROW(archive("missing", wrong), UserError);
    }
    archive("text", text);
    archive("big", big);
    EXPECT_EQ(values, (std::vector<double>{1.5, -2.5, double(k)}));
    EXPECT_EQ(odd.at(2).bytes[4], char('0' + k));
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(text, "stream");
    EXPECT_EQ(big, ~std::uint64_t(0) - std::uint64_t(k));
  }
  EXPECT_THROW(read_checkpoint(folder.file("none.h5")), UserError);
  make_file(folder.file("t.h5"), gas(4));
  EXPECT_THROW(read_checkpoint(folder.file("t.h5")), UserError);
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void replace(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

TEST(Seal, IsXxh64AndNoticesEveryChange) {
  const auto hash = [](const std::string& text) { return io::xxh64(text.data(), text.size()); };
  // Of the reference implementation.
  EXPECT_EQ(hash(""), 0xef46db3751d8e999u);
  EXPECT_EQ(hash("a"), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(hash("abc"), 0x44bc2cf5ad770999u);
  EXPECT_EQ(hash("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1u);
  const Folder folder;
  const std::string path = folder.file("sealed");
  for (const std::size_t size : {0, 1, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 7}) {
    replace(path, std::string(size, 'x'));
    EXPECT_NE(io::broken_seal(path), "") << size;
    io::seal(path);
    EXPECT_EQ(io::broken_seal(path), "") << size;
    const std::string good = contents(path);
    for (const std::size_t at : {std::size_t(0), size / 2, size, size + 9, size + 31}) {
      std::string bad = good;
      bad[at] ^= 4;
      replace(path, bad);
      EXPECT_NE(io::broken_seal(path), "") << size << " changed at " << at;
    }
    replace(path, good.substr(0, good.size() - 1));
    EXPECT_NE(io::broken_seal(path), "");
    replace(path, good + "x");
    EXPECT_NE(io::broken_seal(path), "");
    replace(path, good.substr(size > 0 ? 1 : 0));
    EXPECT_EQ(io::broken_seal(path) == "", size == 0);
  }
}

TEST(Journal, ChangesHappenAsAWholeOrNotAtAll) {
  const Folder folder;
  const std::string path = folder.file("t.h5");
  make_file(path, gas(10));
  io::writer().call([&] {
    io::H5mdWriter writer(path);
    for (std::int64_t k = 0; k < 9; ++k) writer.append(frame_of(k, 10));
  });
  const std::string before = contents(path);
  io::writer().call([&] {  // given up
    io::File file = io::File::modify(path);
    io::Series::open(file.root(), "particles/all/position/step", H5T_NATIVE_INT64).truncate(2);
  });
  EXPECT_EQ(contents(path), before);
  io::writer().call([&] { io::H5mdWriter::trim(path, JobRecord{}, 4, 300); });
  const std::string after = contents(path);
  EXPECT_EQ(check_frames(path, 10), 4);
  EXPECT_FALSE(fs::exists(path + ".journal"));
  // Killed after the journal was written, with the file in any state between the two.
  io::FileChanges changes;
  changes.size = after.size();
  for (std::size_t at = 0; at < after.size(); at += io::FileChanges::page)
    std::memcpy(changes.pages[at / io::FileChanges::page].data(), after.data() + at,
                std::min(io::FileChanges::page, after.size() - at));
  const std::string other = folder.file("other");
  replace(other, before);
  io::make_changes(other, changes);
  EXPECT_EQ(contents(other), after);
  for (const std::size_t half : {std::size_t(0), after.size() / 2}) {
    fs::remove(path);
    fs::create_directory(path);  // no file: the changes cannot be made, their journal stays
    EXPECT_THROW(io::make_changes(path, changes), RunError);
    ASSERT_TRUE(fs::exists(path + ".journal"));
    fs::remove(path);
    replace(path, after.substr(0, half) + before.substr(half));
    io::writer().call([&] { io::H5mdWriter{path}; });
    EXPECT_EQ(check_frames(path, 10), 4);
    EXPECT_FALSE(fs::exists(path + ".journal"));
  }
  // A journal of a file that is replaced is not carried out on the new one.
  replace(path + ".journal", "of another file");
  fs::remove(path);
  make_file(path, gas(10));
  EXPECT_FALSE(fs::exists(path + ".journal"));
}

/// What a file says of stages waits, while others are open in its place, for the next frame or the
/// end: thousands of stages would open each file again.
TEST(OutputFiles, AreNotOpenedForStagesAlone) {
  const Folder folder;
  JobRecord record;
  record.stages = {"first", "second"};
  const auto path = [&](std::size_t k) { return folder.file(fmt::format("{}.h5", k)); };
  const std::string stages = "parameters/perrin/stages/";
  const auto steps = [&](std::size_t k) {
    return io::File::read(path(k)).root().open(stages + "step").read<std::int64_t>();
  };
  const auto remarks = [&](std::size_t k) {
    return io::File::read(path(k)).root().open(stages + "remark").read_texts();
  };
  using Steps = std::vector<std::int64_t>;
  using Texts = std::vector<std::string>;
  io::writer().call([&] {
    std::vector<std::unique_ptr<io::H5mdWriter>> files;
    io::H5mdLayout layout;
    layout.velocity = true;
    for (std::size_t k = 0; k <= io::OpenWhenUsed::most; ++k) {
      io::H5mdWriter::create(path(k), gas(10), layout, record, {}, false);
      files.push_back(std::make_unique<io::H5mdWriter>(path(k)));  // the first one is closed then
    }
    for (const auto& file : files) {
      file->write_stage(2, 0, 0, "slow");
      file->write_stage(2, 1, -1, "");
      file->write_neighbors("clusters");
    }
    EXPECT_EQ(steps(0), (Steps{-1, -1}));
    EXPECT_EQ(steps(1), (Steps{0, -1}));
    EXPECT_EQ(remarks(1), (Texts{"slow", ""}));
    files[0]->append(frame_of(0, 10));  // closes the second one
    EXPECT_EQ(steps(0), (Steps{0, -1}));
    EXPECT_EQ(remarks(0), (Texts{"slow", ""}));
    for (const std::size_t k : {0, 1}) files[k]->write_stage(2, 1, 7, "late");
    EXPECT_EQ(steps(0), (Steps{0, 7}));
    EXPECT_EQ(steps(1), (Steps{0, -1}));
  });
  EXPECT_EQ(check_frames(path(0), 10), 1);
  io::writer().call([&] {
    for (const std::size_t k : {0, 1}) {
      EXPECT_EQ(steps(k), (Steps{0, 7}));
      EXPECT_EQ(remarks(k), (Texts{"slow", "late"}));
    }
    EXPECT_EQ(io::File::read(path(1)).root().open("parameters/perrin/neighbors").read_text(),
              "clusters");
    // A file of one more run, which says the same stage otherwise.
    io::H5mdWriter again(path(1));
    again.write_stage(2, 0, 0, "");
    again.write_stage(2, 1, -1, "");
    EXPECT_EQ(steps(1), (Steps{0, -1}));
    EXPECT_EQ(remarks(1), (Texts{"", ""}));
  });
}

TEST(OutputFiles, ThatLoseTheirNameAreNoticed) {
  const Folder folder;
  for (const bool replaced : {false, true}) {
    const std::string path = folder.file("t.h5");
    make_file(path, gas(10));
    auto writer = io::writer().get([&] { return std::make_unique<io::H5mdWriter>(path); });
    EXPECT_NO_THROW(io::writer().flush_and_wait());
    fs::remove(path);
    if (replaced) make_file(path, gas(10));
    EXPECT_THROW(io::writer().flush_and_wait(), RunError);
    io::writer().call([&] { writer.reset(); });
    EXPECT_THROW(io::check_output_files(), RunError);  // what its destructor could not say
    EXPECT_NO_THROW(io::check_output_files());
    fs::remove(path);
  }
}

TEST(NewFile, ReplacesRegularFilesOnlyAndLeavesNoneThatFailed) {
  const Folder folder;
  const std::string path = folder.file("new");
  const auto make = [&](bool overwrite) {
    io::NewFile place(path);
    replace(place.aside(), "new");
    place.put_in_place(overwrite);
  };
  make(false);
  EXPECT_THROW(make(false), UserError);
  EXPECT_NO_THROW(make(true));
  fs::remove(path);
  fs::create_symlink("/dev/null", path);
  EXPECT_THROW(make(true), UserError);
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_THROW(make(true), UserError);
  fs::remove(path);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()), 0);
}

TEST(ReadErrors, AreNotAbsent) {
  const Folder folder;
  const std::string path = folder.file("t.h5");
  make_file(path, gas(200));
  const std::string good = contents(path);
  io::writer().call([&] {
    const io::File file = io::File::read(path);
    EXPECT_TRUE(file.root().has("particles/all/velocity/value"));
    EXPECT_FALSE(file.root().has("particles/all/force/value"));
    EXPECT_FALSE(file.root().has("particles/all/species/value"));  // below a dataset
  });
  // Wherever a page is destroyed: what was there is found, or not readable; never merely gone.
  int unreadable = 0;
  for (std::size_t at = 4096; at < good.size(); at += 4096) {
    replace(path, good.substr(0, at) +
                      std::string(std::min<std::size_t>(4096, good.size() - at), 7) +
                      good.substr(std::min(good.size(), at + 4096)));
    try {
      EXPECT_TRUE(io::writer().get([&] {
        return io::File::read(path).root().has("particles/all/velocity/value");
      })) << at;
    } catch (const UserError&) {
      ++unreadable;
    }
  }
  EXPECT_GT(unreadable, 0);
}

/// 141 frames, every five steps of 0.05.
void expect_free_flight(const std::string& path, const Configuration& c) {
  const auto reader = io::open_frames(path, io::format_of_name("h5md"));
  ASSERT_EQ(reader->frames(), 141);
  for (std::int64_t k = 0; k < 141; ++k) {
    const io::Frame frame = reader->read(k);
    EXPECT_EQ(frame.configuration.step, 5 * k);
    EXPECT_NEAR(frame.time, 0.25 * double(k), 1e-9);
    // Free flight, unwrapped by the images. Fixed-point steps of 2^-32 of the box, float
    // velocities: 1e-6 relative over a path of 70; float positions 1e-6.
    for (std::size_t i = 0; i < 40; i += 13)
      for (int axis = 0; axis < 3; ++axis) {
        const double travelled = frame.configuration.position[i][axis] +
                                 frame.configuration.image[i][axis] * c.box.length[axis];
        const double expected = c.position[i][axis] + c.velocity[i][axis] * frame.time;
        EXPECT_NEAR(travelled, expected, 2e-4) << k << " " << i;
      }
  }
}

/// 141 rows, every five steps.
void expect_conserved(const std::string& path, const Configuration& c) {
  io::writer().call([&] {
    const io::File file = io::File::read(path);
    const auto step = file.root().open("observables/pressure/step").read<std::int64_t>();
    ASSERT_EQ(step.size(), 141u);
    for (std::size_t k = 0; k < step.size(); ++k) EXPECT_EQ(step[k], 5 * std::int64_t(k));
    double kinetic = 0;
    for (std::size_t i = 0; i < 40; ++i)
      kinetic += 0.5 * c.mass[i] * dot(c.velocity[i], c.velocity[i]);
    for (const double e : file.root().open("observables/kinetic_energy/value").read<double>())
      EXPECT_NEAR(e, kinetic, 1e-5 * kinetic);
    const auto tensor = file.root().open("observables/pressure_tensor/value");
    EXPECT_EQ(tensor.shape(), (io::Shape{141, 3, 3}));
    const auto p = tensor.read_row<double>(140);
    EXPECT_NEAR((p[0] + p[4] + p[8]) / 3,
                file.root().open("observables/pressure/value").read<double>().at(140), 1e-9);
  });
}

class Observed : public DeviceTest {};

TEST_P(Observed, TrajectoryAndThermoGoOnAfterAResume) {
  const Folder folder;
  Registry registry;
  register_io(registry);
  register_integrators(registry);
  RunControl control;
  std::vector<std::string> lines;
  control.print_lines_by([&](const std::string& line) { lines.push_back(line); });
  const Configuration c = gas(40);
  SetupContext context;
  context.configuration = &c;
  context.device = device();
  context.output_directory = folder.path;
  context.control = &control;
  JobRecord record;
  record.version = "0.2.0 (test)";
  context.record = std::make_shared<const JobRecord>(record);
  const auto make = [&](const char* json) {
    return make_component<Observer>(registry, json, context);
  };
  constexpr const char* trajectory_json =
      R"({"type": "trajectory", "stride": 5,
          "quantities": ["position", "velocity", "force", "image"]})";
  constexpr const char* thermo_json = R"({"type": "thermo", "stride": 5, "console_stride": 10})";
  auto integrator = make_component<Integrator>(
      registry, R"({"type": "velocity_verlet", "timestep": 0.05})", context);
  Simulation simulation(device(), c, {}, 1);
  const Observation seen(simulation);
  Archive saved = Archive::saving();
  const auto run = [&](Observer& t, Observer& h, std::uint64_t end) {
    while (simulation.step() < end) {
      simulation.advance(*integrator, 5);
      t.observe(seen);
      h.observe_totals(simulation.now());
    }
  };
  integrator->begin(simulation);
  {
    auto trajectory = make(trajectory_json), thermo = make(thermo_json);
    trajectory->begin(seen, false);
    thermo->begin(seen, false);
    trajectory->observe(seen);
    thermo->observe_totals(simulation.now());
    run(*trajectory, *thermo, 500);
    trajectory->observe(seen);  // a new stage begins where the last one ended
    simulation.state(saved);
    Archive::Scope scope(saved, "observers");
    trajectory->state(saved);
    Archive::Scope inner(saved, "thermo");
    thermo->state(saved);
    run(*trajectory, *thermo, 600);  // lost with the process, but for the files
  }
  Archive restored = Archive::restoring(saved.records());
  simulation.state(restored);
  context.resuming = true;
  {
    auto trajectory = make(trajectory_json), thermo = make(thermo_json);
    Archive::Scope scope(restored, "observers");
    trajectory->state(restored);
    Archive::Scope inner(restored, "thermo");
    thermo->state(restored);
    integrator->begin(simulation);
    trajectory->begin(seen, true);
    thermo->begin(seen, true);
    run(*trajectory, *thermo, 700);
    trajectory->end(seen);
    thermo->end(seen);
  }
  EXPECT_NE(lines.at(0).find("temperature"), std::string::npos);

  expect_free_flight(folder.file("trajectory.h5"), c);
  expect_conserved(folder.file("thermo.h5"), c);
}
PERRIN_INSTANTIATE_DEVICES(Observed);

double nearest(const Configuration& c) {
  double least = 1e30;
  for (std::size_t i = 0; i < c.position.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      Vec3<double> s = c.box.fraction(c.position[i]) - c.box.fraction(c.position[j]);
      for (int axis = 0; axis < 3; ++axis)
        if (c.box.periodic[std::size_t(axis)]) s[axis] -= std::nearbyint(s[axis]);
      const Vec3<double> d = c.box.point(s) - c.box.origin;
      least = std::min(least, std::sqrt(dot(d, d)));
    }
  return least;
}

class Sources : public ::testing::Test {
 protected:
  Sources() { register_sources(registry_); }
  Configuration make(const std::string& json) {
    SetupContext context;
    context.seed = 12;
    Configuration c = make_component<Source>(registry_, json, context)->make();
    io::check_frame(c, "source");
    return c;
  }
  Registry registry_;
};

TEST_F(Sources, Lattices) {
  const auto fcc = make(R"({"type": "lattice", "density": 0.8, "cells": [3, 4, 5],
                            "types": {"A": 0.8, "B": 0.2}, "masses": {"B": 3}})");
  EXPECT_EQ(fcc.position.size(), 240u);
  EXPECT_NEAR(240 / fcc.box.volume(), 0.8, 1e-12);
  EXPECT_EQ(std::count(fcc.type.begin(), fcc.type.end(), 1u), 48);
  EXPECT_EQ(
      fcc.mass[std::size_t(std::find(fcc.type.begin(), fcc.type.end(), 1u) - fcc.type.begin())], 3);
  EXPECT_NEAR(nearest(fcc), std::cbrt(4 / 0.8) / std::sqrt(2.0), 1e-9);
  const auto bcc =
      make(R"({"type": "lattice", "structure": "bcc", "lattice_constant": 2, "cells": [2, 2, 2]})");
  EXPECT_NEAR(nearest(bcc), std::sqrt(3.0), 1e-9);
  const auto hexagonal =
      make(R"({"type": "lattice", "structure": "hexagonal", "density": 0.5, "particles": 90})");
  EXPECT_EQ(hexagonal.position.size(), 90u);
  EXPECT_EQ(hexagonal.box.dimension, 2);
  EXPECT_NEAR(90 / hexagonal.box.volume(), 0.5, 1e-12);
  const auto holes = make(R"({"type": "lattice", "density": 0.7, "particles": 1000})");
  EXPECT_EQ(holes.position.size(), 1000u);
  EXPECT_NEAR(1000 / holes.box.volume(), 0.7, 1e-12);
  EXPECT_THROW(make(R"({"type": "lattice", "density": 0.7})"), UserError);
}

TEST_F(Sources, Random) {
  const char* json =
      R"({"type": "random", "particles": {"A": 200, "B": 50}, "density": 0.3,
          "min_distance": 0.9})";
  const auto c = make(json);
  EXPECT_EQ(c.position.size(), 250u);
  EXPECT_GE(nearest(c), 0.9);
  EXPECT_EQ(c.position[249], make(json).position[249]);  // of the seed alone
  EXPECT_THROW(
      make(R"({"type": "random", "particles": {"A": 200}, "density": 2, "min_distance": 1})"),
      UserError);
}

TEST_F(Sources, Chains) {
  const auto c = make(R"({"type": "chains", "chains": 20, "pattern": "A3B7", "density": 0.2,
                          "min_distance": 0.9, "angle_type": "bend"})");
  EXPECT_EQ(c.position.size(), 200u);
  EXPECT_EQ(c.topology.bonds.size(), 180u);
  EXPECT_EQ(c.topology.angles.size(), 160u);
  EXPECT_EQ(c.topology.molecule[199], 19u);
  EXPECT_EQ(c.types[c.type[2]], "A");
  EXPECT_EQ(c.types[c.type[3]], "B");
  EXPECT_GE(nearest(c), 0.9 - 1e-12);
  for (const auto& bond : c.topology.bonds) {
    Vec3<double> d = c.position[bond.a] - c.position[bond.b];
    for (int axis = 0; axis < 3; ++axis)
      d[axis] += (c.image[bond.a][axis] - c.image[bond.b][axis]) * c.box.length[axis];
    EXPECT_NEAR(std::sqrt(dot(d, d)), 0.97, 1e-9);
  }
  EXPECT_EQ(
      make(R"({"type": "chains", "chains": 2, "pattern": [["A", 3], ["B", 7]], "box": [9, 9, 9]})")
          .type,
      std::vector<std::uint32_t>({0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_THROW(make(R"({"type": "chains", "chains": 2, "pattern": "3A", "density": 0.1})"),
               UserError);
}

}  // namespace
}  // namespace perrin
