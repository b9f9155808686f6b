// The Gaussian core model, Stillinger, J. Chem. Phys. 65, 3968 (1976): E = epsilon
// exp(-(r/sigma)²).
#pragma once

#include "engine/settings/settings.h"
#include "forces/device_math.h"
#include "forces/pair_potential.h"

namespace perrin {

struct GaussianCore {
  struct Settings {
    double epsilon = 1, sigma = 1;
  };
  struct Coefficients {
    Real epsilon, inverse_sigma2;
  };
  static constexpr const char* type = "gaussian_core";
  static constexpr const char* help = "Gaussian core model: epsilon exp(-(r/sigma)^2)";

  static Coefficients coefficients(const Settings& s) {
    return {Real(s.epsilon), Real(1 / (s.sigma * s.sigma))};
  }

  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    const T energy = T(c.epsilon) * std::exp(-r2 * T(c.inverse_sigma2));
    return {T(2) * T(c.inverse_sigma2) * energy, energy};
  }
};

template <class D>
void describe(D& d, GaussianCore::Settings& s) {
  d.required("epsilon", s.epsilon, Any{}, "energy at r = 0");
  d.required("sigma", s.sigma, Positive{}, "width: the energy falls to 1/e at r = sigma");
}

}  // namespace perrin
