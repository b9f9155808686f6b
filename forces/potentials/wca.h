// Weeks, Chandler, Andersen, J. Chem. Phys. 54, 5237 (1971): the repulsive part of Lennard-Jones.
#pragma once

#include "forces/potentials/lennard_jones.h"

namespace perrin {

struct Wca {
  struct Settings {
    double epsilon = 1, sigma = 1;
  };
  struct Coefficients {
    LennardJones::Coefficients lennard_jones;
    Real epsilon;
  };
  static constexpr const char* type = "wca";
  static constexpr const char* help =
      "Weeks-Chandler-Andersen: Lennard-Jones plus epsilon, zero beyond its minimum 2^(1/6) sigma";

  static Coefficients coefficients(const Settings& s) {
    return {LennardJones::coefficients({s.epsilon, s.sigma}), Real(s.epsilon)};
  }

  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    PairForce<T> f = LennardJones::evaluate(r2, c.lennard_jones);
    f.energy += T(c.epsilon);
    return f;
  }

  static constexpr bool ends_smoothly = true;
  static double default_cutoff(const Settings& s) { return std::pow(2.0, 1.0 / 6) * s.sigma; }

  static Settings mix(const Settings& a, const Settings& b, Mixing rule) {
    const auto mixed = LennardJones::mix({a.epsilon, a.sigma}, {b.epsilon, b.sigma}, rule);
    return {mixed.epsilon, mixed.sigma};
  }
};

template <class D>
void describe(D& d, Wca::Settings& s) {
  d.required("epsilon", s.epsilon, NonNegative{}, "height of the energy at r = sigma");
  d.required("sigma", s.sigma, Positive{}, "diameter; the force ends at 2^(1/6) sigma");
}

}  // namespace perrin
