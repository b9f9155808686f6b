// Weeks, Chandler, Andersen, J. Chem. Phys. 54, 5237 (1971): the repulsive part of Lennard-Jones.
#pragma once

#include "forces/potentials/lennard_jones.h"

namespace perrin {

struct Wca {
  struct Settings {
    double epsilon = 1, sigma = 1;
  };
  struct Coefficients {
    Real sigma6, four_epsilon;
  };
  static constexpr const char* type = "wca";
  static constexpr const char* help =
      "Weeks-Chandler-Andersen: Lennard-Jones plus epsilon, zero beyond its minimum 2^(1/6) sigma";

  static Coefficients coefficients(const Settings& s) {
    const auto c = LennardJones::coefficients({s.epsilon, s.sigma});
    return {c.sigma6, c.four_epsilon};
  }

  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    PairForce<T> f =
        LennardJones::evaluate(r2, LennardJones::Coefficients{c.sigma6, c.four_epsilon});
    f.energy += T(0.25) * T(c.four_epsilon);
    return f;
  }

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
