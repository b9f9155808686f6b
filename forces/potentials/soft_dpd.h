// The conservative force of dissipative particle dynamics, Groot, Warren, J. Chem. Phys. 107, 4423
// (1997), equation 5: F = a (1 - r/r_c) for r < r_c, so E = a r_c / 2 (1 - r/r_c)².
#pragma once

#include "engine/settings/settings.h"
#include "forces/device_math.h"
#include "forces/pair_potential.h"

namespace perrin {

struct SoftDpd {
  struct Settings {
    double repulsion = 25, range = 1;
  };
  struct Coefficients {
    Real energy, inverse_range;  // at r = 0
  };
  static constexpr const char* type = "soft_dpd";
  static constexpr const char* help =
      "soft repulsion of DPD: force repulsion (1 - r/range), zero beyond range";

  static Coefficients coefficients(const Settings& s) {
    return {Real(s.repulsion * s.range / 2), Real(1 / s.range)};
  }

  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    const auto distance = Distance<T>::from_square(r2);
    const T weight = T(1) - distance.r * T(c.inverse_range);
    const T scaled = T(c.energy) * weight;
    return {T(2) * T(c.inverse_range) * scaled * distance.inverse, scaled * weight};
  }

  static constexpr bool ends_smoothly = true;
  static double default_cutoff(const Settings& s) { return s.range; }
};

template <class D>
void describe(D& d, SoftDpd::Settings& s) {
  d.required("repulsion", s.repulsion, Any{}, "force at r = 0");
  d.optional("range", s.range, Positive{}, "distance at which the force ends");
}

}  // namespace perrin
