// Choosing traversal and skin by measurement, for neighbors.traversal = "auto".
#pragma once

#include <string>
#include <vector>

#include "engine/system/archive.h"
#include "neighbor/settings.h"

namespace perrin {

/// Told how long steps take, says what to try next. First a climb along the skin of the device's
/// standard traversal; then, at the skin that won, what else the device offers, one thing at a time
/// and each with the best of those before. On a GPU: threads per particle, cells to the range, size
/// of bricks; `verlet_list`, and `cells` with interactions sorted and not and with one or two cells
/// to the range. On the CPU: `verlet_list` and `cells` in the same four ways, and with interactions
/// sorted along axes. After that, now and then, a look at a slightly different skin, because
/// systems change. A change must bring two per cent. Particles are brought into order in memory
/// whenever lists are built, which is when some particle has moved half the skin: the skin decides
/// that interval, too.
class NeighborTuner {
 public:
  /// `range`: the longest interaction; `settings`: where to begin (a skin of 0: 0.16 of the range),
  /// and what stays: lanes, cells and brick that are not 0, interaction_sorting but for "auto".
  /// `few`: the system has so few particles that `small` may be best.
  NeighborTuner(const NeighborSettings& settings, double range, bool gpu, bool few = false);

  /// What is to be used now.
  const NeighborSettings& current() const { return current_; }
  /// What the last window of steps took with current(). True: current() has changed.
  bool measured(double seconds_per_step);
  /// "tiles 0.42 with 8 lanes (12.3 us per step; tried tiles 0.32: 14.1, …)".
  std::string report() const;
  /// A resumed run goes on where this one was.
  void state(Archive& archive);

 private:
  /// What the tuner varies of the settings.
  struct Way {
    std::string traversal;
    double skin = 0;
    int lanes = 0, cells = 0, brick = 0;
    std::string sorting = "auto";

    bool operator==(const Way&) const = default;
    std::string name() const;
    void state(Archive& archive, bool gpu);
  };
  struct Trial {
    Way way;
    double time;
    void state(Archive& archive, bool gpu);
  };
  enum class Phase { longer, shorter, others, rest };
  static constexpr int as_before = -1;  // in others_: what the best has, or the user chose
  Way way() const;
  Way complete(Way other) const;
  bool use(const Way& way);
  bool use(double skin);  // of the best way
  bool try_next(bool better);
  static constexpr int rest = 50;         // windows between two looks around
  static constexpr std::size_t most = 8;  // trials of a climb

  const NeighborSettings settings_;
  const bool gpu_;
  NeighborSettings current_;
  double start_skin_ = 0;
  std::vector<Way> others_;  // not tried yet, at whatever skin has won by then
  std::vector<Trial> trials_;
  Trial best_{};
  Phase phase_ = Phase::longer;
  int resting_ = 0;
  double aside_ = 1.1;  // factor of the skin for the next look
};

}  // namespace perrin
