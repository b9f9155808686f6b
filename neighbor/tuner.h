// Choosing traversal and skin by measurement, for neighbors.traversal = "auto".
#pragma once

#include <string>
#include <vector>

#include "neighbor/neighbors.h"

namespace perrin {

/// Told how long steps take, says what to try next. First a climb along the skin and over the
/// traversals of the device; then, now and then, a look at a slightly different skin, because
/// systems change. A change must bring two per cent.
class NeighborTuner {
 public:
  /// `range`: the longest interaction; `settings`: where to begin (a skin of 0: 0.16 of the range).
  NeighborTuner(const NeighborSettings& settings, double range, bool gpu);

  /// What is to be used now.
  const NeighborSettings& current() const { return current_; }
  /// What the last window of steps took with current(). True: current() has changed.
  bool measured(double seconds_per_step);
  /// "clusters, skin 0.42 (fastest of 6 tried: …)".
  std::string report() const;

 private:
  struct Trial {
    std::string traversal;
    double skin, time;
  };
  enum class Phase { longer, shorter, others, rest };
  bool use(const std::string& traversal, double skin);
  bool try_next(bool better);
  static constexpr int rest = 50;         // windows between two looks around
  static constexpr std::size_t most = 8;  // trials of a climb

  NeighborSettings current_;
  double start_skin_ = 0;
  std::vector<std::string> others_;  // traversals not tried yet
  std::vector<Trial> trials_;
  Trial best_{"", 0, 0};
  Phase phase_ = Phase::longer;
  int resting_ = 0;
  double aside_ = 1.1;  // factor of the skin for the next look
};

}  // namespace perrin
