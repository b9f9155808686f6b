// Plans of steps: what they say is due, against the numbers of the steps; which of them are equal.
#include "engine/components/step_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/dynamics/observation.h"

namespace perrin {
namespace {

// An observer cannot change what it sees: there is no other way to the particles.
static_assert(
    std::is_same_v<decltype(std::declval<const Observation&>().particles()), const Particles&>);
static_assert(
    std::is_same_v<decltype(std::declval<const Particles&>().view().position), const Position*>);

StepPlan plan_of(std::int64_t at, int count, std::int64_t stride) {
  StepPlan plan;
  plan.count = count;
  plan.box_phase = StepPlan::phase_of(at % stride, count, stride);
  return plan;
}

/// Of each step of a plan.
std::vector<bool> due(const StepPlan& plan, std::int64_t stride) {
  std::vector<bool> all;
  for (int k = 0; k < plan.count; ++k) all.push_back(StepPlan::is_due(plan.box_phase, k, stride));
  return all;
}

TEST(StepPlan, SaysWhatIsDueByTheNumbersOfTheSteps) {
  for (std::int64_t stride = 1; stride <= 20; ++stride)
    for (std::int64_t at = 0; at < 3 * stride; ++at)
      for (int count = 1; count <= 16; ++count) {
        std::vector<bool> expected;
        for (int k = 0; k < count; ++k) expected.push_back((at + k + 1) % stride == 0);
        EXPECT_EQ(due(plan_of(at, count, stride), stride), expected)
            << stride << " " << at << " " << count;
      }
}

/// Else recordings would be made that nobody needs, or replayed where they do not belong.
TEST(StepPlan, IsEqualIfAndOnlyIfTheSameIsDueInTheSameNumberOfSteps) {
  constexpr std::int64_t stride = 6;
  for (const int count : {1, 4, 6, 12}) {
    std::map<std::vector<bool>, StepPlan> plans;
    for (std::int64_t at = 0; at < 4 * stride; ++at) {
      const StepPlan plan = plan_of(at, count, stride);
      const auto [known, added] = plans.try_emplace(due(plan, stride), plan);
      EXPECT_TRUE(known->second == plan) << count << " " << at;
      for (const auto& [what, other] : plans)
        EXPECT_EQ(other == plan, what == due(plan, stride)) << count << " " << at;
    }
    // One step: the box is due or not. Up to a cycle: not at all, or in one of them.
    EXPECT_EQ(plans.size(), count == 1 ? 2u : count < stride ? std::size_t(count) + 1 : 6u);
  }
}

TEST(StepPlan, DiffersByWhatFollowsAndByHowItIsTimed) {
  StepPlan plan = plan_of(3, 4, 1), other = plan;
  other.sampled = true;
  EXPECT_FALSE(plan == other);
  other = plan, other.timed = true;
  EXPECT_FALSE(plan == other);
  other = plan, other.slow_phase = 1;
  EXPECT_FALSE(plan == other);
  EXPECT_TRUE(plan == plan_of(1234567, 4, 1));
}

}  // namespace
}  // namespace perrin
