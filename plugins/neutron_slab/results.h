// Sums over batches, and what they say: means with their standard errors.
#pragma once

#include <string>
#include <vector>

#include "engine/system/archive.h"
#include "transport.h"

namespace neutron {

struct Estimate {
  double mean = 0, error = 0;  // standard error
  double relative() const;     // infinite while the mean is 0
};

class Results {
 public:
  Results() = default;
  Results(Cells cells, int depth_bins, int angle_bins, bool weighted, int energy_bins = 0)
      : cells_(std::move(cells)),
        depth_bins_(depth_bins),
        angle_bins_(angle_bins),
        energy_bins_(energy_bins),
        weighted_(weighted) {}

  void add(const Batch& batch, std::int64_t histories);
  std::int64_t histories() const { return histories_; }

  /// Per neutron; the error from the variance between histories.
  Estimate transmission() const;
  Estimate reflection() const;
  Estimate absorption() const;
  Estimate collisions() const;
  Estimate slowed_down() const;
  /// By its name in the file.
  Estimate by_name(const std::string& name) const;
  /// Collisions that were computed, by history: what a history costs.
  double simulated_collisions() const;

  /// By depth: flux for one neutron a unit area and time (dimensionless: track length divided by
  /// the bin's width). The error of bins is from the variance between batches, NaN for one.
  std::vector<Estimate> flux() const;
  /// By the size of the cosine of the exit angle: probability in each bin.
  std::vector<Estimate> transmitted_angles() const;
  std::vector<Estimate> reflected_angles() const;
  /// By energy: probability in each bin; of `flux` its mean over the depth.
  std::vector<Estimate> spectrum(Bins::Spectrum kind) const;

  void state(perrin::Archive& archive);

 private:
  Estimate estimate(double sum, double square) const;
  std::size_t all_bins() const {
    return std::size_t(depth_bins_) + 2 * std::size_t(angle_bins_) +
           std::size_t(Bins::spectra) * std::size_t(energy_bins_);
  }
  std::vector<double> bins_of(const Batch& batch) const;
  std::vector<Estimate> bins(int first, int n) const;

  Cells cells_;
  int depth_bins_ = 0, angle_bins_ = 0, energy_bins_ = 0;
  bool weighted_ = false;
  std::int64_t histories_ = 0, batches_ = 0;
  // Of the scores, in units of 1; integers in doubles are exact up to 2^53.
  std::vector<double> scores_ = std::vector<double>(Scores::count);
  // Of bins: flux, then reflected, then transmitted angles, then spectra; sum and sum of square /
  // histories.
  std::vector<double> sum_, square_;
};

}  // namespace neutron
