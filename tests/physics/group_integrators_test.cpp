// Several integrators in one stage, through the engine: who is told what, and who is refused.
#include <gtest/gtest.h>

#include "engine/device/parallel.h"
#include "engine/dynamics/group_integrators.h"
#include "engine/dynamics/simulation.h"
#include "integrators/verlet_halves.h"
#include "tests/devices.h"
#include "tests/fluids.h"

namespace perrin {
namespace {

constexpr double dt = 0.004;

/// Velocity Verlet, as a plug-in would have it.
class OfAPlugin : public Integrator {
 public:
  void begin(StageContext& s) override {
    s.ensure_forces();
    freedom = s.degrees_of_freedom().number();
  }
  void steps(StepContext& s, int n) override {
    run_particle_steps(
        s, n, [] { return KickAndDrift{Real(dt)}; }, [] { return Kick{Real(dt)}; });
  }
  double timestep() const override { return dt; }
  bool follow_group(StageContext& s) override {
    freedom = s.degrees_of_freedom().number();
    return true;
  }
  double freedom = 0;
};

struct Stop {
  Real4* velocity;
  PERRIN_HD void operator()(std::int64_t i) const { velocity[i].x = velocity[i].y = 0; }
};

/// One with a loop of its own that knows no groups.
class KnowsNoGroups final : public OfAPlugin {
 public:
  void steps(StepContext& s, int n) override {
    for (int k = 0; k < n; ++k) {
      if (k > 0) s.next_step();
      for_each(s.device(), "stop", s.particles().share(), Stop{s.particles().velocity().data()});
      renew_forces(s);
    }
  }
};

/// One that computes forces twice a step.
class TwiceAStep final : public OfAPlugin {
 public:
  void steps(StepContext& s, int n) override {
    for (int k = 0; k < n; ++k) {
      if (k > 0) s.next_step();
      renew_forces(s);
      s.compute_forces();
    }
  }
};

class GroupIntegratorsTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    configuration_ = fcc(5, 0.8);
    thermalize(configuration_, 1, 3);
    simulation_ = std::make_unique<Simulation>(device(), configuration_,
                                               lennard_jones(device(), 2.5, "force_shift"), 1);
  }
  template <class First, class Second>
  std::unique_ptr<GroupIntegrators> halves() {
    std::vector<std::unique_ptr<Integrator>> two;
    two.push_back(std::make_unique<First>());
    two.push_back(std::make_unique<Second>());
    first_ = dynamic_cast<OfAPlugin*>(two[0].get());
    groups_ = {Group("third", every(3, 1), 1), Group("others", every(3, 0), 1)};
    return std::make_unique<GroupIntegrators>(std::move(two), groups_, configuration_, device());
  }
  /// `member` of every n-th particle, the opposite of the others.
  Group::Members every(std::size_t n, std::uint8_t member) const {
    Group::Members all(configuration_.position.size(), std::uint8_t(1 - member));
    for (std::size_t id = 0; id < all.size(); id += n) all[id] = member;
    return all;
  }
  void run(GroupIntegrators& both, std::int64_t n) {
    simulation_->begin_stage(both);
    both.begin(*simulation_);
    simulation_->advance(both, n);
  }
  Configuration configuration_;
  std::unique_ptr<Simulation> simulation_;
  OfAPlugin* first_ = nullptr;
  std::vector<Group> groups_;
};

TEST_P(GroupIntegratorsTest, EachCountsTheDegreesOfFreedomOfItsGroup) {
  const auto both = halves<OfAPlugin, OfAPlugin>();
  run(*both, 1);
  const auto n = double((configuration_.position.size() + 2) / 3);
  EXPECT_EQ(first_->freedom, 3 * n);  // the momentum of a part is not conserved
  EXPECT_EQ(simulation_->degrees_of_freedom().number(),
            3 * double(configuration_.position.size()) - 3);  // that of all is
}

TEST_P(GroupIntegratorsTest, GroupsThatAreChosenAnewAreFollowed) {
  const auto both = halves<OfAPlugin, OfAPlugin>();
  run(*both, 10);
  const double energy = simulation_->totals().total_energy();
  groups_[0].choose(every(5, 1)), groups_[1].choose(every(5, 0));
  EXPECT_TRUE(both->follow_group(*simulation_));
  EXPECT_EQ(first_->freedom, 3 * double((configuration_.position.size() + 4) / 5));
  EXPECT_FALSE(both->follow_group(*simulation_));  // until they are chosen again
  EXPECT_EQ(simulation_->totals().total_energy(), energy);
  simulation_->advance(*both, 10);
  // Velocity Verlet in both: as if one had moved everybody.
  const auto velocity = simulation_->particles().by_id(simulation_->particles().velocity());
  Simulation alone(device(), configuration_, lennard_jones(device(), 2.5, "force_shift"), 1);
  OfAPlugin one;
  alone.begin_stage(one);
  one.begin(alone);
  alone.advance(one, 20);
  const auto expected = alone.particles().by_id(alone.particles().velocity());
  for (std::size_t id = 0; id < velocity.size(); ++id) {
    EXPECT_EQ(velocity[id].x, expected[id].x) << "particle " << id;
    EXPECT_EQ(velocity[id].z, expected[id].z) << "particle " << id;
  }
}

TEST_P(GroupIntegratorsTest, AParticleThatIsNobodysIsFoundOut) {
  const auto both = halves<OfAPlugin, OfAPlugin>();
  run(*both, 10);
  groups_[0].choose(every(6, 1));
  try {
    both->follow_group(*simulation_);
    ADD_FAILURE() << "particle 3 is nobody's";
  } catch (const RunError& e) {
    EXPECT_EQ(std::string(e.what()).find("particle 3 has come to be in no group"), 0u) << e.what();
  }
  groups_[0].choose(every(1, 1));
  try {
    both->follow_group(*simulation_);
    ADD_FAILURE() << "particle 1 is in two groups";
  } catch (const RunError& e) {
    EXPECT_NE(std::string(e.what()).find("in \"third\" and in \"others\""), std::string::npos)
        << e.what();
  }
}

TEST_P(GroupIntegratorsTest, OneThatMovesOthersIsFoundOut) {
  const auto both = halves<KnowsNoGroups, OfAPlugin>();
  try {
    run(*both, 1);
    ADD_FAILURE() << "moved particles of the other group";
  } catch (const RunError& e) {
    EXPECT_NE(std::string(e.what()).find("\"third\" has moved particles of other groups"),
              std::string::npos)
        << e.what();
  }
}

TEST_P(GroupIntegratorsTest, ThoseThatDoNotKeepStepAreFoundOut) {
  const auto both = halves<TwiceAStep, OfAPlugin>();
  EXPECT_THROW(run(*both, 1), BugError);
  // And the simulation can be used again.
  const auto again = halves<OfAPlugin, OfAPlugin>();
  run(*again, 10);
  EXPECT_EQ(simulation_->step(), 10u);
}

PERRIN_INSTANTIATE_DEVICES(GroupIntegratorsTest);

}  // namespace
}  // namespace perrin
