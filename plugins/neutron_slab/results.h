// Sums over batches, and what they say: means with their standard errors.
#pragma once

#include <string>
#include <vector>

#include "engine/core/archive.h"
#include "transport.h"

namespace neutron {

struct Estimate {
  double mean = 0, error = 0;  // standard error
  double relative() const;     // infinite while the mean is 0
};

class Results {
 public:
  Results() = default;
  Results(Cells cells, int depth_bins, int angle_bins, bool weighted)
      : cells_(std::move(cells)),
        depth_bins_(depth_bins),
        angle_bins_(angle_bins),
        weighted_(weighted) {}

  void add(const Batch& batch, std::int64_t histories);
  std::int64_t histories() const { return histories_; }

  /// Per neutron; the error from the variance between histories.
  Estimate transmission() const;
  Estimate reflection() const;
  Estimate absorption() const;
  Estimate collisions() const;
  /// By the name of a setting `target`.
  Estimate by_name(const std::string& name) const;
  /// Collisions that were computed, by history: what a history costs.
  double simulated_collisions() const;

  /// By depth: flux for one neutron a unit area and time (dimensionless: track length divided by
  /// the bin's width). The error of bins is from the variance between batches, NaN for one.
  std::vector<Estimate> flux() const;
  /// By the size of the cosine of the exit angle: probability in each bin.
  std::vector<Estimate> transmitted_angles() const;
  std::vector<Estimate> reflected_angles() const;

  void state(perrin::Archive& archive);

 private:
  Estimate estimate(double sum, double square) const;
  std::vector<double> bins_of(const Batch& batch) const;
  std::vector<Estimate> bins(int first, int n) const;

  Cells cells_;
  int depth_bins_ = 0, angle_bins_ = 0;
  bool weighted_ = false;
  std::int64_t histories_ = 0, batches_ = 0;
  // Of the scores, in units of 1; integers in doubles are exact up to 2^53.
  std::vector<double> scores_ = std::vector<double>(Scores::count);
  // Of bins: flux, then reflected, then transmitted angles; sum and sum of square / histories.
  std::vector<double> sum_, square_;
};

}  // namespace neutron
