// Threads: every task once, exceptions, forks, regions within regions, more threads than cores, and
// a helper that stands still.
#include "engine/device/tasks.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error.h"

namespace perrin {
namespace {

TEST(Threads, EveryTaskOnceWhateverTheNumbers) {
  for (const int threads : {1, 2, 3, 7, 64}) {
    const Device device = Device::cpu(threads);
    for (const std::int64_t tasks : {0, 1, 2, 5, 64, 1000})
      for (int repeat = 0; repeat < 20; ++repeat) {
        std::vector<std::atomic<int>> done(static_cast<std::size_t>(tasks));
        for_tasks(device, tasks, [&](std::int64_t t, int thread) {
          ASSERT_TRUE(thread >= 0 && thread < threads);
          ++done[std::size_t(t)];
        });
        for (const auto& d : done) ASSERT_EQ(d, 1);
      }
  }
}

TEST(Threads, PiecesCoverTheRange) {
  for (const int threads : {1, 2, 5})
    for (const std::int64_t n : {0, 1, 255, 257, 1000, 4097, 300001}) {
      std::vector<std::atomic<char>> done(static_cast<std::size_t>(n));
      for_pieces(Device::cpu(threads), n, 256, [&](std::int64_t begin, std::int64_t end) {
        for (; begin < end; ++begin) ++done[std::size_t(begin)];
      });
      for (const auto& d : done) ASSERT_EQ(d, 1);
    }
}

TEST(Threads, WhatTasksWroteIsSeenAfterwards) {
  const Device device = Device::cpu(4);
  std::vector<std::int64_t> value(4096);  // not atomic: the run's end orders it
  for (int repeat = 0; repeat < 500; ++repeat)
    for_pieces(device, 4096, 64, [&](std::int64_t begin, std::int64_t end) {
      for (; begin < end; ++begin) value[std::size_t(begin)] += begin;
    });
  for (std::size_t i = 0; i < value.size(); ++i) ASSERT_EQ(value[i], 500 * std::int64_t(i));
}

TEST(Threads, TheFirstErrorByTaskIsThrownOnceAllAreDone) {
  for (const int threads : {1, 2, 8}) {
    const Device device = Device::cpu(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::atomic<int> good{0};
      try {
        for_tasks(device, 100, [&](std::int64_t t, int) {
          if (t == 37 || t == 80) throw RunError("task " + std::to_string(t));
          if (t == 99) throw std::bad_alloc();
          ++good;
        });
        FAIL() << "nothing was thrown";
      } catch (const RunError& e) {
        EXPECT_STREQ(e.what(), "task 37");
      }
      EXPECT_EQ(good, threads > 1 ? 97 : 37);
      for_tasks(device, 100, [&](std::int64_t, int) { ++good; });  // still works
    }
    EXPECT_THROW(for_tasks(device, 8, [](std::int64_t, int) { throw std::bad_alloc(); }),
                 std::bad_alloc);
  }
}

TEST(Threads, WithinATaskAndFromSeveralThreadsAtOnce) {
  const Device device = Device::cpu(3), other = Device::cpu(2);
  std::atomic<int> count{0};
  for_tasks(device, 10, [&](std::int64_t, int) {
    for_tasks(device, 10, [&](std::int64_t, int thread) { count += thread == 0 ? 1 : 1000000; });
    for_tasks(other, 10, [&](std::int64_t, int) { ++count; });
  });
  EXPECT_EQ(count, 200);
  const auto use = [&] {
    for (int k = 0; k < 200; ++k) for_tasks(device, 10, [&](std::int64_t, int) { ++count; });
  };
  std::thread second(use);
  use();
  second.join();
  EXPECT_EQ(count, 200 + 4000);
}

TEST(Threads, AChildOfAForkHasThreadsOfItsOwn) {
  const Device device = Device::cpu(3);
  const auto total = [&] {
    std::atomic<std::int64_t> sum{0};
    for_tasks(device, 100, [&](std::int64_t t, int) { sum += t; });
    return sum.load();
  };
  EXPECT_EQ(total(), 4950);
  const pid_t child = fork();
  if (child == 0) _exit(total() == 4950 && total() == 4950 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(total(), 4950);
}

// Where helpers do not come at all (the system refuses to start any), the caller does everything.
TEST(Threads, WhereNoThreadsCanBeStarted) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_NPROC, &none);  // root is above it
    std::atomic<int> count{0};
    for_tasks(Device::cpu(4), 100, [&](std::int64_t, int) { ++count; });
    _exit(count == 100 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// A thread that stands still in a task holds up nobody but whoever needs that task.
TEST(Threads, OthersTakeOver) {
  const Device device = Device::cpu(2);
  std::atomic<int> done{0};
  for_tasks(device, 40, [&](std::int64_t t, int) {
    if (t == 20)  // the first task of the helper's share
      for (int k = 0; k < 10000 && done < 39; ++k)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    else
      ++done;
  });
  EXPECT_EQ(done, 39);
}

TEST(Threads, NumberOfThreads) {
  const char* before = std::getenv("OMP_NUM_THREADS");
  const std::string kept = before ? before : "";
  setenv("OMP_NUM_THREADS", "3", 1);
  EXPECT_EQ(Device::cpu().threads(), 3);
  setenv("OMP_NUM_THREADS", "2,4", 1);
  EXPECT_EQ(Device::cpu().threads(), 2);
  setenv("OMP_NUM_THREADS", "many", 1);
  EXPECT_GE(Device::cpu().threads(), 1);
  before ? setenv("OMP_NUM_THREADS", kept.c_str(), 1) : unsetenv("OMP_NUM_THREADS");
  EXPECT_THROW(Device::cpu(Threads::most + 1), UserError);
}

}  // namespace
}  // namespace perrin
