// The choice of traversal and skin: it must find the fastest of a known landscape of times, leave
// it when another becomes faster, and change nothing but speed.
#include "neighbor/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <ostream>

#include "engine/components/registry.h"
#include "engine/dynamics/simulation.h"
#include "engine/settings/settings_parse.h"
#include "integrators/velocity_verlet.h"
#include "neighbor/neighbors.h"
#include "tests/devices.h"
#include "tests/fluids.h"

namespace perrin {
namespace {

/// Windows until nothing changes any more, of a system whose fastest skin is `best`.
void settle(NeighborTuner& tuner, double best, double other_traversal, int windows) {
  for (int k = 0; k < windows; ++k) {
    const NeighborSettings& s = tuner.current();
    const bool standard = s.traversal == "clusters" || s.traversal == "tiles";
    const double off = std::log(s.skin / best);
    tuner.measured(standard ? 1 + off * off : other_traversal);
  }
}

TEST(NeighborSettings, SmallIsForGpusAndHasItsLanes) {
  NeighborSettings settings;
  settings.traversal = "small";
  EXPECT_FALSE(wrong_setting(settings, true));
  EXPECT_EQ(wrong_setting(settings, false).value().key, std::string("traversal"));
  settings.lanes = 8;
  EXPECT_EQ(wrong_setting(settings, true).value().key, std::string("lanes"));
}

TEST(NeighborTuner, TriesSmallWhereThereAreFewParticles) {
  for (const bool few : {false, true})
    for (const int lanes : {0, 8}) {
      NeighborSettings settings;
      settings.lanes = lanes;
      NeighborTuner tuner(settings, 2.5, true, few);
      for (int k = 0; k < 60; ++k) tuner.measured(tuner.current().traversal == "small" ? 0.5 : 1);
      EXPECT_EQ(tuner.current().traversal == "small", few && lanes == 0);
    }
}

TEST(NeighborSettings, NamesOfEarlierVersions) {
  struct {
    const char *before, *now;
    bool sorted;
    const char* sorting;
  } const names[] = {{"verlet", "tiles", true, "auto"}, {"rows", "verlet_list", false, "none"}};
  for (const auto& [before, now, sorted, sorting] : names) {
    NeighborSettings settings;
    std::string notes;
    const auto file = JsonFile::parse(
        fmt::format(R"({{"traversal": "{}", "reorder": true, "interaction_sorting": {}}})", before,
                    sorted),
        "job.json");
    const Registry registry;
    SettingsParser parser(
        registry, [](const std::string& path, const std::string& what) { FAIL() << path << what; },
        [&](const std::string& path, const std::string&) { notes += path + " "; });
    parser.parse(file.value(), "", settings);
    EXPECT_EQ(settings.traversal, now);
    EXPECT_EQ(settings.interaction_sorting, sorting);
    EXPECT_EQ(notes, "traversal interaction_sorting reorder ");
    // What a checkpoint of that version holds.
    const std::string basis = fmt::format(
        R"({{"traversal":"{}","skin":0.0,"exclusions":["bonds"],"interaction_sorting":{},)"
        R"("reorder":true,"cells":0,"brick":0,"lanes":0}} cpu 2.5)",
        before, sorted);
    EXPECT_EQ(current_basis(basis), what_choices_rest_on(settings, Ranges(2.5), 1, Device::cpu(1)));
    EXPECT_EQ(current_traversal(before, true), now);
  }
  EXPECT_EQ(current_traversal("clusters", false), "clusters");
  EXPECT_EQ(current_traversal("clusters", true), "tiles");
}

TEST(NeighborTuner, ClimbsToTheFastestSkin) {
  for (const double best : {0.15, 0.4, 0.9}) {
    NeighborTuner tuner({}, 2.5, false);
    settle(tuner, best, 3, 40);
    EXPECT_EQ(tuner.current().traversal, "clusters");
    EXPECT_NEAR(std::log(tuner.current().skin / best), 0, 0.5 * std::log(1.3) + 0.01) << best;
  }
}

TEST(NeighborTuner, TakesTheOtherTraversalWhereItIsFaster) {
  NeighborTuner gpu({}, 1, true), cpu({}, 1, false);
  settle(gpu, 0.16, 0.5, 40);
  settle(cpu, 0.16, 0.99, 40);
  EXPECT_EQ(gpu.current().traversal, "verlet_list") << "the first of those that take half as long";
  EXPECT_EQ(cpu.current().traversal, "clusters") << "one per cent is not worth a change";
}

struct Way {
  std::string traversal;
  int lanes = 0, cells = 0, brick = 0;
  std::string sorting = "auto";
  bool operator==(const Way&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Way& w) {
  return out << w.traversal << ' ' << w.lanes << ' ' << w.cells << ' ' << w.brick << ' '
             << w.sorting;
}

/// The ways that are tried once the skin is settled, where `fast` says which take a tenth less
/// each.
std::vector<Way> tried(bool gpu, const std::function<int(const Way&)>& fast, std::string& report) {
  NeighborTuner tuner({}, 2.5, gpu);
  std::vector<Way> order;
  for (int k = 0; k < 60; ++k) {
    const NeighborSettings& s = tuner.current();
    const Way way{s.traversal, s.lanes, s.cells, s.brick, s.interaction_sorting};
    if (order.empty() || order.back() != way) order.push_back(way);
    const double off = s.traversal == "cells" ? 0 : std::log(s.skin / 0.6);
    if (order.size() > 1) {
      EXPECT_NEAR(std::log(s.skin / 0.6), 0, 0.5 * std::log(1.3) + 0.01);
    }
    tuner.measured(std::pow(0.9, fast(way)) * (1 + off * off));
  }
  report = tuner.report();
  return order;
}

TEST(NeighborTuner, TriesEverythingOnceTheSkinIsSettled) {
  const std::vector<Way> cells{{"cells", 0, 0, 0, "axes"}, {"cells", 0, 0, 0, "x"},
                               {"cells", 0, 1, 0, "x"},    {"cells", 0, 2, 0, "x"},
                               {"cells", 0, 0, 0, "none"}, {"cells", 0, 1, 0, "none"},
                               {"cells", 0, 2, 0, "none"}};
  std::vector<Way> cpu{{"clusters"}, {"verlet_list"}};
  std::vector<Way> gpu{{"tiles"},           {"tiles", 4},        {"tiles", 8},
                       {"tiles", 0, 1},     {"tiles", 0, 2},     {"tiles", 0, 0, 8},
                       {"tiles", 0, 0, 16}, {"tiles", 0, 0, 32}, {"tiles", 0, 0, 64},
                       {"verlet_list"}};
  for (auto* all : {&cpu, &gpu}) {
    all->insert(all->end(), cells.begin(), cells.end());
    for (const Way& best : {all->front(), all->at(1), all->at(2), all->back()}) {
      std::string report;
      const auto order = tried(
          all == &gpu, [&](const Way& w) { return w == best ? 1 : 0; }, report);
      EXPECT_EQ(order.back(), best) << report;
      if (best == all->front()) {
        std::vector<Way> expected = *all;
        expected.push_back(best);
        EXPECT_EQ(order, expected) << report;
      }
    }
  }
}

TEST(NeighborTuner, KeepsWhatHasProvedGoodForTheNextTrial) {
  std::string report;
  const auto order = tried(
      true,
      [](const Way& w) {
        return w.traversal == "tiles" ? (w.lanes == 8) + (w.cells == 1) + (w.brick == 32) : 0;
      },
      report);
  const Way best{"tiles", 8, 1, 32};
  EXPECT_EQ(order.back(), best) << report;
  EXPECT_NE(std::find(order.begin(), order.end(), Way{"tiles", 8, 1, 64}), order.end());
  EXPECT_NE(std::find(order.begin(), order.end(), Way{"verlet_list"}), order.end())
      << "other traversals begin with what the user chose";
  EXPECT_EQ(report.find("tiles 0.676 with 8 lanes, 1 cells per range, bricks of 32 ("), 0u)
      << report;
}

TEST(NeighborTuner, LeavesWhatTheUserChose) {
  NeighborSettings settings;
  settings.lanes = 8;
  settings.interaction_sorting = "none";
  settings.cells = 1;
  settings.brick = 16;
  NeighborTuner tuner(settings, 2.5, true);
  for (int k = 0; k < 40; ++k) {
    EXPECT_EQ(tuner.current().lanes, 8);
    EXPECT_EQ(tuner.current().cells, 1);
    EXPECT_EQ(tuner.current().brick, 16);
    EXPECT_EQ(tuner.current().interaction_sorting, "none");
    tuner.measured(1 + 0.1 * (k % 3));
  }
}

TEST(NeighborTuner, GoesOnFromTheStateOfEarlierVersions) {
  // They knew two ways to sort, and said which by true and false.
  const std::string word = "interaction_sorting";
  for (const std::string sorting : {"x", "none"}) {
    NeighborSettings settings;
    settings.interaction_sorting = sorting;
    NeighborTuner tuner(settings, 2.5, false);
    for (int k = 0; k < 60 && tuner.current().traversal != "cells"; ++k)
      tuner.measured(1 + 0.1 * (k % 3));
    ASSERT_EQ(tuner.current().traversal, "cells");
    Archive saved = Archive::saving();
    tuner.state(saved);
    std::map<std::string, Record> records;
    for (const auto& [name, record] : saved.records()) {
      if (!name.ends_with(word)) {
        records.emplace(name, record);
        continue;
      }
      Archive before = Archive::saving();
      const std::string now(reinterpret_cast<const char*>(record.bytes.data()),
                            record.bytes.size());
      bool sorted = now.find("none") == std::string::npos;
      before("sorting", sorted);
      records.emplace(name.substr(0, name.size() - word.size()) + "sorting",
                      before.records().at("sorting"));
    }
    NeighborTuner other({}, 2.5, false);
    Archive restored = Archive::restoring(records);
    other.state(restored);
    EXPECT_EQ(other.current().traversal, "cells");
    EXPECT_EQ(other.current().interaction_sorting, sorting);
    EXPECT_EQ(other.report(), tuner.report());
  }
}

TEST(NeighborTuner, FollowsASystemThatChanges) {
  NeighborTuner tuner({}, 2.5, false);
  settle(tuner, 0.4, 3, 40);
  settle(tuner, 0.8, 3, 2000);
  EXPECT_NEAR(std::log(tuner.current().skin / 0.8), 0, std::log(1.1) * 1.6);
}

class AutoTest : public DeviceTest {};

TEST_P(AutoTest, RunsAndConservesEnergy) {
  Configuration c = fcc(6, 0.8442);
  thermalize(c, 1.44, 1);
  NeighborSettings settings;
  settings.traversal = "auto";
  Simulation s(device(), c, lennard_jones(device(), 2.5, "force_shift"), 0, settings);
  VelocityVerlet integrator({0.002});
  integrator.begin(s);
  const double before = s.totals().potential + s.totals().kinetic;
  const std::string first = s.neighbor_report();
  // A window of measuring takes a tenth of a second, however many steps that is.
  std::uint64_t steps = 0;
  for (; steps < 600000 && s.neighbor_report().find("tried") == std::string::npos; steps += 1500)
    s.advance(integrator, 1500);
  EXPECT_EQ(s.step(), steps);
  const double after = s.totals().potential + s.totals().kinetic;
  EXPECT_NEAR(after, before, 2e-3 * double(c.position.size()));
  EXPECT_NE(s.neighbor_report(), first);
  EXPECT_NE(s.neighbor_report().find("tried"), std::string::npos) << s.neighbor_report();
}

// A checkpoint of "auto" holds a skin that the resumed run does not begin with: lists must reach as
// far as their skin says, and forces stand where their particles do.
TEST_P(AutoTest, GoesOnFromACheckpointWithAnotherSkin) {
  Configuration c = fcc(6, 0.8442);
  thermalize(c, 1.44, 1);
  const auto make = [&](const char* traversal, double skin) {
    NeighborSettings settings;
    settings.traversal = traversal;
    settings.skin = skin;
    return std::make_unique<Simulation>(device(), c, lennard_jones(device(), 2.5, "force_shift"), 0,
                                        settings);
  };
  VelocityVerlet integrator({0.002});
  const auto first = make("standard", 0.7);
  integrator.begin(*first);
  first->advance(integrator, 300);
  Archive saved = Archive::saving();
  first->state(saved);
  const auto energy = [](Simulation& s) { return s.totals().potential + s.totals().kinetic; };
  const double before = energy(*first);
  const double n = double(c.position.size());
  for (const char* traversal : {"standard", "auto"}) {
    const auto second = make(traversal, 0.2);
    Archive restored = Archive::restoring(saved.records());
    second->state(restored);
    integrator.begin(*second);
    EXPECT_NEAR(energy(*second), before, 1e-5 * n) << traversal;
    second->advance(integrator, 300);
    EXPECT_EQ(second->step(), 600u);
    EXPECT_NEAR(energy(*second), before, 1e-3 * n) << traversal;
  }
}

PERRIN_INSTANTIATE_DEVICES(AutoTest);

}  // namespace
}  // namespace perrin
