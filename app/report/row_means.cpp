#include "app/report/row_means.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace perrin::report {

void RowMeans::fit(std::size_t places) {
  if (sums_.size() < places) sums_.resize(places);
}

void RowMeans::add(std::span<const double> row) {
  fit(row.size());
  for (std::size_t k = 0; k < row.size(); ++k)
    if (std::isfinite(row[k])) sums_[k].add(row[k]);
}

void RowMeans::add_best(std::span<const double> row, std::span<const double> samples) {
  const std::size_t n = std::min(row.size(), samples.size());
  best_.resize(std::max(best_.size(), n));
  for (std::size_t k = 0; k < n; ++k)
    if (samples[k] < best_[k].samples) {
      sums_.clear();
      best_.assign(best_.size(), {});
      break;
    }
  fit(row.size());
  for (std::size_t k = 0; k < n; ++k) {
    const double more = samples[k] - best_[k].samples;
    if (!(more > 0) || !std::isfinite(row[k])) continue;
    sums_[k].add((row[k] * samples[k] - best_[k].value * best_[k].samples) / more);
    best_[k] = {row[k], samples[k]};
  }
}

std::vector<double> RowMeans::mean() const {
  std::vector<double> list;
  for (const BlockSums& s : sums_)
    list.push_back(s.values() > 0 ? s.result().mean : std::numeric_limits<double>::quiet_NaN());
  return list;
}

std::vector<double> RowMeans::error() const {
  std::vector<double> list;
  if (std::ranges::none_of(sums_, [](const BlockSums& s) { return s.values() > 1; })) return list;
  for (const BlockSums& s : sums_)
    list.push_back(s.values() < 4 ? s.error_of_independent() : s.result().error);
  return list;
}

std::string RowMeans::text() const {
  std::size_t known = 0, few = 0, low = 0;
  for (const BlockSums& s : sums_) {
    known += s.values() > 1;
    few += s.values() > 1 && s.values() < 4;
    if (s.values() < 4) continue;
    const BlockedMean m = s.result();
    low += !m.long_enough && m.error > 0;
  }
  if (known == 0) return "; one row, no error";
  if (few == known) return "; error bars assume independent rows";
  std::string text = "; error bars: standard errors by blocking";
  if (low > 0)
    text += fmt::format(
        ", lower bounds at {} of {} points, where rows are correlated over the longest blocks", low,
        known);
  return text;
}

}  // namespace perrin::report
