// Means of rows of numbers, place by place, with their statistical errors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/report/series_statistics.h"

namespace perrin::report {

/// Rows come one after the other and are not kept. Errors by blocking, as those of series; of 2 or
/// 3 rows that of independent ones. Numbers that are not finite are left out, each for itself.
class RowMeans {
 public:
  void add(std::span<const double> row);
  /// A row that averages over all that was seen so far, with the number of samples at each place:
  /// what it says of the samples since the row before is added. Fewer samples than before: it has
  /// begun anew, and so do the means.
  void add_best(std::span<const double> row, std::span<const double> samples);

  std::vector<double> mean() const;
  /// Empty: there are no errors, of fewer than 2 rows.
  std::vector<double> error() const;
  /// What the errors are, for the reader: "; error bars: …".
  std::string text() const;

 private:
  void fit(std::size_t places);
  std::vector<BlockSums> sums_;
  struct Best {
    double value = 0, samples = 0;
  };
  std::vector<Best> best_;  // [place] the row before
};

}  // namespace perrin::report
