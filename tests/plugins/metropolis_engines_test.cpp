// The three engines follow one chain: with the same seed they accept the same moves.
#include <gtest/gtest.h>

#include "plugins/metropolis/totals.h"
#include "tests/devices.h"
#include "tests/plugins/metropolis_models.h"

namespace perrin::metropolis {
namespace {

/// What a run leaves behind after every cycle.
struct Trace {
  std::vector<unsigned long long> accepted;  // since the start, per cycle and replica
  std::vector<Position> sites;               // at the end, all replicas
  std::vector<double> energy;
  std::vector<double> step_energy;  // sums over all moves
};

Trace follow(const EngineOptions& engine, const Device& device, const Model& model, int cycles,
             ChainOptions options, std::int64_t replicas = 1, int at_once = 1,
             double translation = 0.15) {
  System system(device, model, lattice(model), replicas);
  if (replicas > 1) {
    std::vector<double> kT;
    for (std::int64_t r = 0; r < replicas; ++r) kT.push_back(model.kT * (1 + 0.1 * double(r)));
    system.set_temperatures(kT);
  }
  const double scale = model.pairs[0].a;
  const auto e = make_engine(system, options, engine);
  e->set_sizes({translation * scale, 0.4});
  Trace trace;
  for (int c = 0; c < cycles; c += at_once) {
    e->run(c, at_once);
    for (const auto n : system.accepted()) trace.accepted.push_back(n);
  }
  for (std::int64_t r = 0; r < replicas; ++r)
    for (const Position& p : system.site_positions(r)) trace.sites.push_back(p);
  trace.energy = system.energies();
  trace.step_energy = system.step_energies();
  return trace;
}

void expect_same(const Trace& a, const Trace& b) {
  EXPECT_EQ(a.accepted, b.accepted);
  ASSERT_EQ(a.sites.size(), b.sites.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.sites.size(); ++i)
    different += a.sites[i].x != b.sites[i].x || a.sites[i].y != b.sites[i].y ||
                 a.sites[i].z != b.sites[i].z || a.sites[i].tail != b.sites[i].tail;
  EXPECT_EQ(different, 0u);
  for (std::size_t r = 0; r < a.energy.size(); ++r)
    EXPECT_NEAR(a.energy[r], b.energy[r], 1e-9 * std::max(1.0, std::abs(a.energy[r])));
  for (std::size_t r = 0; r < a.step_energy.size(); ++r)
    EXPECT_NEAR(a.step_energy[r], b.step_energy[r],
                1e-9 * std::max(1e3, std::abs(a.step_energy[r])));
}

struct Case {
  const char* name;
  Model model;
  int cycles;
};

std::vector<Case> cases() {
  return {{"atoms", atoms(70, 0.7), 60},
          {"few_atoms", atoms(20, 0.5), 60},
          {"cut_atoms", atoms(200, 0.6, 1, 2.5), 30},
          {"dimers", dimers(150, 0.3), 40},
          {"benzene", benzene(40, 1.9), 40},
          {"mixture", mixture(97, 0.15), 40}};
}

class MetropolisEngines : public DeviceTest {};

// In double the energy changes of the engines differ by about 10⁻¹⁴, and a decision would differ
// where one comes that close to its threshold: once in 10¹³ moves.
TEST_P(MetropolisEngines, SameDecisionsInDouble) {
  for (const Case& c : cases())
    for (const bool random : {false, true}) {
      SCOPED_TRACE(std::string(c.name) + (random ? ", random order" : ""));
      ChainOptions options{.seed = 7};
      options.random_order = random;
      const Trace reference =
          follow(SequentialOptions{}, Device::cpu(1), c.model, c.cycles, options);
      const double tried = double(c.model.molecule.size()) * c.cycles;
      EXPECT_GT(double(reference.accepted.back()) / tried, 0.1);
      EXPECT_LT(double(reference.accepted.back()) / tried, 0.9);
      expect_same(reference, follow(PipelinedOptions{}, device(), c.model, c.cycles, options));
      const int few = 3;
      expect_same(follow(SequentialOptions{}, Device::cpu(1), c.model, few, options),
                  follow(ReductionOptions{}, device(), c.model, few, options));
    }
}

// To the last bit, energies included: a run that was stopped and resumed has other launches.
TEST_P(MetropolisEngines, CyclesOfOneLaunchAreThoseOfMany) {
  for (const Case& c : cases())
    for (const bool single : {false, true})
      for (const std::int64_t replicas : {1, 3}) {
        SCOPED_TRACE(std::string(c.name) + (single ? ", single" : ", double"));
        const ChainOptions options{.seed = 3, .single_precision = single};
        const Trace one = follow(PipelinedOptions{}, device(), c.model, 24, options, replicas, 1);
        for (const int at_once : {3, 24}) {
          const Trace many =
              follow(PipelinedOptions{}, device(), c.model, 24, options, replicas, at_once);
          expect_same({{}, one.sites, one.energy, {}}, {{}, many.sites, many.energy, {}});
          EXPECT_EQ(one.accepted.back(), many.accepted.back());
          EXPECT_EQ(one.energy, many.energy);
          EXPECT_EQ(one.step_energy, many.step_energy);
        }
      }
}

TEST_P(MetropolisEngines, ReplicasAreRunsOfTheirOwn) {
  const ChainOptions options{.seed = 5};
  for (const Model& model : {atoms(100, 0.6), mixture(50, 0.15)})
    expect_same(follow(SequentialOptions{}, Device::cpu(1), model, 10, options, 9, 5),
                follow(PipelinedOptions{}, device(), model, 10, options, 9, 5));
}

TEST_P(MetropolisEngines, EverySharingOfTheWorkDecidesTheSame) {
  const Model model = dimers(150, 0.3);
  const ChainOptions options{.seed = 11};
  const Trace reference = follow(SequentialOptions{}, Device::cpu(1), model, 10, options);
  for (const int warps : {1, 2, 4, 8, 16})
    expect_same(reference, follow(PipelinedOptions{.warps = warps}, device(), model, 10, options));
}

// Trial moves onto molecules that then move away: their energies are beyond all bounds, but not
// their differences.
TEST_P(MetropolisEngines, LargeStepsIntoOneAnother) {
  const Model model = atoms(96, 0.15);
  for (const bool random : {false, true}) {
    ChainOptions options{.seed = 23};
    options.random_order = random;
    const double step = 3;
    const Trace reference =
        follow(SequentialOptions{}, Device::cpu(1), model, 300, options, 1, 1, step);
    EXPECT_GT(double(reference.accepted.back()) / (96 * 300), 0.2);
    expect_same(reference, follow(PipelinedOptions{}, device(), model, 300, options, 1, 1, step));
    options.single_precision = true;
    System system(device(), model, lattice(model), 8);
    const double before = compute_totals(system, false)[0].energy;
    const auto e = make_engine("pipelined", system, options);
    e->set_sizes({step, 0});
    e->run(0, 300);
    const auto change = system.energies();
    const auto after = compute_totals(system, false);
    for (std::size_t r = 0; r < 8; ++r)
      EXPECT_NEAR(after[r].energy - before, change[r], 0.01) << change[r];
  }
}

// Rounding of single pair energies parts the chains sooner or later; the first decisions agree.
TEST_P(MetropolisEngines, SinglePrecisionFollowsForAWhile) {
  const Model model = dimers(150, 0.3);
  ChainOptions options{.seed = 13};
  const Trace reference = follow(SequentialOptions{}, Device::cpu(1), model, 2, options);
  options.single_precision = true;
  const Trace single = follow(PipelinedOptions{}, device(), model, 2, options);
  const Trace again = follow(PipelinedOptions{}, device(), model, 2, options);
  EXPECT_EQ(reference.accepted[0], single.accepted[0]);
  EXPECT_NEAR(reference.energy[0], single.energy[0], 1e-3 * std::abs(reference.energy[0]));
  expect_same(single, again);
  EXPECT_EQ(single.energy, again.energy);  // to the last bit
}

// The running energy against one computed from scratch.
TEST_P(MetropolisEngines, EnergyDoesNotDrift) {
  for (const Case& c : cases())
    for (const bool single : {false, true}) {
      SCOPED_TRACE(c.name);
      System system(device(), c.model, lattice(c.model), 2);
      ChainOptions options{.seed = 17};
      options.single_precision = single;
      const auto before = compute_totals(system, false);
      const auto e = make_engine("pipelined", system, options);
      e->set_sizes({0.1 * c.model.pairs[0].a, 0.3});
      e->run(0, 20);
      const auto after = compute_totals(system, false);
      const auto change = system.energies();
      for (std::size_t r = 0; r < 2; ++r) {
        EXPECT_EQ(after[r].cores, 0);
        // In single every accepted change carries an error of some 10⁻⁷ of the energies summed.
        const double size = std::abs(before[r].energy) + std::abs(after[r].energy);
        EXPECT_NEAR(after[r].energy - before[r].energy, change[r], size * (single ? 1e-4 : 1e-10));
      }
    }
}

TEST_P(MetropolisEngines, RunsRepeatBitForBit) {
  const Model model = mixture(97, 0.15);
  for (const bool random : {false, true}) {
    ChainOptions options{.seed = 19};
    options.random_order = random;
    options.single_precision = true;
    const Trace a = follow(PipelinedOptions{}, device(), model, 20, options, 3);
    const Trace b = follow(PipelinedOptions{}, device(), model, 20, options, 3);
    expect_same(a, b);
    EXPECT_EQ(a.energy, b.energy);
  }
}

PERRIN_INSTANTIATE_DEVICES(MetropolisEngines);

}  // namespace
}  // namespace perrin::metropolis
