#include "app/report/series_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace perrin::report {
namespace {

constexpr std::int64_t most_searched = 4096, places = 64, fewest_rows = 16;
// A correlation time of more than this number of values shows in means of neighbours as well.
constexpr std::int64_t few_searched = 512, most_correlated = 32;
constexpr double fewest_independent = 10, most_drift = 3;

double mean_of(std::span<const double> x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum / double(x.size());
}

/// Mean square deviation from the mean.
double variance_of(std::span<const double> x) {
  const double mean = mean_of(x);
  double sum = 0;
  for (const double v : x) sum += (v - mean) * (v - mean);
  return sum / double(x.size());
}

/// Means of `n` neighbours; what is left over at the end is left out.
std::vector<double> means(std::span<const double> x, std::size_t n) {
  std::vector<double> out(x.size() / n);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = mean_of(x.subspan(k * n, n));
  return out;
}

struct Start {
  std::int64_t row = 0;
  double inefficiency = 1, independent = 0;
};

/// How many rows at the beginning are far from all of the second half.
std::size_t wild_rows(std::span<const double> x) {
  const auto half = x.last(x.size() / 2);
  const double mean = mean_of(half), most = 5 * std::sqrt(variance_of(half));
  std::size_t n = 0;
  while (n < x.size() / 2 && std::abs(x[n] - mean) > most) ++n;
  return n;
}

Start find_start(std::span<const double> x) {
  const auto rows = std::int64_t(x.size());
  // Looking for the start takes the square of the values that are searched: fewer where even they
  // are correlated over long stretches, as in a series that drifts.
  std::int64_t width = (rows + few_searched - 1) / few_searched;
  if (statistical_inefficiency(means(x, std::size_t(width))) < most_correlated)
    width = (rows + most_searched - 1) / most_searched;
  const std::vector<double> coarse = means(x, std::size_t(width));
  const auto n = std::int64_t(coarse.size());
  Start best;
  for (std::int64_t k = 0; k < places; ++k) {
    const std::int64_t from = n * k / places;
    if (n - from < fewest_rows / 2 || (k > 0 && from == n * (k - 1) / places)) continue;
    const double g = statistical_inefficiency(std::span(coarse).subspan(std::size_t(from)));
    const double independent = double(n - from) / g;
    if (independent > best.independent) best = {from * width, g, independent};
  }
  // Of rows instead of their means: the variance of the mean of all is the same.
  const auto rest = x.subspan(std::size_t(best.row));
  const auto coarse_rest = std::span(coarse).subspan(std::size_t(best.row / width));
  if (width > 1 && variance_of(rest) > 0)
    best.inefficiency = std::max(
        1.0, best.inefficiency * double(width) * variance_of(coarse_rest) / variance_of(rest));
  best.independent = double(rest.size()) / best.inefficiency;
  return best;
}

double drift_of(std::span<const double> x) {
  const std::size_t tenth = x.size() / 10, half = x.size() / 2;
  if (tenth < 4) return std::numeric_limits<double>::quiet_NaN();
  const BlockedMean first = blocked_mean(x.first(tenth)), last = blocked_mean(x.last(half));
  return (first.mean - last.mean) / std::hypot(first.error, last.error);
}

std::string verdict_of(const SeriesStatistics& s) {
  if (s.independent < fewest_independent)
    return fmt::format("too short: {:.2g} effective samples", s.independent);
  if (std::abs(s.drift) > most_drift)
    return fmt::format("drifts: first tenth and second half differ by {:.1f} standard errors",
                       std::abs(s.drift));
  if (2 * s.start > s.rows) return "stationary in less than half of the rows";
  if (!s.blocked.long_enough)
    return "correlated over the longest blocks: the error is underestimated";
  return "stationary";
}

}  // namespace

void BlockSums::add(double value) {
  for (std::size_t k = 0;; ++k) {
    if (k == levels_.size()) levels_.emplace_back();
    Level& level = levels_[k];
    const double d = value - level.mean;  // Welford's sums
    level.mean += d / double(++level.blocks);
    level.square += d * (value - level.mean);
    if (level.blocks % 2 != 0) {
      level.last = value;
      return;
    }
    value = (level.last + value) / 2;
  }
}

double BlockSums::error_of_independent() const {
  const auto n = double(values());
  return n < 2 ? 0 : std::sqrt(levels_[0].square / (n * (n - 1)));
}

BlockedMean BlockSums::result() const {
  BlockedMean result;
  if (levels_.empty()) return result;
  result.mean = levels_[0].mean;
  const auto n = double(levels_[0].blocks);
  std::int64_t size = 1;
  for (const Level& level : levels_) {
    if (level.blocks < 4) break;
    const double error =
        std::sqrt(level.square / (double(level.blocks) * double(level.blocks - 1)));
    result.errors.push_back(error);
    const double growth = error > 0 ? error / result.errors[0] : 1;
    if (!result.long_enough && std::pow(double(size), 3) > 2 * n * std::pow(growth, 4)) {
      result.long_enough = true;
      result.error = error;
      result.block = size;
    }
    size *= 2;
  }
  if (result.long_enough || result.errors.empty()) return result;
  const auto largest = std::ranges::max_element(result.errors);
  result.error = *largest;
  result.block = std::int64_t(1) << (largest - result.errors.begin());
  return result;
}

BlockedMean blocked_mean(std::span<const double> values) {
  BlockSums sums;
  for (const double v : values) sums.add(v);
  return sums.result();
}

double statistical_inefficiency(std::span<const double> values) {
  const auto n = std::int64_t(values.size());
  const double variance = n > 0 ? variance_of(values) : 0;
  if (!(variance > 0)) return 1;
  const double mean = mean_of(values);
  std::vector<double> x(values.begin(), values.end());
  for (double& v : x) v -= mean;
  double g = 1;
  for (std::int64_t t = 1; t < n - 1; ++t) {
    double sum = 0;
    for (std::int64_t k = 0; k + t < n; ++k) sum += x[std::size_t(k)] * x[std::size_t(k + t)];
    const double c = sum / (double(n - t) * variance);
    if (c <= 0 && t > 3) break;
    g += 2 * c * (1 - double(t) / double(n));
  }
  return std::max(1.0, g);
}

SeriesStatistics series_statistics(std::span<const double> values) {
  SeriesStatistics s;
  s.rows = std::int64_t(values.size());
  s.drift = std::numeric_limits<double>::quiet_NaN();
  if (values.empty() || !std::ranges::all_of(values, [](double v) { return std::isfinite(v); })) {
    s.verdict = values.empty() ? "no rows" : "has values that are not finite";
    return s;
  }
  const auto [least, most] = std::ranges::minmax(values);
  const double size = std::max(std::abs(least), std::abs(most));
  s.blocked.mean = mean_of(values);
  if (most - least <= 1e-12 * size) {
    s.independent = double(s.rows);
    s.level = s.blocked.long_enough = true;
    s.verdict = "constant";
    return s;
  }
  if (s.rows < fewest_rows) {
    s.blocked = blocked_mean(values);
    s.verdict = fmt::format("too short: {} rows", s.rows);
    return s;
  }
  const std::size_t wild = wild_rows(values);
  const Start start = find_start(values.subspan(wild));
  s.start = std::int64_t(wild) + start.row;
  s.inefficiency = start.inefficiency;
  s.independent = start.independent;
  const auto used = values.subspan(std::size_t(s.start));
  s.blocked = blocked_mean(used);
  s.drift = drift_of(used);
  s.verdict = verdict_of(s);
  s.level = s.verdict == "stationary";
  return s;
}

}  // namespace perrin::report
