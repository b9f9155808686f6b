// Buckingham, Proc. R. Soc. Lond. A 168, 264 (1938), exp-6: E = A exp(-r/rho) - C/r⁶.
#pragma once

#include <fmt/format.h>

#include <cmath>

#include "engine/settings/settings.h"
#include "forces/device_math.h"
#include "forces/number_range.h"
#include "forces/pair_potential.h"
#include "forces/powers.h"

namespace perrin {

/// The formula falls to minus infinity at r = 0, behind a maximum: particles that cross it would
/// collapse. Here the energy goes on from the maximum upwards, E_max + k/2 (r_max - r)², with the
/// curvature -k of the maximum: energy and force are continuous, the force is repulsive all the way
/// to r = 0, and r > r_max is the formula. Parameters without a maximum are refused.
struct Buckingham {
  struct Settings {
    double amplitude = 1, rho = 1, dispersion = 0;
  };
  struct Coefficients {
    Real amplitude, inverse_rho, dispersion;
    Real inner, curvature;  // r_max; k
  };
  static constexpr const char* type = "buckingham";
  static constexpr const char* help =
      "Buckingham (exp-6): amplitude exp(-r/rho) - dispersion/r^6; below the distance r_max of its "
      "maximum it is E_max + k/2 (r_max - r)^2, so that particles cannot collapse";

  /// The least amplitude with a maximum: where attraction and repulsion touch, at r = 7 rho.
  static double least_amplitude(const Settings& s) {
    return 6 * s.dispersion * s.rho * std::exp(7.0) / std::pow(7 * s.rho, 7);
  }
  static void check(const Settings& s, const Refuse& refuse) {
    if (s.dispersion > 0 && s.amplitude <= least_amplitude(s))
      refuse("amplitude", fmt::format("must be above {:.6g}: with {} particles attract each other "
                                      "at all distances",
                                      least_amplitude(s), s.amplitude));
  }
  /// Distance of the maximum; 0 where there is no dispersion. By bisection: there the force
  /// A/rho exp(-r/rho) - 6 C/r⁷ changes its sign, once below 7 rho.
  static double maximum(const Settings& s) {
    if (s.dispersion == 0) return 0;
    double low = 0, high = 7 * s.rho;
    for (int k = 0; k < 100; ++k) {
      const double r = (low + high) / 2;
      const bool repulsive =
          std::log(s.amplitude / s.rho) - r / s.rho > std::log(6 * s.dispersion) - 7 * std::log(r);
      (repulsive ? high : low) = r;
    }
    return high;
  }
  static Coefficients coefficients(const Settings& s) {
    const double inner = maximum(s), repulsion = s.amplitude * std::exp(-inner / s.rho);
    const double curvature =
        inner > 0 ? 42 * s.dispersion / std::pow(inner, 8) - repulsion / (s.rho * s.rho) : 0;
    return {in_range(s.amplitude, "amplitude"), in_range(1 / s.rho, "1/rho"),
            in_range(s.dispersion, "dispersion"), Real(inner), in_range(curvature, "curvature")};
  }

  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    constexpr double log2_e = 1.4426950408889634;
    const auto distance = Distance<T>::from_square(r2);
    const T r = distance.r > T(c.inner) ? distance.r : T(c.inner);
    const T below = r - distance.r;
    const T inverse2 = reciprocal(r * r);
    const T repulsion = T(c.amplitude) * exp2_of(-r * T(c.inverse_rho) * T(log2_e));
    const T attraction = T(c.dispersion) * inverse2 * inverse2 * inverse2;
    const T push = T(c.curvature) * below;
    const T force = repulsion * T(c.inverse_rho) - T(6) * attraction * inverse2 * r + push;
    return {force * distance.inverse, repulsion - attraction + T(0.5) * push * below};
  }

  static double tail_energy(const Settings& s, double r) {
    return s.amplitude * s.rho * std::exp(-r / s.rho) * (r * r + 2 * s.rho * (r + s.rho)) -
           s.dispersion / (3 * r * r * r);
  }
  static double tail_virial(const Settings& s, double r) {
    const double p = s.rho;
    return s.amplitude * std::exp(-r / p) *
               (r * r * r + 3 * p * r * r + 6 * p * p * r + 6 * p * p * p) -
           2 * s.dispersion / (r * r * r);
  }
};

template <class D>
void describe(D& d, Buckingham::Settings& s) {
  d.required("amplitude", s.amplitude, NonNegative{}, "A, in energy units");
  d.required("rho", s.rho, Positive{}, "decay length of the repulsion");
  d.required("dispersion", s.dispersion, NonNegative{}, "C, energy times length to the sixth");
}

}  // namespace perrin
