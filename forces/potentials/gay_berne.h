// Gay-Berne potential of uniaxial ellipsoids: 4 ε(u, v, e) (ρ⁻¹² − ρ⁻⁶), ρ = (r − σ(u, v, e) +
// σ₀)/σ₀. J. G. Gay, B. J. Berne, J. Chem. Phys. 74, 3316 (1981). In the notation GB(κ, κ', μ, ν)
// of E. de Miguel, L. F. Rull, M. K. Chalam, K. E. Gubbins, Mol. Phys. 71, 1223 (1990); derivatives
// as in M. P. Allen, G. Germano, Mol. Phys. 104, 3225 (2006), appendix A.
#pragma once

#include <cmath>

#include "engine/settings/settings.h"
#include "forces/anisotropic/interaction.h"
#include "forces/powers.h"

namespace perrin {

struct GayBerne {
  struct Settings {
    double epsilon = 1, sigma = 1, kappa = 3, kappa_prime = 5, mu = 2, nu = 1;
  };
  struct Coefficients {
    Real epsilon4, inverse_sigma, sigma;  // 4 ε₀, 1/σ₀, σ₀
    Real chi, chi_prime, mu, nu;
  };
  static constexpr const char* type = "gay_berne";
  static constexpr const char* help =
      "Gay-Berne potential between ellipsoids whose long axes are x of their own frames; needs "
      "\"orientations\"";

  static Coefficients coefficients(const Settings& s) {
    const double k2 = s.kappa * s.kappa, e = std::pow(s.kappa_prime, 1 / s.mu);
    return {Real(4 * s.epsilon),     Real(1 / s.sigma), Real(s.sigma), Real((k2 - 1) / (k2 + 1)),
            Real((e - 1) / (e + 1)), Real(s.mu),        Real(s.nu)};
  }

  template <class T>
  PERRIN_HD static AxialEnergy<T> evaluate(T r, T cos_1, T cos_2, T c, const Coefficients& k) {
    // With e from 2 to 1 the cosines are a = u·e = -cos_1, b = v·e = cos_2.
    const T sum = cos_2 - cos_1, difference = -cos_1 - cos_2;
    const Shape<T> width = shape(sum, difference, c, T(k.chi)),
                   depth = shape(sum, difference, c, T(k.chi_prime));
    const T inverse_root = inverse_sqrt(width.value), sigma = T(k.sigma) * inverse_root;
    const T inverse_depth = reciprocal(depth.value);
    const T no_pole = T(1) - T(k.chi) * T(k.chi) * c * c;
    const T epsilon = T(k.epsilon4) *
                      exp2_of(T(k.mu) * log2_of(depth.value) - T(0.5) * T(k.nu) * log2_of(no_pole));
    const T shifted = (r - sigma) * T(k.inverse_sigma) + T(1);
    // Far within the core, where no simulation comes, the energy is that of 1/100.
    const T rho = reciprocal(shifted > T(0.01) ? shifted : T(0.01));
    const T rho3 = rho * rho * rho, rho6 = rho3 * rho3;
    const T energy = epsilon * (rho6 * rho6 - rho6);
    const T by_r = epsilon * T(k.inverse_sigma) * rho * rho6 * (T(6) - T(12) * rho6);
    // dσ = -σ/(2 value) d value; dε/ε = μ d depth/depth + ν χ² c dc / no_pole
    const T of_width = T(0.5) * by_r * sigma * inverse_root * inverse_root;
    const T of_depth = T(k.mu) * energy * inverse_depth;
    const T by_a = of_width * width.by_a + of_depth * depth.by_a;
    const T by_b = of_width * width.by_b + of_depth * depth.by_b;
    const T by_c = of_width * width.by_c + of_depth * depth.by_c +
                   energy * T(k.nu) * T(k.chi) * T(k.chi) * c * reciprocal(no_pole);
    return {energy, by_r, -by_a, by_b, by_c};
  }

 private:
  /// 1 − χ/2 ((a + b)²/(1 + χ c) + (a − b)²/(1 − χ c)), and its derivatives.
  template <class T>
  struct Shape {
    T value, by_a, by_b, by_c;
  };
  template <class T>
  PERRIN_HD static Shape<T> shape(T sum, T difference, T c, T chi) {
    const T p = sum * reciprocal(T(1) + chi * c), q = difference * reciprocal(T(1) - chi * c);
    const T value = T(1) - T(0.5) * chi * (sum * p + difference * q);
    return {value, -chi * (p + q), -chi * (p - q), T(0.5) * chi * chi * (p * p - q * q)};
  }
};

template <class D>
void describe(D& d, GayBerne::Settings& s) {
  d.required("epsilon", s.epsilon, NonNegative{},
             "depth of the well of two crossed ellipsoids (energy)");
  d.required("sigma", s.sigma, Positive{}, "width of the ellipsoid (length)");
  d.optional("kappa", s.kappa, Positive{},
             "length over width of the ellipsoid, kappa of GB(kappa, kappa', mu, nu)");
  d.optional("kappa_prime", s.kappa_prime, Positive{},
             "depth of the well side by side over that end to end");
  d.optional("mu", s.mu, Positive{}, "exponent mu");
  d.optional("nu", s.nu, NonNegative{}, "exponent nu");
}

}  // namespace perrin
