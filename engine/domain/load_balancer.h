// Load balancing: boundaries between the shares of processes (engine/domain/decomposition.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace perrin {

/// Process p has the portions cuts[p] … cuts[p + 1] - 1 and has worked for seconds[p]. Returns
/// boundaries halfway to those that equalise the measured times, assuming equal cost within a
/// process; `cuts` if the load is balanced or nothing would be gained.
std::vector<int> balanced_cuts(const std::vector<int>& cuts, const std::vector<double>& seconds);

/// Measures how long each process works, and moves the boundaries. Results are bitwise identical
/// for all boundaries.
class LoadBalancer {
 public:
  /// `moves`: false: the cuts stay, and what they cost is only told. All processes make it.
  explicit LoadBalancer(bool moves);

  // Of a CPU process: steps are made between these two. Of their time counts what is not spent
  // waiting for others.
  void begin_work();
  void end_work();
  /// Of a GPU: so long it has worked since the last time.
  void add_work(double seconds) { worked_ += seconds; }
  /// Interval of looks. GPUs record their steps again after every change.
  std::uint64_t steps_between_looks() const { return shuffles_ ? 40 : 4096; }
  /// Of all processes together: the cuts from here on, the same for all, of shares for the first
  /// `active` of them.
  std::vector<int> look(const std::vector<int>& cuts, int active);
  /// For the console; empty: nothing has been measured.
  std::string report() const;

 private:
  double work_since_last() const;

  bool moves_;
  bool shuffles_;  // for tests: cuts go anywhere at every look, whatever is measured
  bool working_ = false;
  double began_ = 0, worked_ = 0;  // seconds
  int moved_ = 0;
  double first_ = 0, last_ = 0;  // work of the busiest process against the mean; 0: not known
};

}  // namespace perrin
