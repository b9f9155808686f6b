// Many simulations whose steps are launched together: each has the bits that it has alone.
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/device/batch.h"
#include "engine/dynamics/simulation.h"
#include "integrators/bussi.h"
#include "integrators/velocity_verlet.h"
#include "neighbor/neighbors.h"
#include "tests/fluids.h"

namespace perrin {
namespace {

constexpr double dt = 0.004;
constexpr std::int64_t steps = 700;

class BatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};

struct System {
  int cells = 4;
  double temperature = 1;
  bool bath = false;
  double density = 0.8;
  bool stops = false;  // now and then, for lists and forces that are made anew outside of steps

  std::unique_ptr<Integrator> integrator() const {
    if (!bath) return std::make_unique<VelocityVerlet>(VelocityVerletSettings{dt});
    BussiSettings s;
    s.timestep = dt, s.temperature = temperature, s.tau = 0.2;
    return std::make_unique<Bussi>(s, 1.0, nullptr);
  }
};

struct Result {
  std::vector<Position> position;
  std::vector<Real4> velocity;
  double energy = 0;
  std::vector<double> energies;  // on the way
  std::int64_t builds = 0;
  std::string error;
};

Result run(const Device& device, const System& system) {
  Result result;
  try {
    Configuration c = fcc(system.cells, system.density);
    thermalize(c, system.temperature, 3);
    Simulation s(device, c, lennard_jones(device, 2.5), 5);
    const auto integrator = system.integrator();
    s.begin_stage(*integrator, nullptr);
    integrator->begin(s);
    Sampling sampling;
    sampling.schedules.emplace_back(50);
    sampling.tell = [&](const Instant& one) { result.energies.push_back(one.totals.potential); };
    const std::int64_t portion = system.stops ? 100 : steps;
    for (std::int64_t done = 0; done < steps; done += portion) {
      s.advance(*integrator, portion, sampling);
      if (system.stops) s.particles_were_moved();
    }
    result.position = s.particles().by_id(s.particles().position());
    result.velocity = s.particles().by_id(s.particles().velocity());
    result.energy = s.totals().potential;
    result.builds = s.neighbors()->builds();
    s.end_stage();
  } catch (const std::exception& e) {
    result.error = e.what();
  }
  return result;
}

std::vector<Result> run_together(const std::vector<System>& systems, int at_once) {
  const Device device = Device::cuda();
  Batch batch(device);
  std::vector<Result> results(systems.size());
  batch.run(std::int64_t(systems.size()), at_once, [&](std::int64_t k, int member) {
    results[std::size_t(k)] = run(batch.for_member(member), systems[std::size_t(k)]);
  });
  return results;
}

bool same(const Result& a, const Result& b) {
  const auto bytes = [](const auto& x, const auto& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof x[0]) == 0;
  };
  return bytes(a.position, b.position) && bytes(a.velocity, b.velocity) && a.energy == b.energy &&
         a.energies == b.energies && a.builds == b.builds;
}

TEST_F(BatchTest, EachHasTheBitsThatItHasAlone) {
  std::vector<System> systems;
  for (int k = 0; k < 12; ++k)
    systems.push_back({.cells = 4 + k % 3, .temperature = 0.7 + 0.1 * k, .bath = k % 4 == 3});
  for (const int at_once : {12, 5}) {
    const auto together = run_together(systems, at_once);
    for (std::size_t k = 0; k < systems.size(); ++k) {
      const Result alone = run(Device::cuda(), systems[k]);
      EXPECT_EQ(alone.error, "");
      EXPECT_EQ(together[k].error, "");
      EXPECT_GT(alone.builds, 10) << "lists are built in the middle of recorded steps";
      EXPECT_TRUE(same(alone, together[k])) << "system " << k << ", " << at_once << " at once";
    }
  }
}

TEST_F(BatchTest, ForcesOutsideOfStepsAreComputedTogether) {
  std::vector<System> systems;
  for (int k = 0; k < 9; ++k)
    systems.push_back({.cells = 4 + k % 2, .bath = k % 4 == 3, .stops = k % 3 != 0});
  const auto together = run_together(systems, 9);
  for (std::size_t k = 0; k < systems.size(); ++k) {
    const Result alone = run(Device::cuda(), systems[k]);
    EXPECT_EQ(together[k].error, "");
    EXPECT_EQ(alone.energies.size(), std::size_t(steps / 50));
    EXPECT_TRUE(same(alone, together[k])) << "system " << k;
  }
}

TEST_F(BatchTest, OneThatExplodesLeavesTheOthers) {
  std::vector<System> systems(5);
  systems[2].temperature = 4e4;  // in a step of 0.004 this is further than particles may move
  const auto together = run_together(systems, 5);
  EXPECT_NE(together[2].error, "");
  // Of which particle is said depends on who comes first.
  EXPECT_NE(together[2].error.find("the simulation is unstable"), std::string::npos);
  const Result alone = run(Device::cuda(), systems[0]);
  for (const std::size_t k : {0, 1, 3, 4}) EXPECT_TRUE(same(alone, together[k]));
}

TEST_F(BatchTest, RowsGrowInTheMiddleOfSteps) {
  // A gas that condenses: the room of rows is that of its mean density.
  for (const bool stops : {false, true}) {
    const System gas{.cells = 5, .temperature = 0.3, .bath = true, .density = 0.05, .stops = stops};
    const std::vector<System> systems(3, gas);
    const Result alone = run(Device::cuda(), gas);
    EXPECT_EQ(alone.error, "");
    for (const Result& one : run_together(systems, 3)) EXPECT_TRUE(same(alone, one));
  }
}

TEST_F(BatchTest, PositionsThatDoNotFitTogether) {
  // More than a block has room for in shared memory (small_list_loop.h), beside fewer.
  std::vector<System> systems(3);
  systems[0].cells = 9, systems[1].cells = 10, systems[1].bath = true;
  const auto together = run_together(systems, 3);
  for (std::size_t k = 0; k < systems.size(); ++k) {
    const Result alone = run(Device::cuda(), systems[k]);
    EXPECT_EQ(together[k].error, "");
    EXPECT_GT(alone.builds, 10);
    EXPECT_TRUE(same(alone, together[k])) << "system " << k;
  }
}

TEST_F(BatchTest, OtherTraversalsTakeTurns) {
  // More particles than `small` is taken for: each member has a graph of its own.
  const std::vector<System> systems(2, System{.cells = 12});
  const Result alone = run(Device::cuda(), systems[0]);
  for (const Result& one : run_together(systems, 2)) EXPECT_TRUE(same(alone, one));
}

}  // namespace
}  // namespace perrin
