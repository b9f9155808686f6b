// The polynomial of Ewald's sum over pairs against erfc in double precision.
#include "forces/charges/ewald_series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace perrin {
namespace {

double exact_force(double alpha, double r) {
  const double x = alpha * r;
  return std::erfc(x) / (r * r) + 2 * alpha / std::sqrt(M_PI) * std::exp(-x * x) / r;
}

template <class T>
double largest_error(double alpha, double cutoff, double from) {
  const EwaldSeries<T> series(alpha, cutoff);
  double most = 0;
  for (int k = 0; k <= 3000; ++k) {
    const T r2 = T(std::pow(from + (cutoff - from) * k / 3000, 2));
    const double r = std::sqrt(double(r2));
    most =
        std::max(most, std::abs(r * double(series.force_over_r(r2, T(1))) - exact_force(alpha, r)));
  }
  return most;
}

TEST(EwaldSeries, DoubleHasTheErrorThatIsForetold) {
  for (const double cutoff : {0.7, 2.5, 4.0})
    for (const double x : {2.0, 3.0, 3.5, 4.0, 4.5}) {
      const double alpha = x / cutoff, foretold = ewald_series_error(alpha, cutoff);
      EXPECT_LT(largest_error<double>(alpha, cutoff, 0.2 * cutoff), 1.02 * foretold + 1e-13 * 50);
      // What accuracies down to 1e-6 choose: far below them.
      if (x <= 4) {
        EXPECT_LT(foretold, 3e-8 * alpha * alpha) << x;
      }
    }
}

TEST(EwaldSeries, FloatRoundsToItsLastDigits) {
  for (const double cutoff : {2.5, 4.0})
    for (const double x : {2.0, 3.0, 3.5}) {
      const double alpha = x / cutoff;
      EXPECT_LT(largest_error<float>(alpha, cutoff, 1), 4e-7) << x;
      EXPECT_LT(largest_error<float>(alpha, cutoff, 0.5), 1.6e-6) << x;
    }
}

}  // namespace
}  // namespace perrin
