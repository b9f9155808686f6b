// Means of correlated series.
#pragma once

#include <cmath>
#include <vector>

namespace perrin {

/// The mean of a series and its standard error. The integrated autocorrelation time is summed up to
/// five times itself: A. D. Sokal, in Functional Integration (1997), 131.
struct Estimate {
  double mean = 0, error = 0, independent = 0;
};
inline Estimate estimate(const std::vector<double>& x) {
  const auto n = double(x.size());
  Estimate e;
  for (const double v : x) e.mean += v / n;
  const auto correlation = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t k = lag; k < x.size(); ++k) sum += (x[k] - e.mean) * (x[k - lag] - e.mean);
    return sum / n;
  };
  const double variance = correlation(0);
  double time = 0.5;
  for (std::size_t lag = 1; double(lag) < 5 * time && lag < x.size() / 10; ++lag)
    time += correlation(lag) / variance;
  e.independent = n / (2 * time);
  e.error = std::sqrt(variance / e.independent);
  return e;
}

/// The same of the squares of what values differ from a mean that is known.
inline Estimate estimate_variance(std::vector<double> x, double mean) {
  for (double& v : x) v = (v - mean) * (v - mean);
  return estimate(x);
}

}  // namespace perrin
