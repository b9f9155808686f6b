// Functions that take turns.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "engine/base/fiber.h"

namespace perrin {
namespace {

TEST(FiberTest, TwoTakeTurns) {
  Fiber a, b;
  std::string order;
  a.start([&] {
    for (int k = 0; k < 3; ++k) order += 'a', a.wait();
  });
  b.start([&] {
    for (int k = 0; k < 3; ++k) order += 'b', b.wait();
  });
  while (!a.done() || !b.done())
    for (Fiber* one : {&a, &b})
      if (!one->done()) one->resume();
  EXPECT_EQ(order, "ababab");
}

TEST(FiberTest, RunsAnotherFunctionWhenOneHasEnded) {
  Fiber fiber;
  int runs = 0;
  for (int k = 0; k < 1000; ++k) {
    EXPECT_TRUE(fiber.done());
    fiber.start([&] {
      ++runs;
      fiber.wait();
      ++runs;
    });
    fiber.resume();
    EXPECT_FALSE(fiber.done());
    fiber.resume();
  }
  EXPECT_EQ(runs, 2000);
}

TEST(FiberTest, ThrowsWhatItsFunctionThrows) {
  Fiber fiber;
  fiber.start([&] {
    fiber.wait();
    throw std::runtime_error("in the middle");
  });
  fiber.resume();
  EXPECT_THROW(fiber.resume(), std::runtime_error);
  EXPECT_TRUE(fiber.done());
}

TEST(FiberTest, DestroysWhatACancelledFunctionHas) {
  struct Counter {
    int& alive;
    explicit Counter(int& count) : alive(count) { ++alive; }
    Counter(const Counter&) = delete;
    Counter& operator=(const Counter&) = delete;
    ~Counter() { --alive; }
  };
  int alive = 0;
  {
    Fiber begun, not_begun;
    begun.start([&] {
      const Counter counter(alive);
      begun.wait();
      ADD_FAILURE() << "goes on after it was cancelled";
    });
    begun.resume();
    not_begun.start([&] { ADD_FAILURE() << "begins after it was cancelled"; });
    EXPECT_EQ(alive, 1);
    not_begun.cancel();
    EXPECT_TRUE(not_begun.done());
  }
  EXPECT_EQ(alive, 0);
}

TEST(FiberTest, HasAStackOfItsOwn) {
  Fiber fiber;
  std::vector<int> sums;
  fiber.start([&] {
    volatile int values[50'000];  // 200 kB
    for (int k = 0; k < 50'000; ++k) values[k] = k;
    fiber.wait();
    int sum = 0;
    for (int k = 0; k < 50'000; k += 10'000) sum += values[k];
    sums.push_back(sum);
  });
  fiber.resume();
  fiber.resume();
  EXPECT_EQ(sums, std::vector<int>{100'000});
}

}  // namespace
}  // namespace perrin
