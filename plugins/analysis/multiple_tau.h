// Correlations over many time origins in bounded memory: the multiple-tau correlator of
// J. Ramírez, S. K. Sukumaran, B. Vorselaars, A. E. Likhtman, J. Chem. Phys. 133, 154103 (2010),
// with m = 2 and p = 16.
//
// Level l holds the last p frames of a series whose frames are 2^l samples apart. A new frame is
// correlated with those that the level holds: lags j 2^l samples, j = 0 … p-1 on level 0, p/2 …
// p-1 above it. Products are correlated as in the paper: a frame of level l+1 is the mean of two of
// level l, which smooths over at most a 1/8 of the lag. For mean square displacements that would be
// wrong (the mean of two positions has not the variance of one): there level l takes every 2^l-th
// sample as it is, so that every value is exact, and long lags have fewer origins. Other functions
// of displacements likewise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/device/device.h"
#include "engine/system/archive.h"

namespace perrin::analysis {

/// What is measured of a particle's displacement d, in this order.
struct DisplacementValues {
  bool fourth = false;               // |d|⁴, behind |d|²
  std::vector<double> wave_numbers;  // <exp(i k d)> over all directions of k
  double overlap = 0;                // whether |d| is below this; 0: not asked for
  int dimension = 3;

  std::size_t count() const { return 1 + (fourth ? 1 : 0) + wave_numbers.size() + (overlap > 0); }
  /// Adds the values of one displacement to sums[0] … sums[count() - 1].
  void add(double x, double y, double z, double* sums) const;
};

class MultipleTau {
 public:
  enum class Kind { product, displacement };
  static constexpr int points = 16;  // p

  MultipleTau() = default;
  /// A sample is groups.back() numbers; those of group g are groups[g] … groups[g + 1] - 1, and
  /// what they give is added up. Of displacements three numbers belong to a particle. Memory:
  /// 8 · points · groups.back() bytes per level that is in use.
  MultipleTau(Kind kind, std::vector<std::int64_t> groups, int levels,
              DisplacementValues values = {});

  /// On the threads of a CPU; the result does not depend on their number.
  void add(const Device& device, std::span<const double> sample);
  void clear();
  std::int64_t samples() const { return samples_; }

  static int lags(int levels) { return points + (levels - 1) * points / 2; }
  int lags() const { return lags(levels_); }
  std::int64_t lag(int k) const;  // in samples, ascending
  std::int64_t origins(int k) const;
  /// The sum over the group of products, or of a value of displacements, averaged over the origins;
  /// NaN where there is none.
  double mean(std::size_t group, int k, std::size_t value = 0) const;

  void state(Archive& archive);

 private:
  struct Place {
    int level, j;
  };
  Place place(int k) const;
  std::int64_t frames(int level, std::int64_t samples) const;  // that a level has been given
  std::size_t levels_in_use() const;
  double* frame(int level, std::int64_t number);
  void correlate(const Device& device, int level, std::int64_t number);

  Kind kind_ = Kind::product;
  std::vector<std::int64_t> groups_;
  DisplacementValues values_;
  int levels_ = 0;
  std::int64_t samples_ = 0;
  std::vector<std::vector<double>> frames_;  // [level]: frame number f at f % points
  std::vector<double> sums_;                 // [lag][group][value]
};

}  // namespace perrin::analysis
