// Tail probabilities of the statistics.
#pragma once

#include <cmath>
#include <limits>

namespace perrin::statistics {

/// Q(a, x), the upper regularised incomplete gamma function: by its series below a + 1, by the
/// continued fraction of Legendre (evaluated by Lentz's method) above.
inline double upper_gamma(double a, double x) {
  if (x <= 0) return 1;
  const double front = std::exp(-x + a * std::log(x) - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < 100000 && term > sum * 1e-16; ++n) sum += term *= x / (a + n);
    return 1 - sum * front;
  }
  const double tiny = std::numeric_limits<double>::min();
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
  for (int n = 1; n < 100000; ++n) {
    const double an = -n * (n - a);
    b += 2;
    d = an * d + b;
    if (std::abs(d) < tiny) d = tiny;
    c = b + an / c;
    if (std::abs(c) < tiny) c = tiny;
    d = 1 / d;
    const double delta = d * c;
    h *= delta;
    if (std::abs(delta - 1) < 1e-15) break;
  }
  return front * h;
}

/// P(X ≥ chi2) for k degrees of freedom.
inline double chi_square_tail(double chi2, double k) { return upper_gamma(k / 2, chi2 / 2); }
/// P(|X| ≥ |z|) of a standard normal.
inline double normal_two_sided(double z) { return std::erfc(std::abs(z) / std::sqrt(2.0)); }
/// P(X ≥ n) of a Poisson variable.
inline double poisson_tail(double n, double mean) { return n <= 0 ? 1 : 1 - upper_gamma(n, mean); }
/// P(X ≤ n).
inline double poisson_head(double n, double mean) { return upper_gamma(n + 1, mean); }

/// Twice the smaller tail, at most 1.
inline double two_sided(double lower, double upper) {
  return std::min(1.0, 2 * std::min(lower, upper));
}

}  // namespace perrin::statistics
