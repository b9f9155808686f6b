// How many steps a stage does between two looks at signals, observers and the progress line.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "engine/communicator/agreement.h"

namespace perrin {

/// A number of steps that takes about a tenth of a second. It starts at one and follows the clock;
/// of several processes, that of the first one, so that all have the same number.
class Chunk {
 public:
  Chunk() = default;
  /// Always so many, whatever the clock says: of simulations that go on together
  /// (DeviceRole::batch).
  static Chunk fixed(std::int64_t steps) {
    Chunk chunk;
    chunk.steps_ = steps;
    chunk.fixed_ = true;
    return chunk;
  }

  std::int64_t steps() const { return steps_; }

  /// Calls advance(n), n ≤ steps(), which does at most n steps and returns how many; so does this.
  template <class Advance>
  std::int64_t run(std::int64_t n, Advance&& advance) {
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t done = advance(n);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    const double seconds = agreed(time.count());
    if (done == steps_ && !fixed_) {  // shorter chunks do not show the time of a full one
      if (seconds < 0.05) steps_ *= 2;
      if (seconds > 0.2) steps_ = std::max<std::int64_t>(1, steps_ / 2);
    }
    return done;
  }

 private:
  std::int64_t steps_ = 1;
  bool fixed_ = false;
};

}  // namespace perrin
