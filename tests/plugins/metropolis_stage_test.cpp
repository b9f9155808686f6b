// The stage "metropolis": its job, its files, checkpoints, and the three files of the original
// work.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/run/run.h"
#include "io/hdf5.h"
#include "io/writer.h"
#include "plugins/metropolis/input_files.h"
#include "plugins/metropolis/metropolis.h"
#include "tests/devices.h"

namespace perrin::metropolis {
namespace {

struct StageRun {
  std::unique_ptr<RunControl> control = std::make_unique<RunControl>();
  Device device;
  std::filesystem::path folder;
  std::map<std::string, Record> saved;
  std::vector<std::string> mistakes;
  int stop_after = 0;  // checkpoints
  bool quiet = true;

  StageRun(const std::string& name, const Device& device_)
      : device(device_),
        folder(std::filesystem::temp_directory_path() /
               ("perrin-metropolis-" + name + (device_.is_cuda() ? "-cuda" : ""))) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  SetupContext context(bool resumed) {
    SetupContext c;
    c.no_system = true;
    c.device = device;
    c.job_directory = c.output_directory = folder;
    c.resuming = resumed;
    c.control = control.get();
    c.report = [this](const std::string& path, const std::string& what) {
      mistakes.push_back(path + ": " + what);
    };
    return c;
  }
  /// Runs a stage from its JSON, or on from what was saved. True: complete.
  bool run(const std::string& json, bool resumed = false) {
    Registry registry;
    register_components(registry);
    RunParts parts;
    parts.stages.push_back(make_component<Stage>(registry, json, context(resumed)));
    parts.stage_names = parts.stage_types = {"metropolis"};
    parts.quiet = quiet;
    parts.default_checkpoint = folder / "checkpoint.h5";
    parts.write_checkpoint = [this](const std::filesystem::path&, const Archive& a) {
      saved = a.records();
      if (stop_after > 0 && --stop_after == 0) control->request_stop("the test");
    };
    Run run(std::move(parts), *control);
    if (resumed) run.restore(Archive::restoring(saved));
    return run.execute();
  }
  std::vector<double> read(const std::string& file, const std::string& name) {
    return io::writer().get(
        [&] { return io::File::read((folder / file).string()).root().open(name).read<double>(); });
  }
  std::string mistakes_of(const std::string& json) {
    mistakes.clear();
    Registry registry;
    register_components(registry);
    try {
      make_component<Stage>(registry, json, context(false));
    } catch (const UserError& e) {
      mistakes.emplace_back(e.what());
    }
    std::string all;
    for (const auto& m : mistakes) all += m + "\n";
    return all;
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
  }
};

std::string job(const std::string& rest, const std::string& engine = "pipelined") {
  return R"({"type": "metropolis", "engine": ")" + engine + R"(",
    "molecules": {"dimer": {"sites": [{"type": "A", "at": [0.3, 0, 0]},
                                      {"type": "B", "at": [-0.3, 0, 0]}],
                            "number": 60}},
    "pairs": [{"types": ["A", "A"], "sigma": 1, "epsilon": 1},
              {"types": ["B", "B"], "sigma": 0.8, "epsilon": 0.7}],
    "box": [6, 7, 8], "temperature": 1.3, "translation": 0.2, "rotation": 0.4, "cycles": 60,
    "stride": 5)" +
         rest + "}";
}

class MetropolisJob : public DeviceTest {};

TEST_P(MetropolisJob, ResumedRunEqualsTheUninterruptedOne) {
  const std::string extras =
      R"(, "equilibration": 40, "tune": {"interval": 7}, "recompute": 30, "pressure": true,
         "rdf": {"bins": 50, "interval": 5, "rows": 20}, "trajectory": {"interval": 10})";
  for (const std::string more :
       {R"(, "volume": {"pressure": 0.5, "interval": 3})", R"(, "order": "random")",
        R"(, "replicas": 3, "exchange": 4)", R"(, "precision": "double")"})
    for (const int stop : {3, 11}) {
      SCOPED_TRACE(more);
      StageRun whole("whole", device()), parts("parts", device());
      ASSERT_TRUE(whole.run(job(extras + more)));
      parts.control->add_plan(parts.folder / "checkpoint.h5", 1e-9);
      parts.stop_after = stop;
      ASSERT_FALSE(parts.run(job(extras + more)));
      parts.control = std::make_unique<RunControl>();
      ASSERT_TRUE(parts.run(job(extras + more), true));
      for (const char* name : {"energy/value", "energy/step", "acceptance/value",
                               "translation/value", "pressure/value", "energy_since_start/value"})
        EXPECT_EQ(whole.read("metropolis.h5", std::string("observables/") + name),
                  parts.read("metropolis.h5", std::string("observables/") + name))
            << name;
      for (const char* name : {"g_A-B/value", "r/value", "g_B-B/step"})
        EXPECT_EQ(whole.read("rdf.h5", std::string("observables/") + name),
                  parts.read("rdf.h5", std::string("observables/") + name))
            << name;
      for (const char* name : {"position/value", "position/step", "box/edges/value"})
        EXPECT_EQ(whole.read("trajectory.h5", std::string("particles/all/") + name),
                  parts.read("trajectory.h5", std::string("particles/all/") + name))
            << name;
      EXPECT_EQ(whole.read("metropolis.h5", "observables/energy/step").size(), 21u);
      EXPECT_EQ(whole.read("rdf.h5", "observables/r/step"), (std::vector<double>{60, 80, 100}));
    }
}

TEST_P(MetropolisJob, EnginesWriteTheSameRows) {
  std::vector<std::vector<double>> energy;
  for (const char* engine : {"sequential", "reduction", "pipelined"}) {
    StageRun run(engine, device());
    std::string text = job(R"(, "precision": "double")", engine);
    text.replace(text.find("\"cycles\": 60"), 12, "\"cycles\": 20");
    ASSERT_TRUE(run.run(text));
    energy.push_back(run.read("metropolis.h5", "observables/energy/value"));
    EXPECT_EQ(run.read("metropolis.h5", "observables/acceptance/value").size(), 5u);
  }
  for (std::size_t k = 0; k < energy[0].size(); ++k)
    for (const auto& other : energy)
      EXPECT_NEAR(energy[0][k], other[k], 1e-9 * std::abs(energy[0][k]));
}

// Atoms that an outside pressure pushes together.
std::string squeezed(const std::string& engine, const std::string& rest) {
  return R"({"type": "metropolis", "engine": ")" + engine + R"(", "precision": "double",
    "molecules": {"a": {"number": 64, "sites": [{"type": "A"}]}},
    "pairs": [{"types": ["A", "A"], "sigma": 1, "epsilon": 1}], "box": [8, 9, 10],
    "temperature": 1, "translation": 0.3, "cycles": 400, "stride": 1)" +
         rest + "}";
}

TEST_P(MetropolisJob, ABoxThatShrinksBelowTwiceTheCutoffIsAnError) {
  const struct {
    std::string rest, reason;
  } cases[] = {
      {R"(, "cutoff": 3, "volume": {"pressure": 20, "step": 0.1})",
       "is less than twice the cut-off (3)"},
      {R"(, "potential": "wca", "volume": {"pressure": 100, "step": 0.1})",
       "is less than twice the cut-off (2.80616)"},
  };
  for (const auto& c : cases)
    for (const char* engine : {"sequential", "reduction", "pipelined"}) {
      SCOPED_TRACE(engine + c.rest);
      std::string text = squeezed(engine, c.rest);
      if (c.rest.find("wca") != std::string::npos)  // few large ones
        text.replace(text.find("\"sigma\": 1,"), 11, "\"sigma\": 2.5,")
            .replace(text.find("\"number\": 64"), 12, "\"number\": 8");
      StageRun run("shrinks", device());
      std::string what;
      try {
        run.run(text);
      } catch (const RunError& e) {
        what = e.what();
      }
      EXPECT_EQ(what.find("cycle "), 0u) << what;
      EXPECT_NE(what.find("in a volume move edge x = "), std::string::npos) << what;
      EXPECT_NE(what.find(c.reason), std::string::npos) << what;
      // Until then, no box was too small.
      for (const double v : run.read("metropolis.h5", "observables/volume/value"))
        EXPECT_GE(std::cbrt(v * 8 * 8 / 9 / 10), 2 * 2.806);
    }
}

TEST_P(MetropolisJob, DistributionsEndAtHalfOfTheSmallestBox) {
  StageRun run("shrinking-rdf", device());
  ASSERT_TRUE(run.run(squeezed("pipelined", R"(, "volume": {"pressure": 5, "step": 0.1},
      "rdf": {"range": 3.9, "bins": 39, "interval": 1})")));
  double half = 4;
  for (const double v : run.read("metropolis.h5", "observables/volume/value"))
    half = std::min(half, std::cbrt(v * 8 * 8 / 9 / 10) / 2);
  ASSERT_LT(half, 3.5);
  const auto g = run.read("rdf.h5", "observables/g_A-A/value");
  for (std::size_t k = 0; k < 39; ++k)
    EXPECT_EQ(std::isfinite(g[k]), 0.1 * double(k + 1) <= half) << k << " of " << half;
}

/// Stops in mid-run, and goes on with another text.
struct Resumption {
  StageRun run;
  Resumption(const Device& device, const std::string& first) : run("resumption", device) {
    run.control->add_plan(run.folder / "checkpoint.h5", 1e-9);
    run.stop_after = 3;
    EXPECT_FALSE(run.run(first));
    run.control = std::make_unique<RunControl>();
  }
  bool with(const std::string& text) { return run.run(text, true); }
  /// Why a checkpoint is refused.
  std::string refusal(const std::string& text) {
    try {
      with(text);
    } catch (const UserError& e) {
      return e.what();
    }
    return "accepted";
  }
  double last(const std::string& file, const std::string& name) {
    return run.read(file, name).back();
  }
};

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST_P(MetropolisJob, AResumedRunFollowsItsSettings) {
  const std::string original = job(R"(, "trajectory": {"interval": 10})");
  const auto mean_of_last = [](const std::vector<double>& rows) {
    double sum = 0;
    for (std::size_t k = rows.size() - 6; k < rows.size(); ++k) sum += rows[k] / 6;
    return sum;
  };
  {
    const std::string hot = changed(original, "\"temperature\": 1.3", "\"temperature\": 60");
    StageRun reference("hot", device());
    ASSERT_TRUE(reference.run(hot));
    Resumption resumed(device(), original);
    ASSERT_TRUE(resumed.with(hot));
    // Hot molecules overlap: all the energy is theirs. At 1.3 it is negative.
    const double expected =
        mean_of_last(reference.read("metropolis.h5", "observables/energy/value"));
    EXPECT_GT(expected, 50);
    EXPECT_NEAR(mean_of_last(resumed.run.read("metropolis.h5", "observables/energy/value")),
                expected, 0.5 * expected);
  }
  {
    Resumption resumed(device(), original);
    ASSERT_TRUE(resumed.with(changed(original, "\"translation\": 0.2", "\"translation\": 0.05")));
    EXPECT_EQ(resumed.last("metropolis.h5", "observables/translation/value"), 0.05);
    EXPECT_EQ(resumed.last("metropolis.h5", "observables/rotation/value"), 0.4);
  }
  {
    Resumption resumed(device(), original);
    ASSERT_TRUE(resumed.with(changed(original, "[6, 7, 8]", "[6.5, 7.5, 8.5]")));
    const auto edges = resumed.run.read("trajectory.h5", "particles/all/box/edges/value");
    EXPECT_EQ(edges[edges.size() - 9], 6.5);
    EXPECT_EQ(edges.back(), 8.5);
  }
}

TEST_P(MetropolisJob, AResumedRunHasTheEnergiesOfItsPotential) {
  // Nobody moves.
  std::string still =
      changed(job(R"(, "precision": "double")"), "\"translation\": 0.2", "\"translation\": 0");
  still = changed(still, "\"rotation\": 0.4", "\"rotation\": 0");
  std::string twice = changed(still, "\"epsilon\": 1", "\"epsilon\": 2");
  twice = changed(twice, "\"epsilon\": 0.7", "\"epsilon\": 1.4");
  Resumption resumed(device(), still);
  ASSERT_TRUE(resumed.with(twice));
  const auto energy = resumed.run.read("metropolis.h5", "observables/energy/value");
  EXPECT_NEAR(energy.back(), 2 * energy.front(), 1e-9 * std::abs(energy.front()));
}

TEST_P(MetropolisJob, WhatAResumedRunCannotChangeIsRefused) {
  const std::string original = job(R"(, "rdf": {"bins": 50})");
  const struct {
    const char *from, *to, *expected;
  } cases[] = {
      {"\"number\": 60", "\"number\": 61", "molecules: they differ from those of the checkpoint"},
      {"0.3, 0, 0", "0.2, 0, 0", "molecules: they differ from those of the checkpoint"},
      {"\"temperature\": 1.3", "\"temperature\": 1.3, \"replicas\": 2",
       "replicas: the checkpoint has 1, a resumed run cannot have 2"},
      {"\"bins\": 50", "\"bins\": 40", "rdf.bins: the checkpoint's distributions have 50 bins"},
      {"\"rdf\"", "\"start\": \"random\", \"rdf\"",
       "start: the Markov chain of the checkpoint started from lattice"},
      {"\"rdf\"", "\"pressure\": true, \"rdf\"", "a resumed run cannot have energy acceptance"},
      {"\"cycles\": 60", "\"cycles\": 1", "cycles: the checkpoint is at cycle "},
      {"\"rdf\"", "\"equilibration\": 2, \"rdf\"",
       "equilibration: cannot change from 0 to 2 at cycle "},
  };
  Resumption resumed(device(), original);
  for (const auto& c : cases) {
    const std::string what = resumed.refusal(changed(original, c.from, c.to));
    EXPECT_NE(what.find(c.expected), std::string::npos) << c.expected << "\nin\n" << what;
  }
}

PERRIN_INSTANTIATE_DEVICES(MetropolisJob);

TEST(MetropolisStage, MistakesAreNamed) {
  StageRun run("mistakes", Device::cpu(1));
  const auto with = [&](std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return run.mistakes_of(text.replace(at, from.size(), to));
  };
  EXPECT_EQ(run.mistakes_of(job("")), "");
  const struct {
    const char *from, *to, *expected;
  } cases[] = {
      {"\"temperature\": 1.3,", "", "temperature: is missing"},
      {"\"translation\": 0.2,", "", "translation: is missing"},
      {"\"rotation\": 0.4,", "", "rotation: is missing"},
      {"\"cycles\": 60,", "", "cycles: is missing"},
      {"\"box\": [6, 7, 8],", "", "box: is missing"},
      {"\"sigma\": 1,", "", "pairs[0].sigma: is missing: lennard_jones needs it"},
      {"\"sigma\": 1,", "\"sigma\": 1, \"kappa\": 2,",
       "pairs[0].kappa: is not a parameter of lennard_jones"},
      {"[\"B\", \"B\"]", "[\"A\", \"B\"]", "pairs: the pair B, B is missing"},
      {"[\"B\", \"B\"]", "[\"B\", \"C\"]", "pairs[1].types[1]: no site has the type \"C\""},
      {"[\"B\", \"B\"]", "[\"A\", \"A\"]", "pairs[1].types: the pair A, A is given twice"},
      {"\"stride\": 5", "\"stride\": 5, \"mixing\": \"none\"", "pairs: the pair A, B is missing"},
      {"\"stride\": 5", "\"stride\": 5, \"cutoff\": 4",
       "cutoff: must be at most half of the shortest edge (3), got 4"},
      {"\"stride\": 5", "\"stride\": 5, \"tail\": true", "tail: needs a cut-off"},
      {"\"stride\": 5", "\"stride\": 5, \"exchange\": 5", "exchange: needs at least two"},
      {"\"stride\": 5", "\"stride\": 5, \"tune\": {}", "tune: has no effect without equilibration"},
      {"\"stride\": 5", "\"stride\": 5, \"rdf\": {\"range\": 3.5}",
       "rdf.range: must be at most half of the shortest edge (3), got 3.5"},
      {"\"stride\": 5", "\"stride\": 5, \"rdf\": {\"width\": 0.1, \"bins\": 10}",
       "rdf.width: cannot be given with bins"},
      {"\"stride\": 5", "\"stride\": 5, \"rdf\": {\"width\": 3.5}",
       "rdf.width: must give 1 to 100000 bins up to 3, got 3.5"},
      {"\"stride\": 5", "\"stride\": 5, \"rdf\": {\"csv\": \"metropolis.h5\"}",
       "metropolis.h5 is also written by file"},
      {"\"stride\": 5", "\"stride\": 5, \"replicas\": 2, \"volume\": {\"pressure\": 1}",
       "volume: cannot be given with replicas"},
      {"\"stride\": 5", "\"stride\": 5, \"files\": {}",
       "molecules: cannot be given together with files"},
      {"[0.3, 0, 0]", "[3.3, 0, 0]", "half of the shortest edge (3) must exceed"},
      {"\"stride\": 5", "\"stride\": 5, \"final_state\": {}",
       "final_state: the files are in Å and kJ/mol"},
      {"\"pipelined\"", "\"checkerboard\"", "atoms"},
      {"\"sigma\": 1,", "\"sigma\": 1, \"core\": 3,", "no position found for molecule"},
  };
  for (const auto& c : cases) {
    const std::string all = with(job(""), c.from, c.to);
    EXPECT_NE(all.find(c.expected), std::string::npos) << c.expected << "\nin\n" << all;
  }
}

// ---- The three files ----

const char* const model_text = R"(# two water-like molecules and an atom
n_particles = 3
n_atoms = 5
n_atom_types = 2
n_mc_passes = 12
temp = 300
box = 30
mcmove_tran = 0.3
mcmove_rot = 0.2
atom[0].sigma = 3.2
atom[0].epsilon = 0.7
atom[0].min_r = 1.0
atom[1].sigma = 2.4
atom[1].epsilon = 0.3
atom[1].min_r = 0.5
)";
// The second molecule is turned by a quarter about z: x → y.
const char* const particles_text =
    "first;n;x;y;z;r11;r12;r13;r21;r22;r23;r31;r32;r33\n"
    "0;2;5;5;5;1;0;0;0;1;0;0;0;1\n"
    "2;2;29.5;15;15;0;-1;0;1;0;0;0;0;1\n"
    "4;1;10;20;25;1;0;0;0;1;0;0;0;1\n";
const char* const atoms_text =
    "0, 5, 5, 5, 0, 0, 0\n"
    "1, 6, 5, 5, 1, 0, 0\n"
    "0, 29.5, 15, 15, 0, 0, 0\n"
    "1, 29.5, 16, 15, 1, 0, 0\n"
    "1, 10, 20, 25, 0, 0, 0\n";

InputFiles files_in(StageRun& run, const std::string& model, const std::string& particles,
                    const std::string& atoms) {
  run.write("model.txt", model);
  run.write("particles.csv", particles);
  run.write("atoms.csv", atoms);
  return {(run.folder / "model.txt").string(), (run.folder / "particles.csv").string(),
          (run.folder / "atoms.csv").string()};
}

std::string edited(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(MetropolisFiles, AreRead) {
  StageRun run("files", Device::cpu(1));
  const FileModel f =
      read_files(files_in(run, model_text, particles_text, atoms_text), "lorentz_berthelot");
  EXPECT_EQ(f.model.templates.size(), 2u);  // the first two molecules are alike
  EXPECT_EQ(f.model.molecule, (std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_EQ(f.temperature, 300);
  EXPECT_EQ(f.cycles, 12);
  EXPECT_EQ(f.translation, 0.3);
  EXPECT_EQ(f.rotation, 0.2);
  EXPECT_EQ(f.model.box, (Vec3<double>{30, 30, 30}));
  EXPECT_NEAR(f.model.pair(0, 1).a, 2.8, 1e-12);
  EXPECT_NEAR(f.model.pair(0, 1).b, std::sqrt(0.21), 1e-12);
  EXPECT_NEAR(f.model.pair(0, 0).core, 2.0, 1e-12);  // radii add
  EXPECT_NEAR(f.model.pair(0, 1).core, 1.5, 1e-12);
  System system(Device::cpu(1), f.model, f.start, 1);
  const auto site = system.site_positions();
  EXPECT_NEAR(site[3].x * (30 * 0x1p-32), 29.5, 1e-7);
  EXPECT_NEAR(site[3].y * (30 * 0x1p-32), 16, 1e-7);
  // The matrix by columns: the atoms tell.
  const auto columns =
      edited(particles_text, "15;15;0;-1;0;1;0;0;0;0;1", "15;15;0;1;0;-1;0;0;0;0;1");
  const FileModel g = read_files(files_in(run, model_text, columns, atoms_text), "geometric");
  EXPECT_NEAR(g.start.orientation[1].z, f.start.orientation[1].z, 1e-12);
  EXPECT_NEAR(g.model.pair(0, 1).a, std::sqrt(3.2 * 2.4), 1e-12);
}

TEST(MetropolisFiles, MistakesNameFileAndLine) {
  StageRun run("bad-files", Device::cpu(1));
  const std::string m = model_text, p = particles_text, a = atoms_text;
  const struct {
    std::string model, particles, atoms, expected;
  } cases[] = {
      {edited(m, "temp = 300", "temp = -3"), p, a, "model.txt:6: temp: must be above 0, got -3"},
      {edited(m, "temp = 300", "temp = hot"), p, a, "model.txt:6"},
      {edited(m, "sigma = 3.2", "sigma = 3,2"), p, a,
       "model.txt:10: atom[0].sigma: expected one value"},
      {edited(m, "temp", "tempo"), p, a, "model.txt:6: unknown key \"tempo\""},
      {edited(m, "temp = 300\n", ""), p, a, "temp is missing"},
      {edited(m, "box = 30", "box = 30 20"), p, a, "model.txt:7: box: must be one edge or three"},
      {edited(m, "n_atom_types = 2", "n_atom_types = 3"), p, a, "n_atom_types is 3"},
      {edited(m, "atom[1].sigma = 2.4\n", ""), p, a, "atom[1].sigma or .epsilon is missing"},
      {edited(m, "atom[1].sigma = 2.4", "atom[0].sigma = 2.4"), p, a, "already given in line 10"},
      {m, p, edited(a, "1, 10", "2, 10"), "atoms.csv:5: type: must be 0 to 1, got 2"},
      {m, p, edited(a, "1, 10,", "1, "), "atoms.csv:5: expected type"},
      {m, p, edited(a, "0, 5,", "0, x,"), "atoms.csv:1"},
      {edited(m, "n_atoms = 5", "n_atoms = 6"), p, a, "has 5 atoms, but n_atoms is 6"},
      {edited(m, "n_particles = 3", "n_particles = 2"), p, a, "has 3 molecules"},
      {m, edited(p, "2;2;29.5", "3;2;29.5"), a, "particles.csv:3: first atom: must be 2"},
      {m, edited(p, "2;2;29.5", "2;9;29.5"), a, "particles.csv:3: number of atoms"},
      {m, edited(p, "0;-1;0;1", "0;-1;0;2"), a, "particles.csv:3: orientation"},
      {m, edited(p, "2;2;29.5", "2;2;28.5"), a, "particles.csv:3: centre and orientation place"},
      {m, edited(p, ";0;0;1\n2", ";0;0\n2"), a, "particles.csv:2: expected first atom"},
  };
  for (const auto& c : cases) {
    std::string what;
    try {
      read_files(files_in(run, c.model, c.particles, c.atoms), "lorentz_berthelot");
    } catch (const UserError& e) {
      what = e.what();
    }
    EXPECT_NE(what.find(c.expected), std::string::npos) << c.expected << "\nin " << what;
  }
}

TEST(MetropolisFiles, MistakesOfAJobAreNamed) {
  StageRun run("bad-files-job", Device::cpu(1));
  const char* const stage = R"({"type": "metropolis", "files": {}})";
  const struct {
    const char *from, *to, *expected;
  } cases[] = {
      {"n_mc_passes = 12\n", "", "cycles: is missing, as is n_mc_passes in model.txt\n"},
      {"mcmove_tran = 0.3\n", "", "translation: is missing, as is mcmove_tran in model.txt\n"},
      {"mcmove_rot = 0.2\n", "", "rotation: is missing, as is mcmove_rot in model.txt\n"},
      {"min_r = 1.0", "min_r = 9", "files: hard cores overlap at the start"},
  };
  for (const auto& c : cases) {
    files_in(run, edited(model_text, c.from, c.to), particles_text, atoms_text);
    const std::string all = run.mistakes_of(stage);
    EXPECT_EQ(all.find(c.expected), 0u) << c.expected << "\nin\n" << all;
  }
  std::filesystem::remove(run.folder / "model.txt");
  const std::string all = run.mistakes_of(stage);
  EXPECT_EQ(all.find("files.model: cannot read"), 0u) << all;
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 1) << all;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The state at the end goes on as the start of another run, stopped in between or not.
TEST(MetropolisFiles, FinalStateIsReadAgain) {
  const char* const job = R"({"type": "metropolis", "files": {}, "precision": "double",
      "cycles": 40, "recompute": 1, "final_state": {},
      "rdf": {"bins": 10, "interval": 2, "own_molecule": true, "csv": "distribution.csv"}})";
  StageRun whole("final", Device::cpu(1)), parts("final-parts", Device::cpu(1));
  for (StageRun* run : {&whole, &parts}) files_in(*run, model_text, particles_text, atoms_text);
  ASSERT_TRUE(whole.run(job));
  parts.control->add_plan(parts.folder / "checkpoint.h5", 1e-9);
  parts.stop_after = 5;
  ASSERT_FALSE(parts.run(job));
  parts.control = std::make_unique<RunControl>();
  ASSERT_TRUE(parts.run(job, true));
  for (const char* name :
       {"final_model.txt", "final_particles.csv", "final_atoms.csv", "distribution.csv"}) {
    EXPECT_FALSE(text_of(whole.folder / name).empty()) << name;
    EXPECT_EQ(text_of(whole.folder / name), text_of(parts.folder / name)) << name;
  }
  const std::string columns = "observables/acceptance_since_start/value";
  EXPECT_EQ(whole.read("metropolis.h5", columns), parts.read("metropolis.h5", columns));

  const FileModel f = read_files(
      {(whole.folder / "final_model.txt").string(), (whole.folder / "final_particles.csv").string(),
       (whole.folder / "final_atoms.csv").string()},
      "lorentz_berthelot");
  EXPECT_NEAR(f.temperature, 300, 1e-9);
  EXPECT_EQ(f.cycles, 40);
  EXPECT_EQ(f.translation, 0.3);
  EXPECT_EQ(f.rotation, 0.2);
  EXPECT_EQ(f.model.molecule, (std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_EQ(f.model.pair(0, 1).core, 1.5);
  StageRun on("final-on", Device::cpu(1));
  for (const char* name : {"model", "particles", "atoms"}) {
    const std::string end = name == std::string("model") ? ".txt" : ".csv";
    std::filesystem::copy(whole.folder / ("final_" + (name + end)), on.folder / (name + end));
  }
  ASSERT_TRUE(on.run(R"({"type": "metropolis", "files": {}, "precision": "double",
      "cycles": 0, "file": "metropolis.h5"})"));
  const double energy = whole.read("metropolis.h5", "observables/energy/value").back();
  EXPECT_NE(energy, whole.read("metropolis.h5", "observables/energy/value").front());
  EXPECT_NEAR(on.read("metropolis.h5", "observables/energy/value").front(), energy,
              1e-6 * std::abs(energy));
}

// From the centre of the box: the same points, read again as the same places.
TEST(MetropolisFiles, FinalStateWithTheOriginAtTheCentre) {
  const auto ends = [](const std::string& origin) {
    StageRun run("final-" + origin, Device::cpu(1));
    files_in(run, model_text, particles_text, atoms_text);
    EXPECT_TRUE(run.run(R"({"type": "metropolis", "files": {}, "precision": "double",
        "final_state": {"origin": ")" +
                        origin + "\"}}"));
    return read_files(
        {(run.folder / "final_model.txt").string(), (run.folder / "final_particles.csv").string(),
         (run.folder / "final_atoms.csv").string()},
        "lorentz_berthelot");
  };
  const FileModel corner = ends("corner"), centre = ends("centre");
  int shifted = 0;
  for (std::size_t m = 0; m < 3; ++m)
    for (int k = 0; k < 3; ++k) {
      const double x = corner.start.centre[m][k], y = centre.start.centre[m][k];
      EXPECT_GE(x, 0);
      EXPECT_LT(x, 30);
      EXPECT_GE(y, -15);
      EXPECT_LT(y, 15);
      EXPECT_NEAR(x, y < 0 ? y + 30 : y, 1e-12);
      shifted += y < 0;
    }
  EXPECT_GT(shifted, 0);
  System a(Device::cpu(1), corner.model, corner.start, 1);
  System b(Device::cpu(1), centre.model, centre.start, 1);
  for (std::size_t m = 0; m < 3; ++m) {
    EXPECT_EQ(a.centres()[m].x, b.centres()[m].x);
    EXPECT_EQ(a.centres()[m].y, b.centres()[m].y);
    EXPECT_EQ(a.centres()[m].z, b.centres()[m].z);
  }
}

// The lines of the thesis's listing 3.4, and what is in the file beside them.
TEST(MetropolisFiles, TheSummaryAtTheEnd) {
  StageRun run("summary", Device::cpu(1));
  files_in(run, model_text, particles_text, atoms_text);
  run.quiet = false;
  testing::internal::CaptureStdout();
  ASSERT_TRUE(run.run(R"({"type": "metropolis", "files": {}})"));
  const std::string out = testing::internal::GetCapturedStdout();
  const auto number = [&](const std::string& key) {
    const std::size_t at = out.find("\n" + key + " = ");
    EXPECT_NE(at, std::string::npos) << key << " in\n" << out;
    return at == std::string::npos ? NAN : std::stod(out.substr(at + key.size() + 4));
  };
  const auto last = [&](const std::string& name) {
    return run.read("metropolis.h5", "observables/" + name + "/value").back();
  };
  EXPECT_NEAR(number("A"), 100 * last("acceptance_since_start"), 1e-3);
  EXPECT_NEAR(number("E_avg"), last("energy_since_start") / 5, 1e-5 * std::abs(number("E_avg")));
  EXPECT_NEAR(number("E"), last("energy"), 1e-5 * std::abs(number("E")));
  EXPECT_GT(number("t"), 0);
  EXPECT_NEAR(number("t_mc_avg"), 1000 * number("t") / 12, 1e-4 * number("t_mc_avg"));
}

// Sites on one another at the start: their energy is gone after some cycles, and has left nothing
// in the running one.
TEST(MetropolisFiles, RoughStartsLeaveNoTrace) {
  std::string model = edited(model_text, "min_r = 1.0", "min_r = 0");
  model = edited(model, "min_r = 0.5", "min_r = 0");
  const std::string particles = edited(particles_text, "4;1;10;20;25", "4;1;5.01;5;5");
  const std::string atoms = edited(atoms_text, "1, 10, 20, 25", "1, 5.01, 5, 5");
  std::vector<double> energies[2], means;
  for (const int often : {0, 1}) {
    StageRun run("rough", Device::cpu(1));
    files_in(run, model, particles, atoms);
    ASSERT_TRUE(run.run(R"({"type": "metropolis", "files": {}, "precision": "double",
        "cycles": 60, "translation": 3, "recompute": )" +
                        std::string(often ? "5}" : "60}")));
    energies[often] = run.read("metropolis.h5", "observables/energy/value");
    means.push_back(run.read("metropolis.h5", "observables/energy_since_start/value").back());
  }
  ASSERT_GT(energies[0][0], 1e25);
  ASSERT_LT(std::abs(energies[1].back()), 100);
  // Before cycle 60 it is carried along from cycle 32.
  for (std::size_t k = 32; k < energies[0].size(); ++k)
    EXPECT_NEAR(energies[0][k], energies[1][k], 1e-9) << k;
  // And nothing in the means, which begin behind them.
  for (const double mean : means) EXPECT_LT(std::abs(mean), 100);
}

// A row for every pass, the first one too, and both shares of accepted moves.
TEST(MetropolisFiles, EveryPassHasARow) {
  StageRun run("passes", Device::cpu(1));
  files_in(run, model_text, particles_text, atoms_text);
  ASSERT_TRUE(run.run(R"({"type": "metropolis", "files": {}, "equilibration": 5})"));
  std::vector<double> passes;
  for (int k = 0; k <= 17; ++k) passes.push_back(k);
  EXPECT_EQ(run.read("metropolis.h5", "observables/energy/step"), passes);
  const auto own = run.read("metropolis.h5", "observables/acceptance/value");
  const auto all = run.read("metropolis.h5", "observables/acceptance_since_start/value");
  double sum = 0;
  for (std::size_t k = 1; k < all.size(); ++k) {
    sum += own[k];
    EXPECT_NEAR(all[k], sum / double(k), 1e-12) << k;
  }
  EXPECT_GT(sum, 0);
}

TEST(MetropolisFiles, RunAsAJobAndWriteADistribution) {
  StageRun run("files-job", Device::cpu(1));
  files_in(run, model_text, particles_text, atoms_text);
  ASSERT_TRUE(run.run(
      R"({"type": "metropolis", "files": {}, "stride": 4,
          "rdf": {"bins": 10, "interval": 2, "csv": "distribution.csv"}})"));
  EXPECT_EQ(run.read("metropolis.h5", "observables/energy/step"),
            (std::vector<double>{0, 4, 8, 12}));
  std::ifstream csv(run.folder / "distribution.csv");
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "r,g_0-0,g_0-1,g_1-1");
  int rows = 0;
  while (std::getline(csv, line)) ++rows;
  EXPECT_EQ(rows, 10);
}

// Bins by their width: as many whole ones as the range has.
TEST(MetropolisFiles, ADistributionByTheWidthOfItsBins) {
  StageRun run("width", Device::cpu(1));
  files_in(run, model_text, particles_text, atoms_text);
  ASSERT_TRUE(run.run(R"({"type": "metropolis", "files": {},
      "rdf": {"width": 0.4, "range": 10.1, "interval": 2}})"));
  const auto r = run.read("rdf.h5", "observables/r/value");
  ASSERT_EQ(r.size(), 25u);
  for (std::size_t k = 0; k < r.size(); ++k) EXPECT_NEAR(r[k], 0.4 * (double(k) + 0.5), 1e-9);
}

}  // namespace
}  // namespace perrin::metropolis
