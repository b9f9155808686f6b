#include "multiple_tau.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/device/tasks.h"

namespace perrin::analysis {

void DisplacementValues::add(double x, double y, double z, double* sums) const {
  const double square = x * x + y * y + z * z;
  *sums++ += square;
  if (fourth) *sums++ += square * square;
  if (wave_numbers.empty() && overlap == 0) return;
  const double length = std::sqrt(square);
  for (const double k : wave_numbers) {
    const double phase = k * length;
    *sums++ += phase < 1e-9     ? 1
               : dimension == 2 ? std::cyl_bessel_j(0.0, phase)
                                : std::sin(phase) / phase;
  }
  if (overlap > 0) *sums++ += length < overlap ? 1 : 0;
}

MultipleTau::MultipleTau(Kind kind, std::vector<std::int64_t> groups, int levels,
                         DisplacementValues values)
    : kind_(kind), groups_(std::move(groups)), values_(std::move(values)), levels_(levels) {
  clear();
}

void MultipleTau::clear() {
  samples_ = 0;
  frames_.clear();
  sums_.assign(std::size_t(lags()) * (groups_.size() - 1) * values_.count(), 0.0);
}

MultipleTau::Place MultipleTau::place(int k) const {
  if (k < points) return {0, k};
  const int above = k - points, half = points / 2;
  return {1 + above / half, half + above % half};
}

std::int64_t MultipleTau::lag(int k) const {
  const Place at = place(k);
  return std::int64_t(at.j) << at.level;
}

std::int64_t MultipleTau::frames(int level, std::int64_t samples) const {
  // Means are complete with their last sample, samples are there with their first.
  const std::int64_t step = std::int64_t(1) << level;
  return (samples + (kind_ == Kind::product ? 0 : step - 1)) / step;
}

std::int64_t MultipleTau::origins(int k) const {
  const Place at = place(k);
  return std::max<std::int64_t>(0, frames(at.level, samples_) - at.j);
}

double MultipleTau::mean(std::size_t group, int k, std::size_t value) const {
  const std::int64_t n = origins(k);
  if (n == 0) return std::numeric_limits<double>::quiet_NaN();
  const std::size_t at = std::size_t(k) * (groups_.size() - 1) + group;
  return sums_[at * values_.count() + value] / double(n);
}

double* MultipleTau::frame(int level, std::int64_t number) {
  return frames_[std::size_t(level)].data() + (number % points) * groups_.back();
}

void MultipleTau::add(const Device& device, std::span<const double> sample) {
  PERRIN_ASSERT(std::int64_t(sample.size()) == groups_.back());
  for (int level = 0; level < levels_; ++level) {
    const std::int64_t number = frames(level, samples_);
    if (frames(level, samples_ + 1) == number) break;  // nor do the levels above get one
    if (frames_.size() <= std::size_t(level))
      frames_.emplace_back(std::size_t(points * groups_.back()));
    double* const now = frame(level, number);
    if (level == 0 || kind_ == Kind::displacement) {
      std::copy(sample.begin(), sample.end(), now);
    } else {
      const double *a = frame(level - 1, 2 * number), *b = frame(level - 1, 2 * number + 1);
      for (std::size_t c = 0; c < sample.size(); ++c) now[c] = 0.5 * (a[c] + b[c]);
    }
    correlate(device, level, number);
  }
  ++samples_;
}

void MultipleTau::correlate(const Device& device, int level, std::int64_t number) {
  const int first = level == 0 ? 0 : points / 2, lags_here = points - first;
  const int before = level == 0 ? 0 : points + (level - 1) * points / 2;
  const double* const now = frame(level, number);
  for_tasks(
      device, lags_here,
      [&](std::int64_t task, int) {
        const std::int64_t j = first + task;
        if (j > number) return;
        const double* const then = frame(level, number - j);
        const std::size_t values = values_.count();
        double* sums = sums_.data() + std::size_t(before + task) * (groups_.size() - 1) * values;
        for (std::size_t g = 0; g + 1 < groups_.size(); ++g, sums += values) {
          std::vector<double> found(values, 0.0);
          if (kind_ == Kind::product)
            for (std::int64_t c = groups_[g]; c < groups_[g + 1]; ++c) found[0] += now[c] * then[c];
          else
            for (std::int64_t c = groups_[g]; c < groups_[g + 1]; c += 3)
              values_.add(now[c] - then[c], now[c + 1] - then[c + 1], now[c + 2] - then[c + 2],
                          found.data());
          for (std::size_t v = 0; v < values; ++v) sums[v] += found[v];
        }
      },
      groups_.back() > 1000);
}

std::size_t MultipleTau::levels_in_use() const {
  std::size_t used = 0;
  while (used < std::size_t(levels_) && frames(int(used), samples_) > 0) ++used;
  return used;
}

void MultipleTau::state(Archive& archive) {
  archive("samples", samples_);
  archive.require(samples_ >= 0 && samples_ < std::int64_t(1) << 53, "samples", "at least 0");
  std::vector<double> all, sums = sums_;
  for (const auto& level : frames_) all.insert(all.end(), level.begin(), level.end());
  archive("frames", all);
  const std::size_t size = std::size_t(points * groups_.back()), used = levels_in_use();
  archive.require(all.size() == size * used, "frames",
                  "values of the levels that this number of samples fills");
  archive("sums", sums);
  archive.require(sums.size() == sums_.size(), "sums", "as many values as there are in this job");
  if (archive.is_saving()) return;
  sums_ = std::move(sums);
  frames_.clear();
  for (std::size_t level = 0; level < used; ++level)
    frames_.emplace_back(all.begin() + std::ptrdiff_t(level * size),
                         all.begin() + std::ptrdiff_t((level + 1) * size));
}

}  // namespace perrin::analysis
