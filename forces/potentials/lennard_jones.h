// Lennard-Jones: E = 4 epsilon [(sigma/r)^12 - (sigma/r)^6].
#pragma once

#include <cmath>

#include "engine/settings/settings.h"
#include "forces/device_math.h"
#include "forces/number_range.h"
#include "forces/pair_potential.h"

namespace perrin {

struct LennardJones {
  struct Settings {
    double epsilon = 1, sigma = 1;
  };
  struct Coefficients {
    Real twelve, six;  // 48 epsilon sigma^12, 24 epsilon sigma^6
  };
  static constexpr const char* type = "lennard_jones";
  static constexpr const char* help = "Lennard-Jones: 4 epsilon [(sigma/r)^12 - (sigma/r)^6]";

  static Coefficients coefficients(const Settings& s) {
    const double sigma6 = std::pow(s.sigma, 6);
    return {in_range(48 * s.epsilon * sigma6 * sigma6, "48 epsilon sigma^12"),
            in_range(24 * s.epsilon * sigma6, "24 epsilon sigma^6")};
  }

  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    const T inverse2 = reciprocal(r2);
    const T inverse6 = inverse2 * inverse2 * inverse2;
    const T twelve = T(c.twelve) * inverse6;
    return {inverse2 * inverse6 * (twelve - T(c.six)),
            inverse6 * (T(1.0 / 12) * twelve - T(1.0 / 6) * T(c.six))};
  }

  /// Lorentz–Berthelot: arithmetic mean of sigma, geometric mean of epsilon; geometric: of both.
  static Settings mix(const Settings& a, const Settings& b, Mixing rule) {
    const double sigma =
        rule == Mixing::lorentz_berthelot ? (a.sigma + b.sigma) / 2 : std::sqrt(a.sigma * b.sigma);
    return {std::sqrt(a.epsilon * b.epsilon), sigma};
  }

  static double tail_energy(const Settings& s, double cutoff) {
    const double s3 = std::pow(s.sigma / cutoff, 3), volume = std::pow(cutoff, 3);
    return 4 * s.epsilon * volume * (std::pow(s3, 4) / 9 - s3 * s3 / 3);
  }
  static double tail_virial(const Settings& s, double cutoff) {
    const double s3 = std::pow(s.sigma / cutoff, 3), volume = std::pow(cutoff, 3);
    return 4 * s.epsilon * volume * (12 * std::pow(s3, 4) / 9 - 6 * s3 * s3 / 3);
  }
};

template <class D>
void describe(D& d, LennardJones::Settings& s) {
  d.required("epsilon", s.epsilon, NonNegative{}, "depth of the well, in energy units");
  d.required("sigma", s.sigma, Positive{}, "distance at which the energy is zero");
}

}  // namespace perrin
