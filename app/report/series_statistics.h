// What a correlated series says: from where it is level, its mean, and how sure that is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace perrin::report {

/// Mean of a correlated series by blocking: H. Flyvbjerg, H. G. Petersen, J. Chem. Phys. 91, 461
/// (1989). Neighbours are averaged again and again; the error of the mean grows with the blocks
/// until these are independent. The block size is the smallest B with B³ > 2 n (e_B / e_1)⁴: R. M.
/// Lee et al., Phys. Rev. E 83, 066706 (2011).
struct BlockedMean {
  double mean = 0;
  double error = 0;        // standard error; the largest of `errors` where no block is long enough
  std::int64_t block = 1;  // rows
  bool long_enough = false;    // false: the error is a lower bound
  std::vector<double> errors;  // with blocks of 1, 2, 4, … rows, as long as there are 4
};
BlockedMean blocked_mean(std::span<const double> values);

/// The same of values that come one by one and are not kept: sums over blocks of 1, 2, 4, … of
/// them.
class BlockSums {
 public:
  void add(double value);
  BlockedMean result() const;
  std::int64_t values() const { return levels_.empty() ? 0 : levels_[0].blocks; }
  /// Of the mean, were the values independent; 0 of fewer than 2.
  double error_of_independent() const;

 private:
  struct Level {
    std::int64_t blocks = 0;
    double mean = 0, square = 0, last = 0;  // of the blocks: mean, Σ (x - mean)²; of the last one
  };
  std::vector<Level> levels_;
};

/// Rows for one independent row: 1 + 2 Σ (1 - t/n) C(t) up to the first C(t) ≤ 0 behind t = 3;
/// at least 1. J. D. Chodera et al., J. Chem. Theory Comput. 3, 26 (2007).
double statistical_inefficiency(std::span<const double> values);

struct SeriesStatistics {
  std::int64_t rows = 0, start = 0;  // rows from `start` on are used
  double inefficiency = 1, independent = 0;
  BlockedMean blocked;
  double drift = 0;     // (first tenth - second half) / error of the difference; NaN: not known
  bool level = false;   // the mean and its error may be taken as they are
  std::string verdict;  // one sentence
};

/// `start` leaves the most independent rows behind it: J. D. Chodera, J. Chem. Theory Comput. 12,
/// 1799 (2016); of 64 places, in means over rows such that at most 4096 are left (512 where even
/// those are correlated over 32 of them). Rows at the beginning that are more than 5 standard
/// deviations of the second half from its mean are left out before: a few wild rows are a great
/// variance, of which all others look independent. `drift` compares what follows with itself: J.
/// Geweke, in Bayesian Statistics 4 (Oxford, 1992), 169.
SeriesStatistics series_statistics(std::span<const double> values);

}  // namespace perrin::report
