// The force between two charges in Ewald's sum over pairs, for steps without energies: without a
// square root, an exponential or an error function of its own.
//
//     erfc(α r)/r³ + 2 α/√π exp(-α² r²)/r² = 1/r³ - α³ h(α² r²)
//     h(z) = erf(√z)/z^(3/2) - 2/√π exp(-z)/z = 4/√π ∫ u² exp(-z u²) du, u from 0 to 1
//
// h is smooth, and a polynomial in r² serves up to the cut-off (S. Páll, B. Hess, Comput. Phys.
// Commun. 184, 2641 (2013) have a rational function). Here it is Chebyshev's interpolation there:
// within 1e-8 of h for α r up to 4, which all accuracies down to 1e-6 choose.
#pragma once

#include <cmath>

#include "engine/base/real.h"
#include "forces/charges/error_function.h"
#include "forces/device_math.h"

namespace perrin {

/// In T; the coefficients are found in double.
template <class T>
struct EwaldSeries {
  static constexpr int terms = 17;
  T scale;     // 2/cutoff²: the variable is scale · r² - 1
  T c[terms];  // of its powers: 1/length³

  /// `alpha`: 1/length
  EwaldSeries(double alpha, double cutoff);

  /// Force over r of two charges of the product C q_1 q_2 at the distance r, r² > 0.
  PERRIN_HD T force_over_r(T r2, T product) const {
    const T inverse = inverse_sqrt(r2);
    return product * (inverse * inverse * inverse - far(r2));
  }
  /// α³ h(α² r²), r ≤ cutoff
  PERRIN_HD T far(T r2) const { return detail::polynomial(c, scale * r2 - T(1)); }
};

namespace detail {

inline double ewald_h(double z) {
  constexpr double two_over_root_pi = 1.1283791670955126;
  if (z > 0.5) {
    const double x = std::sqrt(z);
    return std::erf(x) / (x * z) - two_over_root_pi * std::exp(-z) / z;
  }
  double sum = 0, power = 1;
  for (int k = 0; k < 20; ++k, power *= -z / k) sum += power / (2 * k + 3);
  return 2 * two_over_root_pi * sum;
}

}  // namespace detail

template <class T>
EwaldSeries<T>::EwaldSeries(double alpha, double cutoff) : scale(T(2 / (cutoff * cutoff))) {
  const double half = 0.5 * alpha * alpha * cutoff * cutoff;
  double value[terms], angle[terms];
  for (int k = 0; k < terms; ++k) {
    angle[k] = M_PI * (k + 0.5) / terms;
    value[k] = alpha * alpha * alpha * detail::ewald_h(half * (1 + std::cos(angle[k])));
  }
  // The sum of its coefficients times Chebyshev's polynomials, as powers.
  double powers[terms] = {}, last[terms] = {}, present[terms] = {1};
  for (int n = 0; n < terms; ++n) {
    double coefficient = 0;
    for (int k = 0; k < terms; ++k)
      coefficient += (n == 0 ? 1.0 : 2.0) / terms * value[k] * std::cos(n * angle[k]);
    for (int k = 0; k < terms; ++k) powers[k] += coefficient * present[k];
    double next[terms] = {};
    for (int k = 0; k < terms; ++k)
      next[k] = (k > 0 ? (n == 0 ? 1.0 : 2.0) * present[k - 1] : 0.0) - (n == 0 ? 0 : last[k]);
    for (int k = 0; k < terms; ++k) last[k] = present[k], present[k] = next[k];
  }
  for (int k = 0; k < terms; ++k) c[k] = T(powers[k]);
}

/// The largest error of the force of two unit charges within the cut-off, over C: 1/length².
inline double ewald_series_error(double alpha, double cutoff) {
  const EwaldSeries<double> series(alpha, cutoff);
  constexpr int places = 1000;
  double most = 0;
  for (int k = 0; k <= places; ++k) {
    const double r = cutoff * k / places;
    const double exact = alpha * alpha * alpha * detail::ewald_h(alpha * alpha * r * r);
    most = std::fmax(most, r * std::fabs(series.far(r * r) - exact));
  }
  return most;
}

}  // namespace perrin
