// main() of a test that also runs under mpirun: all processes end together, and one whose tests
// fail says which it is.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "engine/communicator/communicator.h"

namespace perrin {

inline int run_tests_of_processes(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  Communicator& world = Communicator::world();
  const int status = RUN_ALL_TESTS();
  return world.end(status, fmt::format("failed in {}\n", world.name()), false,
                   [](const std::string& message) { fmt::print(stderr, "{}", message); });
}

}  // namespace perrin
