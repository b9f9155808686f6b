#include "results.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "energy_history.h"
#include "engine/base/error.h"

namespace neutron {

double Estimate::relative() const {
  return mean > 0 ? error / mean : std::numeric_limits<double>::infinity();
}

void Results::add(const Batch& batch, std::int64_t histories) {
  for (std::size_t k = 0; k < Scores::count; ++k) {
    double unit = 1;
    if (weighted_ && k != Scores::simulated)
      unit = k == Scores::collisions          ? collisions_unit
             : k == Scores::collisions_square ? square_unit
                                              : weight_unit;
    scores_[k] += double(batch.scores.sum[k]) / unit;
  }
  const std::vector<double> bins = bins_of(batch);
  sum_.resize(bins.size());
  square_.resize(bins.size());
  for (std::size_t k = 0; k < bins.size(); ++k) {
    sum_[k] += bins[k];
    square_[k] += bins[k] * bins[k] / double(histories);
  }
  histories_ += histories;
  ++batches_;
}

std::vector<double> Results::bins_of(const Batch& batch) const {
  std::vector<double> bins(all_bins());
  const std::size_t n = cells_.cell.size();
  std::int64_t crossings = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Cell& cell = cells_.cell[i];
    crossings += batch.bins[n + i];
    // Whole crossings count 1/|mu| for each, parts the mean free paths that were covered.
    const double whole = double(crossings) / flux_unit;
    const double part =
        cell.total > 0 ? double(batch.bins[i]) / flux_unit / (cell.total * cell.width) : 0;
    bins[std::size_t(cell.bin)] += (whole + part) * cell.bin_fraction;
  }
  const std::size_t angles = n > 0 ? 2 * n + 1 : 0;
  for (std::size_t k = 0; k < 2 * std::size_t(angle_bins_); ++k)
    bins[std::size_t(depth_bins_) + k] = double(batch.bins[angles + k]) / angle_unit;
  const std::size_t spectra = 2 * std::size_t(angle_bins_);
  for (std::size_t k = 0; k < std::size_t(Bins::spectra) * std::size_t(energy_bins_); ++k) {
    const bool flux = k >= std::size_t(Bins::flux) * std::size_t(energy_bins_);
    bins[std::size_t(depth_bins_) + spectra + k] =
        double(batch.bins[angles + spectra + k]) / (flux ? spectrum_flux_unit : angle_unit);
  }
  return bins;
}

Estimate Results::estimate(double sum, double square) const {
  if (histories_ == 0) return {};
  const double n = double(histories_), mean = sum / n;
  const double variance = std::max(square / n - mean * mean, 0.0);
  return {mean, std::sqrt(variance / std::max(n - 1, 1.0))};
}

Estimate Results::transmission() const {
  return estimate(scores_[Scores::transmitted],
                  scores_[weighted_ ? Scores::transmitted_square : Scores::transmitted]);
}
Estimate Results::reflection() const {
  return estimate(scores_[Scores::reflected],
                  scores_[weighted_ ? Scores::reflected_square : Scores::reflected]);
}
Estimate Results::absorption() const {
  return estimate(scores_[Scores::absorbed],
                  scores_[weighted_ ? Scores::absorbed_square : Scores::absorbed]);
}
Estimate Results::collisions() const {
  return estimate(scores_[Scores::collisions], scores_[Scores::collisions_square]);
}
Estimate Results::slowed_down() const {
  return estimate(scores_[Scores::slowed],
                  scores_[weighted_ ? Scores::slowed_square : Scores::slowed]);
}
Estimate Results::by_name(const std::string& name) const {
  if (name == "transmission") return transmission();
  if (name == "reflection") return reflection();
  if (name == "absorption") return absorption();
  if (name == "slowed_down") return slowed_down();
  PERRIN_ASSERT(name == "collisions");
  return collisions();
}
double Results::simulated_collisions() const {
  if (histories_ == 0) return 0;
  return scores_[weighted_ ? Scores::simulated : Scores::collisions] / double(histories_);
}

std::vector<Estimate> Results::bins(int first, int n) const {
  std::vector<Estimate> list(static_cast<std::size_t>(n));
  if (histories_ == 0) return list;
  const double all = double(histories_);
  for (std::size_t k = 0; k < list.size(); ++k) {
    const double sum = sum_[std::size_t(first) + k], square = square_[std::size_t(first) + k];
    const double mean = sum / all;
    // Batches weighted by their histories: Σ n_b (x_b - mean)² / (B - 1) estimates the variance of
    // one history.
    const double variance = batches_ > 1
                                ? std::max(square - all * mean * mean, 0.0) / double(batches_ - 1)
                                : std::numeric_limits<double>::quiet_NaN();
    list[k] = {mean, std::sqrt(variance / all)};
  }
  return list;
}
std::vector<Estimate> Results::flux() const { return bins(0, depth_bins_); }
std::vector<Estimate> Results::reflected_angles() const { return bins(depth_bins_, angle_bins_); }
std::vector<Estimate> Results::transmitted_angles() const {
  return bins(depth_bins_ + angle_bins_, angle_bins_);
}
std::vector<Estimate> Results::spectrum(Bins::Spectrum kind) const {
  return bins(depth_bins_ + 2 * angle_bins_ + int(kind) * energy_bins_, energy_bins_);
}

void Results::state(perrin::Archive& archive) {
  archive("histories", histories_);
  archive.require(histories_ >= 0 && histories_ < std::int64_t(1) << 53, "histories",
                  "from 0 to 2^53");
  archive("batches", batches_);
  archive.require(batches_ >= 0 && batches_ <= histories_, "batches",
                  "from 0 to the number of histories");
  const auto sums = [&](const char* name, std::vector<double>& values, std::size_t size) {
    archive(name, values);
    // None before the first batch.
    archive.require(values.size() == size || (values.empty() && batches_ == 0), name,
                    "as many numbers as this job has");
    archive.require(std::all_of(values.begin(), values.end(), [](double x) { return x >= 0; }),
                    name, "no negative sums");
  };
  const std::size_t bins = all_bins();
  sums("scores", scores_, Scores::count);
  sums("bin_sums", sum_, bins);
  sums("bin_squares", square_, bins);
}

}  // namespace neutron
