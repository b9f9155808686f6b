// Yukawa (screened Coulomb): E = A exp(-kappa r) / r.
#pragma once

#include "engine/settings/settings.h"
#include "forces/device_math.h"
#include "forces/pair_potential.h"

namespace perrin {

struct Yukawa {
  struct Settings {
    double amplitude = 1, kappa = 1;
  };
  struct Coefficients {
    Real amplitude, kappa;
  };
  static constexpr const char* type = "yukawa";
  static constexpr const char* help = "Yukawa (screened Coulomb): amplitude exp(-kappa r) / r";

  static Coefficients coefficients(const Settings& s) { return {Real(s.amplitude), Real(s.kappa)}; }

  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    const auto distance = Distance<T>::from_square(r2);
    const T energy = T(c.amplitude) * std::exp(-T(c.kappa) * distance.r) * distance.inverse;
    return {energy * distance.inverse * (distance.inverse + T(c.kappa)), energy};
  }
};

template <class D>
void describe(D& d, Yukawa::Settings& s) {
  d.required("amplitude", s.amplitude, Any{}, "energy times length; negative: attraction");
  d.required("kappa", s.kappa, NonNegative{}, "inverse screening length");
}

}  // namespace perrin
