// Where the shares of processes are cut: balanced_cuts() against portions whose cost is known.
#include "engine/domain/load_balancer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/device/share.h"

namespace perrin {
namespace {

using Cuts = std::vector<int>;
using Seconds = std::vector<double>;

Cuts equal_cuts(int count) {
  Cuts cuts;
  for (int p = 0; p <= count; ++p) cuts.push_back(sum_chunks * p / count);
  return cuts;
}

/// How long each works where portion k costs cost[k], and each process `alone` besides.
Seconds measured(const Cuts& cuts, const Seconds& cost, double alone = 0) {
  Seconds seconds;
  for (std::size_t p = 0; p + 1 < cuts.size(); ++p) {
    seconds.push_back(alone);
    for (int k = cuts[p]; k < cuts[p + 1]; ++k) seconds.back() += cost[std::size_t(k)];
  }
  return seconds;
}

double most(const Seconds& seconds) { return *std::ranges::max_element(seconds); }

double sum(const Seconds& seconds) {
  double all = 0;
  for (const double s : seconds) all += s;
  return all;
}

double busiest(const Seconds& seconds) {
  return most(seconds) * double(seconds.size()) / sum(seconds);
}

/// A droplet in a gas: the portions first … last - 1 cost `times` as much as the others.
Seconds droplet(int first, int last, double times) {
  Seconds cost(sum_chunks, 1.0);
  std::fill(cost.begin() + first, cost.begin() + last, times);
  return cost;
}

void expect_whole(const Cuts& cuts, std::size_t count) {
  ASSERT_EQ(cuts.size(), count + 1);
  EXPECT_EQ(cuts.front(), 0);
  EXPECT_EQ(cuts.back(), sum_chunks);
  EXPECT_TRUE(std::ranges::is_sorted(cuts));
}

TEST(BalancedCuts, StayWhereAllWorkAboutEquallyLong) {
  EXPECT_EQ(balanced_cuts(equal_cuts(3), {1, 1, 1}), equal_cuts(3));
  EXPECT_EQ(balanced_cuts(equal_cuts(3), {1.04, 0.98, 1}), equal_cuts(3));
  EXPECT_EQ(balanced_cuts(equal_cuts(1), {7}), equal_cuts(1));
  EXPECT_EQ(balanced_cuts(equal_cuts(3), {0, 0, 0}), equal_cuts(3));  // nothing was done
}

TEST(BalancedCuts, GoHalfway) {
  // The whole way would be to 171: a third of what the first one does.
  EXPECT_EQ(balanced_cuts({0, 256, 512}, {3, 1}), (Cuts{0, 213, 512}));
  EXPECT_EQ(balanced_cuts({0, 256, 512}, {1, 3}), (Cuts{0, 299, 512}));
}

TEST(BalancedCuts, WhoOwnsNothingGetsSomething) {
  for (const Cuts& cuts :
       {Cuts{0, 0, 256, 512}, Cuts{0, 256, 256, 512}, Cuts{0, 256, 512, 512}, Cuts{0, 0, 0, 512}}) {
    Cuts moved = cuts;
    for (int look = 0; look < 20; ++look)
      moved = balanced_cuts(moved, measured(moved, Seconds(sum_chunks, 1.0), 5));
    expect_whole(moved, 3);
    EXPECT_LT(busiest(measured(moved, Seconds(sum_chunks, 1.0))), 1.08);
  }
}

TEST(BalancedCuts, FindTheShareOfEach) {
  for (const int count : {2, 3, 8, 16})
    for (const auto& cost : {droplet(0, 100, 10), droplet(300, 400, 10), droplet(200, 220, 50)}) {
      Cuts cuts = equal_cuts(count);
      const double before = busiest(measured(cuts, cost, 10));
      for (int look = 0; look < 20; ++look) cuts = balanced_cuts(cuts, measured(cuts, cost, 10));
      expect_whole(cuts, std::size_t(count));
      // A portion is the least that can be moved.
      const double portion = most(cost) * count / (sum(cost) + 10.0 * count);
      EXPECT_LT(busiest(measured(cuts, cost, 10)), 1.08 + portion) << count << ", was " << before;
    }
}

TEST(BalancedCuts, AreNeverWorseThanMeasured) {
  std::mt19937 random(3);
  for (const int count : {2, 3, 5, 100, 256, 512, 700}) {
    for (int turn = 0; turn < 200; ++turn) {
      Cuts cuts;
      Seconds seconds;
      for (int p = 1; p < count; ++p) cuts.push_back(int(random() % (sum_chunks + 1)));
      cuts.push_back(0), cuts.push_back(sum_chunks);
      std::ranges::sort(cuts);
      for (int p = 0; p < count; ++p) seconds.push_back(double(random() % 1000));
      const Cuts moved = balanced_cuts(cuts, seconds);
      expect_whole(moved, std::size_t(count));
      // As the model has it: the portions of a share cost the same.
      Seconds cost;
      for (std::size_t p = 0; p < seconds.size(); ++p)
        for (int k = cuts[p]; k < cuts[p + 1]; ++k)
          cost.push_back(seconds[p] / (cuts[p + 1] - cuts[p]));
      EXPECT_LE(most(measured(moved, cost)), most(measured(cuts, cost)) * (1 + 1e-9));
    }
  }
}

}  // namespace
}  // namespace perrin
