// Mie: E = C epsilon [(sigma/r)^n - (sigma/r)^m], C = n/(n - m) (n/m)^(m/(n - m)), so that -epsilon
// is the lowest energy. Lafitte et al., J. Chem. Phys. 139, 154504 (2013), equations 1 and 2.
#pragma once

#include <fmt/format.h>

#include <cmath>

#include "engine/settings/settings.h"
#include "forces/device_math.h"
#include "forces/number_range.h"
#include "forces/pair_potential.h"
#include "forces/powers.h"

namespace perrin {

struct Mie {
  struct Settings {
    double epsilon = 1, sigma = 1, repulsive = 12, attractive = 6;
  };
  /// Exponents are halved, since what is raised to them is (sigma/r)².
  struct Coefficients {
    Real energy, sigma2, repulsive, attractive;
  };
  static constexpr const char* type = "mie";
  static constexpr const char* help =
      "Mie: C epsilon [(sigma/r)^repulsive - (sigma/r)^attractive], lowest energy -epsilon";

  static double prefactor(const Settings& s) {
    const double n = s.repulsive, m = s.attractive;
    if (n <= m) return 0;  // refused by check()
    return s.epsilon * n / (n - m) * std::pow(n / m, m / (n - m));
  }
  static void check(const Settings& s, const Refuse& refuse) {
    if (s.repulsive <= s.attractive)
      refuse("repulsive", fmt::format("must be above the exponent of the attraction ({}), got {}",
                                      s.attractive, s.repulsive));
    if (s.attractive <= 3)
      refuse("attractive",
             fmt::format(
                 "must be above 3, otherwise energies depend on the size of the system; got {}",
                 s.attractive));
  }
  static Coefficients coefficients(const Settings& s) {
    return {in_range(prefactor(s), "C epsilon"), in_range(s.sigma * s.sigma, "sigma^2"),
            Real(s.repulsive / 2), Real(s.attractive / 2)};
  }

  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    const T inverse2 = reciprocal(r2);
    const T logarithm = log2_of(T(c.sigma2) * inverse2);
    const T repulsion = exp2_of(T(c.repulsive) * logarithm),
            attraction = exp2_of(T(c.attractive) * logarithm);
    return {
        T(2) * T(c.energy) * inverse2 * (T(c.repulsive) * repulsion - T(c.attractive) * attraction),
        T(c.energy) * (repulsion - attraction)};
  }

  /// Arithmetic mean of sigma (Lorentz–Berthelot) or geometric, geometric mean of epsilon;
  /// exponents by equation 42 of Lafitte et al.: lambda - 3 is the geometric mean.
  static Settings mix(const Settings& a, const Settings& b, Mixing rule) {
    const auto exponent = [](double x, double y) { return 3 + std::sqrt((x - 3) * (y - 3)); };
    return {
        std::sqrt(a.epsilon * b.epsilon),
        rule == Mixing::lorentz_berthelot ? (a.sigma + b.sigma) / 2 : std::sqrt(a.sigma * b.sigma),
        exponent(a.repulsive, b.repulsive), exponent(a.attractive, b.attractive)};
  }

  static double tail_energy(const Settings& s, double cutoff) {
    const auto integral = [&](double n) { return std::pow(s.sigma / cutoff, n) / (n - 3); };
    return prefactor(s) * std::pow(cutoff, 3) * (integral(s.repulsive) - integral(s.attractive));
  }
  static double tail_virial(const Settings& s, double cutoff) {
    const auto integral = [&](double n) { return n * std::pow(s.sigma / cutoff, n) / (n - 3); };
    return prefactor(s) * std::pow(cutoff, 3) * (integral(s.repulsive) - integral(s.attractive));
  }
};

template <class D>
void describe(D& d, Mie::Settings& s) {
  d.required("epsilon", s.epsilon, NonNegative{}, "depth of the well, in energy units");
  d.required("sigma", s.sigma, Positive{}, "distance at which the energy is zero");
  d.required("repulsive", s.repulsive, Between{3, 100},
             "exponent of the repulsion, integer or not, at the same cost");
  d.optional("attractive", s.attractive, Between{3, 100}, "exponent of the attraction");
}

}  // namespace perrin
