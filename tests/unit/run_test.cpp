// The run of a job: observers and their strides, stops, checkpoints, stages of other kinds,
// resuming.
#include "engine/run/run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "app/build_check.h"
#include "app/commands.h"
#include "engine/base/error.h"
#include "engine/device/batch_replay.h"
#include "engine/dynamics/observation.h"
#include "engine/dynamics/simulation.h"
#include "engine/job/engine_library.h"
#include "engine/job/job.h"
#include "engine/run/md_stage.h"
#include "forces/register.h"
#include "integrators/register.h"
#include "io/register.h"

namespace perrin {
namespace {

/// What the test components below have seen.
std::vector<std::string> events;

struct CountSettings {
  std::int64_t stride = 1, stop_at = -1, save_at = -1;
  bool plan = false;
};
template <class D>
void describe(D& d, CountSettings& s) {
  d.required("stride", s.stride, NonNegative{}, "steps");
  d.optional("stop_at", s.stop_at, Any{}, "asks for a stop at this step");
  d.optional("save_at", s.save_at, Any{}, "asks for a checkpoint at this step");
  d.optional("plan", s.plan, Any{}, "asks for one at the end");
}

struct Counter : Observer {
  CountSettings s;
  RunControl& control;
  std::int64_t count = 0;
  Counter(const CountSettings& settings, Setup& setup) : s(settings), control(setup.control()) {
    if (s.plan) control.add_plan("planned", 0);
  }
  std::int64_t stride() const override { return s.stride; }
  void begin(const Observation&, bool resumed) override {
    events.push_back(resumed ? "resume" : "begin");
  }
  void observe(const Observation& seen) override {
    ++count;
    const auto step = static_cast<std::int64_t>(seen.step());
    events.push_back(std::to_string(step));
    if (step == s.stop_at) control.request_stop("the test");
    if (step == s.save_at) control.request_checkpoint("at_step");
  }
  void end(const Observation&) override { events.push_back("end"); }
  void state(Archive& archive) override { archive("count", count); }
};

/// Notes the totals; `patient`: lets the run call it later.
struct NoteSettings {
  std::int64_t stride = 1;
  bool patient = true;
};
template <class D>
void describe(D& d, NoteSettings& s) {
  d.required("stride", s.stride, Positive{}, "steps");
  d.required("patient", s.patient, Any{}, "whether it may be called later");
}

struct Note : Observer {
  NoteSettings s;
  explicit Note(const NoteSettings& settings) : s(settings) {}
  std::int64_t stride() const override { return s.stride; }
  bool only_totals() const override { return s.patient; }
  void observe(const Observation& seen) override { observe_totals(seen.now()); }
  void observe_totals(const Instant& i) override {
    events.push_back(fmt::format("{} {:a} {:a} {:a} {:a}", i.step, i.time, i.totals.potential,
                                 i.totals.kinetic, i.pressure()));
  }
  void end(const Observation&) override { events.push_back("end"); }
};

/// A stage without a system: counts to a number.
struct LoopSettings {
  std::int64_t turns = 0, stop_at = -1;
};
template <class D>
void describe(D& d, LoopSettings& s) {
  d.required("turns", s.turns, Positive{}, "how many");
  d.optional("stop_at", s.stop_at, Any{}, "asks for a stop");
}

struct Loop : Stage {
  LoopSettings s;
  std::int64_t done = 0;
  explicit Loop(const LoopSettings& settings) : s(settings) {}
  bool needs_system() const override { return false; }
  bool run(Run& r) override {
    r.start_progress("turns", done, s.turns);
    while (done < s.turns) {
      if (r.stop_requested()) return false;
      ++done;
      events.push_back("turn " + std::to_string(done));
      if (done == s.stop_at) r.control().request_stop("the test");
      r.observe();
      r.progress(done);
    }
    r.finish_progress(done);
    return true;
  }
  void state(Archive& archive) override { archive("done", done); }
};

// In a fixture the bare words Setup and Run are members of GoogleTest's: hence perrin::Setup,
// perrin::Run.
class RunTest : public ::testing::Test {
 protected:
  RunTest() {
    events.clear();
    register_sources(registry_);
    register_integrators(registry_);
    register_md_stage(registry_);
    registry_.add<Observer, CountSettings>(
        "count", "counts",
        [](const CountSettings& s, perrin::Setup& u) { return std::make_unique<Counter>(s, u); });
    register_forces(registry_);
    registry_.add<Observer, NoteSettings>(
        "note", "notes",
        [](const NoteSettings& s, perrin::Setup&) { return std::make_unique<Note>(s); });
    registry_.add<Stage, LoopSettings>("loop", "loops", [](const LoopSettings& s, perrin::Setup&) {
      return std::make_unique<Loop>(s);
    });
  }

  struct Result {
    bool complete = false;
    std::uint64_t step = 0;
    double time = 0;
    std::vector<std::pair<std::string, std::map<std::string, Record>>> saved;
    std::string job;
    std::map<std::string, Record> end;  // the state at the end
  };

  /// `pauses`: steps; or, without a system, how often may be asked before.
  Result run(const std::string& text, const std::map<std::string, Record>* from = nullptr,
             const std::vector<std::uint64_t>& pauses = {}) {
    const auto file = JsonFile::parse(text, "job.json");
    PluginLoader plugins(registry_);
    JobOptions options;
    options.device = "cpu";
    options.threads = 1;
    options.quiet = true;
    std::optional<Archive> restored;
    if (from) restored = Archive::restoring(*from);
    Job job(file, registry_, plugins, options, restored ? &*restored : nullptr);
    Result result;
    result.job = job.record().job;
    RunParts parts = job.take_parts();
    parts.write_checkpoint = [&](const std::filesystem::path& path, const Archive& archive) {
      result.saved.emplace_back(path.string(), archive.records());
      if (path == "planned") events.push_back("save");
    };
    std::uint64_t asked = 0;
    if (!parts.simulation && !pauses.empty())
      parts.interrupted = [&] { return asked++ == pauses.front(); };
    perrin::Run r(std::move(parts), job.control());
    if (restored) r.restore(std::move(*restored));
    for (const std::uint64_t step : pauses) {
      r.pause_at(step);
      EXPECT_FALSE(r.execute());
      if (r.has_simulation()) {
        EXPECT_EQ(r.simulation().step(), step);
      }
      events.push_back("pause");
    }
    r.pause_at(std::numeric_limits<std::uint64_t>::max());
    while (!(result.complete = r.execute()) && r.stop_reason().empty())
      r.pause_at(std::numeric_limits<std::uint64_t>::max());
    if (r.has_simulation()) {
      result.step = r.simulation().step();
      result.time = r.simulation().time();
      Archive archive = Archive::saving();
      r.simulation().state(archive);
      result.end = archive.records();
    }
    return result;
  }

  static std::string job(const std::string& observer, const std::string& stages) {
    return R"({"system": {"type": "lattice", "density": 0.5, "cells": [2, 2, 2]},
      "velocity": {"temperature": 1}, "seed": 5, "observers": [{"type": "count", )" +
           observer + R"(}], "stages": [)" + stages + "]}";
  }
  static std::string md(int steps, const std::string& timestep = "0.01") {
    return R"({"type": "md", "steps": )" + std::to_string(steps) +
           R"(, "integrator": {"type": "velocity_verlet", "timestep": )" + timestep + "}}";
  }
  using Events = std::vector<std::string>;

  Registry registry_;
};

/// A batch of which it only matters who it is.
struct AnyBatch final : BatchReplay {
  void replay(int, const std::shared_ptr<const LaunchList>&, int) override {}
  bool comes_between(int) override { return false; }
  void fetch(int, void*, const void*, std::size_t) override {}
  Seen look(int, const std::uint64_t*, const std::uint32_t*) override { return {}; }
  bool put(int, std::uint32_t*, std::uint32_t) override { return false; }
  void settle(int) override {}
  void works_alone(int) override {}
  void forget(int) override {}
};

/// Or else its steps would be launched by themselves: nothing but the time that it takes says so.
TEST_F(RunTest, ASystemOfABatchKnowsThatItIsOne) {
  AnyBatch batch;
  DeviceRole role;
  role.batch = &batch, role.batch_member = 5;
  JobOptions options;
  options.given_device = Device::cpu(1).with(role);
  options.quiet = true;
  const auto file = JsonFile::parse(job(R"("stride": 3)", md(7)), "job.json");
  PluginLoader plugins(registry_);
  Job job(file, registry_, plugins, options, nullptr);
  const RunParts parts = job.take_parts();
  const DeviceRole& found = parts.simulation->device().role();
  EXPECT_EQ(found.batch, &batch);
  EXPECT_EQ(found.batch_member, 5);
}

TEST_F(RunTest, ObserversAreCalledAtTheirStridesOncePerStep) {
  const auto result = run(job(R"("stride": 3)", md(7) + "," + md(3)));
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.step, 10u);
  EXPECT_NEAR(result.time, 0.1, 1e-12);
  EXPECT_EQ(events, (Events{"begin", "0", "3", "6", "end", "begin", "9", "end"}));
}

TEST_F(RunTest, TheCheckpointOfACompleteRunIsWrittenBehindItsLastRows) {
  // Killed before it is written, the run goes on from an earlier one; behind it nothing is left.
  const auto result = run(job(R"("stride": 3, "plan": true)", md(4) + "," + md(3)));
  EXPECT_EQ(events, (Events{"begin", "0", "3", "end", "begin", "6", "end", "save"}));
  ASSERT_EQ(result.saved.size(), 1u);
  events.clear();
  const auto stopped = run(job(R"("stride": 3, "plan": true, "stop_at": 3)", md(4)));
  EXPECT_EQ(events, (Events{"begin", "0", "3", "save", "end"}));
  EXPECT_EQ(result.saved[0].second.at("run/complete").bytes[0], std::byte(1));
  EXPECT_EQ(stopped.saved[0].second.at("run/complete").bytes[0], std::byte(0));
}

TEST_F(RunTest, PausesAndGoesOnAsIfNothingHadBeen) {
  const std::string text = job(R"("stride": 3, "save_at": 6)", md(7) + "," + md(40));
  const auto whole = run(text);
  events.clear();
  const auto paused = run(text, nullptr, {0, 2, 2, 6, 7, 31});
  EXPECT_TRUE(paused.complete);
  EXPECT_EQ(Events(events.begin(), events.begin() + 14),
            (Events{"begin", "0", "pause", "pause", "pause", "3", "6", "pause", "end", "begin",
                    "pause", "9", "12", "15"}));
  EXPECT_EQ(paused.saved.size(), whole.saved.size());  // none for a pause
  ASSERT_EQ(paused.end.size(), whole.end.size());
  for (const auto& [name, record] : whole.end)
    EXPECT_EQ(paused.end.at(name).bytes, record.bytes) << name;
  // At the end of a stage the next one begins.
  EXPECT_EQ(paused.step, 47u);
}

TEST_F(RunTest, AStageWithoutASystemPauses) {
  const auto result = run(R"({"stages": [{"type": "loop", "turns": 5}]})", nullptr, {2});
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(events, (Events{"turn 1", "turn 2", "pause", "turn 3", "turn 4", "turn 5"}));
}

TEST_F(RunTest, AStepBetweenTwoStagesIsObservedOnce) {
  run(job(R"("stride": 2)", md(4) + "," + md(2)));
  EXPECT_EQ(events, (Events{"begin", "0", "2", "4", "end", "begin", "6", "end"}));
}

/// Stages of four, three and two steps; the first has a name of its own.
std::string three_stages() {
  return R"({"type": "md", "steps": 4, "name": "warm", "integrator": {"type": "velocity_verlet",
      "timestep": 0.01}},
    {"type": "md", "steps": 3, "name": "rest", "integrator": {"type": "velocity_verlet",
      "timestep": 0.01}},
    {"type": "md", "steps": 2, "integrator": {"type": "velocity_verlet", "timestep": 0.01}})";
}

TEST_F(RunTest, ObserversBelongToStages) {
  run(job(R"("stride": 2, "stages": ["rest"])", three_stages()));
  // Its first step is the last of the stage before.
  EXPECT_EQ(events, (Events{"begin", "end", "begin", "4", "6", "end", "begin", "end"}));
  events.clear();
  run(job(R"("stride": 2, "stages": ["warm", "rest"])", three_stages()));
  EXPECT_EQ(events, (Events{"begin", "0", "2", "4", "end", "begin", "6", "end", "begin", "end"}));
  events.clear();
  run(job(R"("stride": 3, "stages": ["md"])", three_stages()));  // the type of all
  EXPECT_EQ(events, (Events{"begin", "0", "3", "end", "begin", "6", "end", "begin", "9", "end"}));
}

TEST_F(RunTest, AStageThatAnObserverNamesMustBeThere) {
  try {
    run(job(R"("stride": 2, "stages": ["rest", "warn"])", three_stages()));
    FAIL();
  } catch (const UserError& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("job.json:2: observers[0].stages[1]: no stage has the name or the type "
                        "\"warn\"; did you mean \"warm\"?"),
              std::string::npos)
        << what;
  }
}

TEST_F(RunTest, AResumedRunKnowsItsStages) {
  const std::string text = job(R"("stride": 2, "stages": ["rest"], "save_at": 6)", three_stages());
  const auto whole = run(text);
  ASSERT_EQ(whole.saved.size(), 1u);
  const auto& steps = whole.saved[0].second.at("run/stage_steps").bytes;
  ASSERT_EQ(steps.size(), 24u);
  std::int64_t began[3];
  std::memcpy(began, steps.data(), 24);
  EXPECT_EQ(began[0], 0);
  EXPECT_EQ(began[1], 4);
  EXPECT_EQ(began[2], -1);
  events.clear();
  EXPECT_TRUE(run(whole.job, &whole.saved[0].second).complete);
  EXPECT_EQ(events, (Events{"resume", "end", "begin", "end"}));
}

TEST_F(RunTest, ObserversOfTotalsSeeTheSameWhenTheyAreCalledLater) {
  const auto notes = [&](bool patient) {
    events.clear();
    const std::string observer =
        R"({"type": "note", "patient": )" + std::string(patient ? "true" : "false");
    const auto result = run(R"({"system": {"type": "lattice", "density": 0.8, "cells": [4, 4, 4]},
      "velocity": {"temperature": 1}, "seed": 5,
      "forces": [{"type": "lennard_jones", "cutoff": 2,
                  "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
      "observers": [)" + observer +
                            R"(, "stride": 3}, {"type": "count", "stride": 17, "save_at": 34}, )" +
                            observer + R"(, "stride": 4, "stages": ["rest"]}],
      "stages": [)" + md(50, "0.004") +
                            R"(, {"type": "md", "steps": 301, "name": "rest", "integrator": {
        "type": "bussi", "timestep": 0.002, "temperature": 1, "tau": 0.1}}]})");
    EXPECT_TRUE(result.complete);
    EXPECT_EQ(result.saved.size(), 1u);
    // A checkpoint comes after all that is due before it.
    const auto saved = std::ranges::find(events, "34");
    EXPECT_EQ(
        std::ranges::count_if(events.begin(), saved, [](const auto& e) { return e.size() > 10; }),
        12);
    std::ranges::stable_sort(events);  // the two and the counter are not in turns
    return events;
  };
  const auto at_once = notes(false);
  EXPECT_EQ(at_once.size(), 118u + 75u + 21u + 8u);
  EXPECT_EQ(notes(true), at_once);
}

TEST_F(RunTest, AStopSavesWhereItStands) {
  const auto result = run(job(R"("stride": 5, "stop_at": 10)", md(100)));
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.step, 10u);
  ASSERT_EQ(result.saved.size(), 1u);
  EXPECT_EQ(events.back(), "end");
}

TEST_F(RunTest, ACheckpointIsWrittenWhereAnObserverAsks) {
  const auto result = run(job(R"("stride": 5, "save_at": 10)", md(20)));
  EXPECT_TRUE(result.complete);
  ASSERT_EQ(result.saved.size(), 1u);
  EXPECT_EQ(result.saved[0].first, "at_step");
}

TEST_F(RunTest, AResumedRunEndsWithTheSameBits) {
  const std::string text = job(R"("stride": 5, "save_at": 35)", md(30, "0.013") + "," + md(40));
  const auto whole = run(text);
  ASSERT_EQ(whole.saved.size(), 1u);
  events.clear();
  // From the record of the job, as `perrin resume` does: every default is in it.
  const auto resumed = run(whole.job, &whole.saved[0].second);
  EXPECT_TRUE(resumed.complete);
  EXPECT_EQ(events.front(), "resume");
  EXPECT_EQ(events[1], "40");  // step 35 has been observed before it was saved
  EXPECT_EQ(resumed.step, 70u);
  EXPECT_EQ(resumed.time, whole.time);
  ASSERT_EQ(resumed.end.size(), whole.end.size());
  for (const auto& [name, record] : whole.end)
    EXPECT_EQ(resumed.end.at(name).bytes, record.bytes) << name;
}

TEST_F(RunTest, AStageWithoutASystemStopsAndGoesOn) {
  const std::string text = R"({"seed": 1, "stages": [{"type": "loop", "turns": 5, "stop_at": 3}]})";
  const auto first = run(text);
  EXPECT_FALSE(first.complete);
  ASSERT_EQ(first.saved.size(), 1u);
  EXPECT_EQ(events.back(), "turn 3");
  events.clear();
  const auto second =
      run(R"({"seed": 1, "stages": [{"type": "loop", "turns": 5}]})", &first.saved[0].second);
  EXPECT_TRUE(second.complete);
  EXPECT_EQ(events, (Events{"turn 4", "turn 5"}));
}

TEST_F(RunTest, TheRecordHoldsEveryDefaultAndTheSeed) {
  const auto result = run(R"({"system": {"type": "lattice", "density": 0.5, "cells": [2, 2, 2]},
    "stages": [)" + md(1) +
                          "]}");
  const Json record = Json::parse(result.job);
  EXPECT_TRUE(record["seed"].is_number_unsigned());
  EXPECT_LT(record["seed"].get<std::uint64_t>(), std::uint64_t(1) << 53);
  EXPECT_EQ(record["units"], "lj");
  EXPECT_EQ(record["system"]["type"], "lattice");
  EXPECT_EQ(record["system"]["structure"], "fcc");
  EXPECT_EQ(record["stages"][0]["integrator"]["type"], "velocity_verlet");
  EXPECT_EQ(record["stages"][0]["name"], "md");
}

TEST(BuildCheck, TellsBothBuildsWhereTheyDiffer) {
  EXPECT_EQ(other_build("_perrin.so", build_tag(), layout), "");
  const std::string tag = other_build("_perrin.so", "gcc-1 c++98 perrin-0.0.1", layout);
  for (const char* part : {"_perrin.so and ", "gcc-1 c++98 perrin-0.0.1 layout-", build_tag()})
    EXPECT_NE(tag.find(part), std::string::npos) << tag;
  Layout sizes = layout;
  sizes[3] += 8;
  EXPECT_NE(other_build("_perrin.so", build_tag(), sizes), "");
}

TEST(Duration, IsReadWithUnits) {
  EXPECT_EQ(parse_duration(""), 0);
  EXPECT_EQ(parse_duration("90"), 90);
  EXPECT_EQ(parse_duration("1.5h"), 5400);
  EXPECT_EQ(parse_duration("1h30m"), 5400);
  EXPECT_EQ(parse_duration("2d"), 172800);
  for (const char* bad : {"soon", "3x", "-5", "1h30m!", "h"})
    EXPECT_THROW(parse_duration(bad), UserError) << bad;
}

}  // namespace
}  // namespace perrin
