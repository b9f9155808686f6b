// The plug-in neutron_slab against exact results, a deterministic solution, and itself.
//
// Statistical tests compare with the program's own standard error (itself checked from batches in
// ErrorsAreRight) and allow 4.5 of them: with fixed seeds they either pass for ever or are wrong; a
// right program would fail one comparison in 150 000 after a change of seeds or streams.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "engine/components/run_control.h"
#include "engine/run/run.h"
#include "io/hdf5.h"
#include "io/writer.h"
#include "plugins/neutron_slab/loops.h"
#include "plugins/neutron_slab/neutron_slab.h"
#include "rng/keyed.h"
#include "tests/devices.h"
#include "tests/plugins/neutron_expect.h"
#include "tests/plugins/neutron_reference.h"

namespace neutron {
namespace {

using perrin::Device;

const std::vector<Layer> thick{{10, 1.1, 1.0}};
const std::vector<Layer> layered{{1, 2, 1}, {1, 0, 0}, {2, 0.5, 0.5}, {1, 1, 0.2}};

struct Options {
  bool weighted = false, persistent = true;
  std::string generator = "saru";
  std::int64_t histories = 100000;
  double roulette = 0;
  int depth_bins = 0, angle_bins = 0;
  std::uint64_t seed = 1;
  std::int64_t streams = 0;
  std::int64_t batches = 1;
  TransportSettings::TwisterState twister_state = TransportSettings::TwisterState::automatic;
};

Results simulate(const Device& device, const std::vector<Layer>& layers, const Options& o) {
  TransportSettings t;
  t.slab = Slab::of(layers, o.roulette);
  Cells cells = Cells::of(layers, o.depth_bins);
  t.edges = cells.edge;
  t.angles = o.angle_bins;
  t.weighted = o.weighted;
  t.persistent = o.persistent;
  t.generator = o.generator;
  t.seed = o.seed;
  t.streams = o.streams;
  t.twister_state = o.twister_state;
  const auto transport = make_transport(device, t);
  Results results(std::move(cells), o.depth_bins, o.angle_bins, o.weighted);
  const auto largest = std::int64_t(largest_batch(t.slab.thickness, o.weighted));
  const std::int64_t batches = std::max(o.batches, (o.histories + largest - 1) / largest);
  for (std::int64_t b = 0; b < batches; ++b) {
    const std::int64_t first = o.histories * b / batches;
    const std::int64_t n = o.histories * (b + 1) / batches - first;
    results.add(transport->run(std::uint64_t(first), n), n);
  }
  return results;
}

const reference::Solution& thick_solution() {
  static const auto s = reference::extrapolated(reference::integral_equation(thick, 200),
                                                reference::integral_equation(thick, 400));
  return s;
}
const reference::Solution& layered_solution() {
  static const auto s = reference::extrapolated(reference::integral_equation(layered, 50),
                                                reference::integral_equation(layered, 100));
  return s;
}

/// Every bit of what two runs say.
void expect_same(const Results& a, const Results& b, const std::string& what) {
  for (const char* name : {"transmission", "reflection", "absorption", "collisions"}) {
    EXPECT_EQ(a.by_name(name).mean, b.by_name(name).mean) << what << ", " << name;
    EXPECT_EQ(a.by_name(name).error, b.by_name(name).error) << what << ", " << name;
  }
  EXPECT_EQ(a.simulated_collisions(), b.simulated_collisions()) << what;
  const auto same = [&](const std::vector<Estimate>& x, const std::vector<Estimate>& y) {
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t k = 0; k < x.size(); ++k) EXPECT_EQ(x[k].mean, y[k].mean) << what << " " << k;
  };
  same(a.flux(), b.flux());
  same(a.transmitted_angles(), b.transmitted_angles());
  same(a.reflected_angles(), b.reflected_angles());
}

// ---- The deterministic solution itself ----

TEST(NeutronReference, TwoDiscretisationsAgreeToOneMillionth) {
  for (const auto& [layers, cells] : {std::pair(thick, 400), std::pair(layered, 100)}) {
    const auto integral = reference::extrapolated(reference::integral_equation(layers, cells / 2),
                                                  reference::integral_equation(layers, cells));
    const auto ordinates =
        reference::extrapolated(reference::discrete_ordinates(layers, cells / 2, 32),
                                reference::discrete_ordinates(layers, cells, 32));
    EXPECT_NEAR(integral.transmission, ordinates.transmission, 1e-6);
    EXPECT_NEAR(integral.reflection, ordinates.reflection, 1e-6);
    EXPECT_NEAR(integral.absorption, ordinates.absorption, 1e-6);
    EXPECT_NEAR(integral.collisions, ordinates.collisions, 1e-5);  // larger by a factor of six
    EXPECT_NEAR(integral.transmission + integral.reflection + integral.absorption, 1, 1e-12);
  }
}

TEST(NeutronReference, Limits) {
  const auto absorber = reference::integral_equation({{3, 1, 0}}, 50);
  EXPECT_NEAR(absorber.transmission, std::exp(-3.0), 1e-14);
  EXPECT_NEAR(absorber.collisions, 1 - std::exp(-3.0), 1e-12);
  const auto conservative =
      reference::extrapolated(reference::discrete_ordinates({{2, 1, 1}}, 100, 16),
                              reference::discrete_ordinates({{2, 1, 1}}, 200, 16));
  EXPECT_NEAR(conservative.transmission + conservative.reflection, 1, 1e-6);
}

// ---- The Monte Carlo ----

class NeutronSlabTest : public perrin::DeviceTest {
 protected:
  std::int64_t many() const { return device().is_cuda() ? 100000000 : 1000000; }
};

TEST_P(NeutronSlabTest, PureAbsorber) {
  for (const bool weighted : {false, true}) {
    const Results r =
        simulate(device(), {{2, 1.5, 0}}, {.weighted = weighted, .histories = many()});
    expect_near(r.transmission(), std::exp(-3.0), "transmission");
    EXPECT_EQ(r.reflection().mean, 0);
    EXPECT_EQ(r.transmission().mean + r.absorption().mean, 1);
  }
}

TEST_P(NeutronSlabTest, WithoutAbsorptionEverythingComesOut) {
  for (const bool weighted : {false, true}) {
    const Results r = simulate(device(), {{3, 1, 1}, {1, 2, 2}}, {.weighted = weighted});
    EXPECT_EQ(r.absorption().mean, 0);
    EXPECT_EQ(r.transmission().mean + r.reflection().mean, 1);
  }
}

TEST_P(NeutronSlabTest, DeterministicSolution) {
  for (const bool weighted : {false, true})
    for (const bool persistent : {false, true})
      expect_solution(simulate(device(), thick,
                               {.weighted = weighted,
                                .persistent = persistent,
                                .histories = weighted ? many() / 4 : many()}),
                      thick_solution(), weighted ? "weighted" : "analogue");
}

TEST_P(NeutronSlabTest, ScaledTwinIsTheSameProblem) {
  const Results a = simulate(device(), thick, {});
  const Results b = simulate(device(), {{1, 11, 10}}, {});
  expect_same(a, b, "twin");  // it differs only in the user's unit of length
}

TEST_P(NeutronSlabTest, Layers) {
  for (const bool weighted : {false, true})
    expect_solution(simulate(device(), layered, {.weighted = weighted, .histories = many() / 2}),
                    layered_solution(), "layers");
  // Cutting a slab into layers changes nothing.
  const std::vector<Layer> cut{{4, 1.1, 1.0}, {6, 1.1, 1.0}};
  const Results whole = simulate(device(), thick, {}), pieces = simulate(device(), cut, {});
  expect_same(whole, pieces, "cut");
}

TEST_P(NeutronSlabTest, RouletteSavesWorkWithoutBias) {
  const Results all = simulate(device(), thick, {.weighted = true, .histories = many() / 4});
  const Results some = simulate(
      device(), thick, {.weighted = true, .histories = many() / 4, .roulette = 0.2, .seed = 2});
  expect_solution(some, thick_solution(), "roulette");
  EXPECT_LT(some.simulated_collisions(), 0.5 * all.simulated_collisions());
}

TEST_P(NeutronSlabTest, EveryGenerator) {
  for (const std::string& generator : generators()) {
    if (generator == "mt19937" && device().is_cuda()) continue;
    const Options o{.generator = generator, .histories = many() / 5, .batches = 3};
    expect_solution(simulate(device(), thick, o), thick_solution(), generator);
  }
}

TEST_P(NeutronSlabTest, KernelsAgreeBitForBit) {
  for (const std::string generator : {"saru", "philox", "mt607", "hybrid_taus"})
    for (const bool weighted : {false, true}) {
      Options o{.weighted = weighted,
                .generator = generator,
                .histories = 50001,
                .roulette = weighted ? 0.01 : 0,
                .depth_bins = 30,
                .angle_bins = 10,
                .streams = is_keyed(generator) ? 0 : 1000,
                .batches = 2};
      o.persistent = true;
      const Results persistent = simulate(device(), layered, o);
      o.persistent = false;
      expect_same(persistent, simulate(device(), layered, o), generator);
    }
}

TEST_P(NeutronSlabTest, ThreadsAndDeviceDoNotMatter) {
  for (const std::string& generator : generators()) {
    const Options o{.weighted = true,
                    .generator = generator,
                    .histories = 20011,
                    .depth_bins = 30,
                    .angle_bins = 10,
                    .streams = is_keyed(generator) ? 0 : 256};
    const Results one = simulate(Device::cpu(1), layered, o);
    expect_same(one, simulate(Device::cpu(3), layered, o), generator);
    if (generator != "mt19937") expect_same(one, simulate(device(), layered, o), generator);
  }
}

// In memory, in shared memory and in registers; by few streams, whose blocks are small, and by
// many.
TEST_P(NeutronSlabTest, WhereTheTwisterHasItsStateDoesNotMatter) {
  using State = TransportSettings::TwisterState;
  for (const bool weighted : {false, true})
    for (const bool observe : {false, true})
      for (const std::int64_t streams : {100, 20000}) {
        Options o{.weighted = weighted,
                  .generator = "mt607",
                  .histories = 50001,
                  .roulette = weighted ? 0.01 : 0,
                  .depth_bins = observe ? 30 : 0,
                  .angle_bins = observe ? 10 : 0,
                  .streams = streams,
                  .batches = 3};
        o.twister_state = State::memory;
        const Results memory = simulate(Device::cpu(1), layered, o);
        for (const State state : {State::shared, State::registers, State::automatic})
          for (const bool persistent : {false, true}) {
            o.twister_state = state;
            o.persistent = persistent;
            expect_same(memory, simulate(device(), layered, o), "state");
          }
      }
}

TEST_P(NeutronSlabTest, BatchesDoNotMatter) {
  Options o{.depth_bins = 20};
  const Results one = simulate(device(), thick, o);
  o.batches = 7;
  const Results seven = simulate(device(), thick, o);
  EXPECT_EQ(one.transmission().mean, seven.transmission().mean);
  EXPECT_EQ(one.collisions().mean, seven.collisions().mean);
  EXPECT_EQ(one.collisions().error, seven.collisions().error);
  // Sums of batches in double.
  for (std::size_t k = 0; k < 20; ++k) EXPECT_NEAR(one.flux()[k].mean, seven.flux()[k].mean, 1e-13);
}

// Errors between histories are right if results of many seeds scatter as they say. With 64 seeds
// the sum of squared deviations over the error is chi-square with 64 degrees: 64 ± 11.3 (one
// sigma).
TEST_P(NeutronSlabTest, ErrorsAreRight) {
  for (const bool weighted : {false, true}) {
    std::map<std::string, double> chi;
    for (std::uint64_t seed = 100; seed < 164; ++seed) {
      const Results r = simulate(
          device(), layered,
          {.weighted = weighted, .histories = 5000, .depth_bins = 4, .seed = seed, .batches = 50});
      const auto add = [&](const std::string& name, const Estimate& e, double exact) {
        chi[name] += std::pow((e.mean - exact) / e.error, 2);
      };
      add("T", r.transmission(), layered_solution().transmission);
      add("R", r.reflection(), layered_solution().reflection);
      add("A", r.absorption(), layered_solution().absorption);
      add("C", r.collisions(), layered_solution().collisions);
    }
    for (const auto& [name, sum] : chi) EXPECT_NEAR(sum, 64, 4.5 * 11.3) << name;
  }
}

TEST_P(NeutronSlabTest, FluxFollowsTheIntegralEquation) {
  // Bins that the mesh of the solution resolves: means of the density over each.
  const int bins = 25;
  std::vector<double> density;
  reference::integral_equation(thick, 400, &density);
  const auto exact = reference::bin_means(reference::Mesh(thick, 400), density, bins);
  for (const bool weighted : {false, true}) {
    const Results r =
        simulate(device(), thick,
                 {.weighted = weighted, .histories = 500000, .depth_bins = bins, .batches = 100});
    const auto flux = r.flux();
    double chi = 0;
    for (std::size_t b = 0; b < bins; ++b) {
      expect_near(flux[b], exact[b], "flux in bin " + std::to_string(b));
      chi += std::pow((flux[b].mean - exact[b]) / flux[b].error, 2);
    }
    EXPECT_GT(chi, 3);  // errors that are far too large would pass the above
  }
}

// The sum rules of the observables hold history by history.
TEST_P(NeutronSlabTest, ObservablesAddUp) {
  for (const bool weighted : {false, true}) {
    const Results r =
        simulate(device(), layered, {.weighted = weighted, .depth_bins = 50, .angle_bins = 20});
    double transmitted = 0, reflected = 0;
    for (const Estimate& e : r.transmitted_angles()) transmitted += e.mean;
    for (const Estimate& e : r.reflected_angles()) reflected += e.mean;
    EXPECT_NEAR(transmitted, r.transmission().mean, 1e-8);
    EXPECT_NEAR(reflected, r.reflection().mean, 1e-8);
    // Collisions are flux times cross-section. Bins of 0.1 do not straddle layers; the errors of
    // the two estimators are independent at worst.
    const auto flux = r.flux();
    const double of_bin[] = {2, 0, 0.5, 0.5, 1};
    double collisions = 0;
    for (std::size_t b = 0; b < 50; ++b) collisions += flux[b].mean * 0.1 * of_bin[b / 10];
    EXPECT_NEAR(collisions, r.collisions().mean, 6 * r.collisions().error);
    for (std::size_t b = 10; b < 20; ++b)  // nothing happens in the void
      EXPECT_NEAR(flux[b].mean, flux[10].mean, 1e-6);
  }
}

// A thin void in front and behind: what enters and what leaves crosses it.
TEST_P(NeutronSlabTest, VoidsAtTheFaces) {
  const Results r = simulate(device(), {{1, 0, 0}, {1, 1, 0}, {1, 0, 0}}, {.depth_bins = 3});
  EXPECT_EQ(r.flux()[0].mean, 1);
  EXPECT_NEAR(r.flux()[1].mean, 1 - std::exp(-1.0), 0.005);
  EXPECT_EQ(r.flux()[2].mean, r.transmission().mean);
}

PERRIN_INSTANTIATE_DEVICES(NeutronSlabTest);

// ---- Why there is no step limit ----

/// The variant that the plug-in does not have: each thread makes `steps` flights, goes on with new
/// histories as they end, and what is unfinished at the end is forgotten. perrin-bench neutron-text
/// has the whole table.
template <bool Weighted>
Results step_limited(const std::vector<Layer>& layers, int steps, int threads) {
  const Slab slab = Slab::of(layers, 0);
  const perrin::RunKey key(perrin::Purpose::test, 1);
  Batch batch;
  HostRecorder none{nullptr};
  std::int64_t ended = 0;
  for (int thread = 0; thread < threads; ++thread) {
    auto g = perrin::keyed<perrin::Philox>(key, 0, std::uint32_t(thread));
    History<Weighted, false> history;
    for (int step = 0; step < steps; ++step)
      if (!history.advance(g, slab, Bins{}, none, batch.scores)) history = {}, ++ended;
  }
  Results results({}, 0, 0, Weighted);
  results.add(batch, ended);
  return results;
}

// A neutron comes through after many collisions, so that it is more often unfinished than others:
// of an analogue one T is too low. A weighted one that is reflected has left early, with much
// weight, so that R is too high: the text's kernel.
TEST(NeutronStepLimit, ForgettingUnfinishedHistoriesIsBiased) {
  const auto off = [](const Estimate& e, double value) { return e.mean / value - 1; };
  const Results analogue = step_limited<false>(thick, 100, 100000);
  const double t = thick_solution().transmission, r = thick_solution().reflection;
  EXPECT_NEAR(off(analogue.transmission(), t), -0.165, 5 * analogue.transmission().error / t);
  EXPECT_GT(analogue.reflection().mean, r + 0.002);
  EXPECT_LT(analogue.collisions().mean, thick_solution().collisions - 0.1);
  const Results weighted = step_limited<true>(thick, 100, 100000);
  EXPECT_NEAR(off(weighted.transmission(), t), 0.035, 5 * weighted.transmission().error / t);
  EXPECT_NEAR(off(weighted.reflection(), r), 0.19, 5 * weighted.reflection().error / r + 0.005);
  const Results longer = step_limited<true>(thick, 1000, 20000);
  EXPECT_NEAR(off(longer.reflection(), r), 0.022, 5 * longer.reflection().error / r + 0.001);
}

// ---- The stage ----

struct StageRun {
  std::unique_ptr<perrin::RunControl> control = std::make_unique<perrin::RunControl>();
  std::filesystem::path folder;
  std::map<std::string, perrin::Record> saved;
  std::vector<std::string> mistakes;

  explicit StageRun(const std::string& name)
      : folder(std::filesystem::temp_directory_path() / ("perrin-neutron-" + name)) {
    std::filesystem::create_directories(folder);
  }

  perrin::SetupContext context(bool resumed) {
    perrin::SetupContext c;
    c.no_system = true;
    c.device = Device::cpu(2);
    c.seed = seed;
    c.output_directory = folder;
    c.overwrite = true;
    c.resuming = resumed;
    c.control = control.get();
    c.report = [this](const std::string& path, const std::string& what) {
      mistakes.push_back(path + ": " + what);
    };
    return c;
  }
  /// Runs a stage from its JSON, or on from what was saved. True: complete.
  bool run(const std::string& json, bool resumed) {
    perrin::Registry registry;
    register_components(registry);
    perrin::RunParts parts;
    parts.stages.push_back(perrin::make_component<perrin::Stage>(registry, json, context(resumed)));
    parts.stage_names = parts.stage_types = {"neutron_slab"};
    parts.quiet = true;
    parts.default_checkpoint = folder / "checkpoint.h5";
    parts.write_checkpoint = [this](const std::filesystem::path&, const perrin::Archive& a) {
      saved = a.records();
      if (stop_after > 0 && --stop_after == 0) control->request_stop("the test");
    };
    perrin::Run run(std::move(parts), *control);
    if (resumed) run.restore(perrin::Archive::restoring(saved));
    return run.execute();
  }
  int stop_after = 0;  // checkpoints
  std::uint64_t seed = 1;

  std::vector<double> read(const std::string& name) {
    return perrin::io::writer().get([&] {
      const auto file = perrin::io::File::read((folder / "neutron_slab.h5").string());
      return file.root().open("observables/" + name).read<double>();
    });
  }
};

std::string stage_json(const std::string& generator) {
  return R"({"type": "neutron_slab", "thickness": 10, "total": 1.1, "scattering": 1.0,
             "histories": 40000, "batch": 1000, "stride": 10000, "generator": ")" +
         generator + R"("})";
}

/// Neutrons with energies.
std::string layers_json(const std::string& generator) {
  return R"job({"type": "neutron_slab", "layers": [
               {"thickness": 1, "mass": 1, "scattering": "2 + 1/sqrt(E)", "absorption": 0.1},
               {"thickness": 2, "mass": 12, "total": [[0.001, 3], [100, 1]], "absorption": 0}],
             "source": {"direction": "cosine", "maxwell": 1}, "cutoff_energy": 0.01,
             "energy_bins": 12,
             "histories": 40000, "batch": 1000, "stride": 10000, "generator": ")job" +
         generator + R"("})";
}

TEST(NeutronStage, ResumedRunWithEnergiesEqualsTheUninterruptedOne) {
  for (const std::string generator : {"saru", "mt607", "mt19937"}) {
    StageRun whole("whole"), parts("parts");
    ASSERT_TRUE(whole.run(layers_json(generator), false));
    parts.control->add_plan(parts.folder / "checkpoint.h5", 1e-9);
    parts.stop_after = 17;
    ASSERT_FALSE(parts.run(layers_json(generator), false));
    parts.control = std::make_unique<perrin::RunControl>();
    ASSERT_TRUE(parts.run(layers_json(generator), true));
    for (const char* name : {"slowed_down/value", "transmission/step", "collisions_error/value",
                             "flux/value", "flux_spectrum/value", "absorbed_spectrum_error/value",
                             "reflected_spectrum/value", "transmitted_spectrum/value"})
      EXPECT_EQ(whole.read(name), parts.read(name)) << generator << " " << name;
    const auto edges = whole.read("energy_edges/value");
    ASSERT_EQ(edges.size(), 4 * 13u);  // in each row
    EXPECT_NEAR(edges[0], 0.01, 1e-9);
    EXPECT_NEAR(edges[12], 46, 1e-9);
    EXPECT_GT(whole.read("slowed_down/value").back(), 0.1);
  }
}

TEST(NeutronStage, ResumedRunEqualsTheUninterruptedOne) {
  for (const std::string generator : {"saru", "mt607", "mt19937", "lcg"}) {
    StageRun whole("whole"), parts("parts");
    ASSERT_TRUE(whole.run(stage_json(generator), false));
    // A checkpoint after every batch, and a stop after the 17th.
    parts.control->add_plan(parts.folder / "checkpoint.h5", 1e-9);
    parts.stop_after = 17;
    ASSERT_FALSE(parts.run(stage_json(generator), false));
    parts.control = std::make_unique<perrin::RunControl>();
    ASSERT_TRUE(parts.run(stage_json(generator), true));
    for (const char* name : {"transmission/value", "transmission/step", "collisions_error/value",
                             "flux/value", "flux_error/value", "reflected_angles/value"})
      EXPECT_EQ(whole.read(name), parts.read(name)) << generator << " " << name;
    EXPECT_EQ(whole.read("transmission/step"), (std::vector<double>{10000, 20000, 30000, 40000}));
  }
}

/// A change of a job's text, and what a resume says of it.
struct Changed {
  const char *from, *to, *expected;
};

std::string refusal_of(StageRun& run, const std::string& text) {
  try {
    run.run(text, true);
  } catch (const perrin::UserError& e) {
    return e.what();
  }
  return "accepted";
}

void expect_refused(StageRun& run, const std::string& original, const Changed& c) {
  std::string text = original;
  text.replace(text.find(c.from), std::string(c.from).size(), c.to);
  const std::string what = refusal_of(run, text);
  EXPECT_NE(what.find(c.expected), std::string::npos) << c.expected << "\nin\n" << what;
}

TEST(NeutronStage, WhatAResumedRunCannotChangeIsRefused) {
  const Changed cases[] = {
      {"\"scattering\": 1.0", "\"scattering\": 0.9", "results are for another slab"},
      {"\"thickness\": 10", "\"thickness\": 11", "results are for another slab"},
      {"\"stride\"", "\"estimator\": \"weighted\", \"stride\"",
       "estimator: the checkpoint's results are for analogue, a resumed run cannot change to "
       "weighted"},
      {"\"stride\"", "\"depth_bins\": 7, \"stride\"",
       "depth_bins: the checkpoint's results are for 100"},
      {"\"stride\"", "\"angle_bins\": 7, \"stride\"",
       "angle_bins: the checkpoint's results are for 20"},
      {"saru_state", "lcg", "generator: the checkpoint's results are for saru_state"},
      {"saru_state", "saru", "generator: the checkpoint's results are for saru_state"},
  };
  StageRun run("refused");
  run.control->add_plan(run.folder / "checkpoint.h5", 1e-9);
  run.stop_after = 3;
  const std::string original = stage_json("saru_state");
  ASSERT_FALSE(run.run(original, false));
  run.control = std::make_unique<perrin::RunControl>();
  const auto refusal = [&](const std::string& text) { return refusal_of(run, text); };
  for (const auto& c : cases) expect_refused(run, original, c);
  run.seed = 2;
  EXPECT_NE(refusal(original).find("seed: the checkpoint's results are for 1"), std::string::npos);
  run.seed = 1;
  EXPECT_EQ(refusal(original), "accepted");
}

TEST(NeutronStage, WithEnergiesAnotherProblemIsRefused) {
  const Changed cases[] = {
      {"2 + 1/sqrt(E)", "2 + 1.01/sqrt(E)", "other cross-sections"},
      {"\"mass\": 12", "\"mass\": 13", "other cross-sections, nuclei"},
      {"\"maxwell\": 1", "\"maxwell\": 1.1", "another source"},
      {"\"direction\": \"cosine\"", "\"direction\": \"isotropic\"", "another source"},
      {"\"energy_bins\": 12", "\"energy_bins\": 13", "bins of the energy"},
      {"\"energy_bins\"", "\"far_face\": \"reflecting\", \"energy_bins\"", "faces"},
      {"\"energy_bins\"", "\"depth_bins\": 7, \"energy_bins\"", "depth_bins: the checkpoint"},
  };
  StageRun run("refused-energies");
  run.control->add_plan(run.folder / "checkpoint.h5", 1e-9);
  run.stop_after = 3;
  const std::string original = layers_json("saru");
  ASSERT_FALSE(run.run(original, false));
  run.control = std::make_unique<perrin::RunControl>();
  const auto refusal = [&](const std::string& text) { return refusal_of(run, text); };
  for (const auto& c : cases) expect_refused(run, original, c);
  EXPECT_NE(refusal(stage_json("saru")).find("results are for another slab"), std::string::npos);
  EXPECT_EQ(refusal(original), "accepted");
}

TEST(NeutronStage, StopsAtTheTargetError) {
  StageRun run("target");
  ASSERT_TRUE(run.run(R"({"type": "neutron_slab", "thickness": 1, "total": 1, "absorption": 0.5,
                          "histories": 10000000, "target_error": 0.01, "batch": 1000})",
                      false));
  const double mean = run.read("transmission/value").back();
  const double error = run.read("transmission_error/value").back();
  EXPECT_LE(error, 0.01 * mean);
  EXPECT_GE(error, 0.009 * mean);
}

TEST(NeutronStage, MistakesAreNamed) {
  const auto mistake = [](const std::string& rest) {
    perrin::Registry registry;
    register_components(registry);
    StageRun run("mistakes");
    try {
      perrin::make_component<perrin::Stage>(
          registry, R"({"type": "neutron_slab", "histories": 10, )" + rest + "}",
          run.context(false));
    } catch (const perrin::UserError& e) {
      run.mistakes.emplace_back(e.what());
    }
    std::string all;
    for (const auto& m : run.mistakes) all += m + "\n";
    return all;
  };
  EXPECT_EQ(mistake(R"("thickness": 1, "total": 1, "scattering": 1)"), "");
  EXPECT_NE(mistake(R"("thickness": 1, "total": 1)").find("two of total"), std::string::npos);
  const auto expect = [&](const char* rest, const char* words) {
    const std::string all = mistake(rest);
    EXPECT_NE(all.find(words), std::string::npos) << words << "\nin\n" << all;
  };
  expect(R"("thickness": 1, "total": -1, "scattering": 1)", "total: must not be negative, got -1");
  expect(R"("thickness": 1, "total": "E", "scattering": 1)", "have one speed");
  expect(R"("thickness": 1, "total": 2, "scattering": 1, "mass": 12)", "without \"source\"");
  expect(R"("thickness": 1, "total": 2, "scattering": 1, "cutoff_energy": 1)", "no effect without");
  expect(R"("thickness": 1, "total": 2, "scattering": 1, "far_face": "reflecting")", "far_face");
  const std::string slab = R"("thickness": 1, "total": 2, "scattering": 1, )";
  expect((slab + R"("source": {"energy": 1})").c_str(), "cutoff_energy: is missing");
  const auto with_source = [&](const char* source, const char* words) {
    expect((slab + R"("cutoff_energy": 0.1, "source": )" + source).c_str(), words);
  };
  EXPECT_EQ(mistake(slab + R"("cutoff_energy": 0.1, "source": {"energy": 1})"), "");
  with_source(R"({})", "one of energy, maxwell and spectrum");
  with_source(R"({"energy": 1, "maxwell": 1})", "one of energy, maxwell and spectrum");
  with_source(R"({"energy": 0.05})", "must reach above cutoff_energy");
  with_source(R"({"energy": 1, "direction": "isotropic", "cosine": 0.5})",
              "for the direction beam");
  with_source(R"({"energy": 1, "range": [1, 2]})", "source.range: is for a spectrum");
  with_source(R"({"spectrum": "E"})", "source.range: must be");
  with_source(R"({"spectrum": "E - 2", "range": [1, 3]})", "finite and not negative");
  with_source(R"({"spectrum": 3})", "a formula of E or a table");
  with_source(R"({"spectrum": [[1, 0], [2, 0]]})", "must not be 0 everywhere");
  with_source(R"({"spectrum": [[1, 1], [2]]})", "two numbers [E, value], got [2]");
  with_source(R"({"spectrum": {"file": "nothing.txt"}})", "nothing.txt");
  expect((R"("thickness": 1, "total": "2 + q", "scattering": 1, "cutoff_energy": 0.1, )" +
          std::string(R"("source": {"energy": 1})"))
             .c_str(),
         "the variable E and no other");
  EXPECT_NE(mistake(R"("thickness": 1, "total": 1, "scattering": 2)").find("at most total (1"),
            std::string::npos);
  EXPECT_NE(mistake(R"("total": 1, "scattering": 1)").find("thickness"), std::string::npos);
  EXPECT_NE(mistake(R"("thickness": 1e6, "total": 1, "scattering": 1)").find("mean free paths"),
            std::string::npos);
  EXPECT_NE(mistake(R"("layers": [{"thickness": 1, "total": 0, "scattering": 0}])")
                .find("cross-section somewhere"),
            std::string::npos);
  EXPECT_NE(
      mistake(R"("thickness": 1, "total": 1, "scattering": 1, "roulette": 0.1)").find("weighted"),
      std::string::npos);
  EXPECT_NE(mistake(R"("thickness": 1, "total": 1, "scattering": 1, "streams": 4)").find("state"),
            std::string::npos);
}

}  // namespace
}  // namespace neutron
