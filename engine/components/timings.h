// Where the time of a run goes.
#pragma once

#include <chrono>

namespace perrin {

class WallClock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Wall-clock seconds per part of the work, for the table at the end of a run. On CUDA, sampled:
/// now and then one step runs unrecorded with the host waiting after each part.
struct Timings {
  double neighbors = 0, forces = 0, integration = 0, output = 0;
};

}  // namespace perrin
