// The choice of traversal and skin: it must find the fastest of a known landscape of times, leave
// it when another becomes faster, and change nothing but speed.
#include "neighbor/tuner.h"

#include <cmath>

#include "engine/simulation.h"
#include "integrators/velocity_verlet.h"
#include "tests/devices.h"
#include "tests/fluids.h"

namespace perrin {
namespace {

/// Windows until nothing changes any more, of a system whose fastest skin is `best`.
void settle(NeighborTuner& tuner, double best, double other_traversal, int windows) {
  for (int k = 0; k < windows; ++k) {
    const NeighborSettings& s = tuner.current();
    const bool standard = s.traversal == "clusters" || s.traversal == "verlet";
    const double off = std::log(s.skin / best);
    tuner.measured(standard ? 1 + off * off : other_traversal);
  }
}

TEST(NeighborTuner, ClimbsToTheFastestSkin) {
  for (const double best : {0.15, 0.4, 0.9}) {
    NeighborTuner tuner({}, 2.5, false);
    settle(tuner, best, 3, 12);
    EXPECT_EQ(tuner.current().traversal, "clusters");
    EXPECT_NEAR(std::log(tuner.current().skin / best), 0, 0.5 * std::log(1.3) + 0.01) << best;
  }
}

TEST(NeighborTuner, TakesTheOtherTraversalWhereItIsFaster) {
  NeighborTuner gpu({}, 1, true), cpu({}, 1, false);
  settle(gpu, 0.16, 0.5, 12);
  settle(cpu, 0.16, 0.99, 12);
  EXPECT_EQ(gpu.current().traversal, "cells");
  EXPECT_EQ(cpu.current().traversal, "clusters") << "one per cent is not worth a change";
}

TEST(NeighborTuner, FollowsASystemThatChanges) {
  NeighborTuner tuner({}, 2.5, false);
  settle(tuner, 0.4, 3, 12);
  settle(tuner, 0.8, 3, 2000);
  EXPECT_NEAR(std::log(tuner.current().skin / 0.8), 0, std::log(1.1) * 1.6);
}

class AutoTest : public DeviceTest {};

TEST_P(AutoTest, RunsAndConservesEnergy) {
  Configuration c = fcc(6, 0.8442);
  thermalize(c, 1.44, 1);
  NeighborSettings settings;
  settings.traversal = "auto";
  Simulation s(device(), c, lennard_jones<ForceShift>(device(), 2.5), 0, settings);
  VelocityVerlet integrator({0.002});
  integrator.begin(s);
  const double before = s.totals().potential + s.totals().kinetic;
  const std::string first = s.neighbor_report();
  s.advance(integrator, 1500);
  EXPECT_EQ(s.step(), 1500u);
  const double after = s.totals().potential + s.totals().kinetic;
  EXPECT_NEAR(after, before, 2e-3 * double(c.position.size()));
  EXPECT_NE(s.neighbor_report(), first);
  EXPECT_NE(s.neighbor_report().find("tried"), std::string::npos) << s.neighbor_report();
}

PERRIN_INSTANTIATE_DEVICES(AutoTest);

}  // namespace
}  // namespace perrin
