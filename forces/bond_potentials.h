// Harmonic and FENE bonds.
#pragma once

#include <optional>

#include "engine/settings/settings.h"
#include "forces/device_math.h"
#include "forces/potentials/wca.h"

namespace perrin {

/// E = k/2 (r - r0)².
struct BondHarmonic {
  struct Settings {
    double stiffness = 1, length = 1;
  };
  struct Coefficients {
    Real stiffness, length;
  };
  static constexpr const char* type = "bond_harmonic";
  static constexpr const char* help =
      "harmonic bonds: stiffness/2 (r - length)^2 (note the factor 1/2)";

  static Coefficients coefficients(const Settings& s) {
    return {Real(s.stiffness), Real(s.length)};
  }

  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    const auto distance = Distance<T>::from_square(r2);
    const T stretch = distance.r - T(c.length);
    const T force = -T(c.stiffness) * stretch;
    return {force * distance.inverse, T(-0.5) * force * stretch};
  }
};

template <class D>
void describe(D& d, BondHarmonic::Settings& s) {
  d.required("stiffness", s.stiffness, NonNegative{},
             "energy/length²; E = stiffness/2 (r - length)²");
  d.required("length", s.length, NonNegative{}, "equilibrium length");
}

/// E = -k/2 R0² ln(1 - (r/R0)²), with epsilon > 0 plus the WCA repulsion of the two beads.
/// Kremer, Grest, J. Chem. Phys. 92, 5057 (1990). In their model that repulsion acts once between
/// the bonded: it comes with the bond where pair forces leave the bonded out, else with the pair
/// force.
struct BondFene {
  struct Settings {
    double stiffness = 30, maximum_length = 1.5;
    std::optional<double> epsilon;
    double sigma = 1;
  };
  struct Coefficients {
    Real stiffness, maximum2, inverse_maximum2;
    Wca::Coefficients wca;
    Real wca_end2;
  };
  static constexpr const char* type = "bond_fene";
  static constexpr const char* help =
      "FENE bonds: -stiffness/2 R0^2 ln(1 - (r/R0)^2), R0 = maximum_length; with epsilon > 0 plus "
      "the WCA repulsion between bonded beads";

  static Settings completed(Settings s, bool excluded) {
    if (!s.epsilon) s.epsilon = excluded ? 1 : 0;
    return s;
  }
  static void check(const Settings& s, const Refuse& refuse) {
    if (s.epsilon.value_or(0) > 0 && s.sigma >= s.maximum_length)
      refuse(
          "sigma",
          "must be below maximum_length, since bonded beads repel each other at shorter distances");
  }
  static Coefficients coefficients(const Settings& s) {
    const double r2 = s.maximum_length * s.maximum_length, epsilon = s.epsilon.value_or(0);
    const double end = epsilon > 0 ? Wca::default_cutoff({epsilon, s.sigma}) : 0;
    return {Real(s.stiffness), Real(r2), Real(1 / r2), Wca::coefficients({epsilon, s.sigma}),
            Real(end * end)};
  }
  PERRIN_HD static Real breaking_length2(const Coefficients& c) { return c.maximum2; }

  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    const T left = T(1) - r2 * T(c.inverse_maximum2);
    PairForce<T> f{-T(c.stiffness) / left,
                   T(-0.5) * T(c.stiffness) * T(c.maximum2) * std::log(left)};
    if (r2 < T(c.wca_end2)) {
      const PairForce<T> repulsion = Wca::evaluate(r2, c.wca);
      f = {f.force_over_r + repulsion.force_over_r, f.energy + repulsion.energy};
    }
    return f;
  }
};

template <class D>
void describe(D& d, BondFene::Settings& s) {
  d.optional("stiffness", s.stiffness, Positive{}, "energy/length²");
  d.optional("maximum_length", s.maximum_length, Positive{},
             "R0: a bond that reaches this length ends the run");
  d.optional("epsilon", s.epsilon, NonNegative{},
             "energy of the WCA part; 0: none. Default: 1 if bonded pairs are excluded from pair "
             "forces (neighbors.exclusions), otherwise 0, since a pair force repels them");
  d.optional("sigma", s.sigma, Positive{}, "diameter of the WCA part");
}

}  // namespace perrin
