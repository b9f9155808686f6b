// Morse, Phys. Rev. 34, 57 (1929): E = D [exp(-2 a (r - r0)) - 2 exp(-a (r - r0))].
#pragma once

#include "engine/settings/settings.h"
#include "forces/device_math.h"
#include "forces/pair_potential.h"

namespace perrin {

struct Morse {
  struct Settings {
    double depth = 1, steepness = 1, distance = 1;
  };
  struct Coefficients {
    Real depth, steepness, distance;
  };
  static constexpr const char* type = "morse";
  static constexpr const char* help =
      "Morse: depth [x^2 - 2 x], x = exp(-steepness (r - distance))";

  static Coefficients coefficients(const Settings& s) {
    return {Real(s.depth), Real(s.steepness), Real(s.distance)};
  }

  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    const auto distance = Distance<T>::from_square(r2);
    const T x = std::exp(-T(c.steepness) * (distance.r - T(c.distance)));
    const T scaled = T(c.depth) * x;
    return {T(2) * T(c.steepness) * scaled * (x - T(1)) * distance.inverse, scaled * (x - T(2))};
  }
};

template <class D>
void describe(D& d, Morse::Settings& s) {
  d.required("depth", s.depth, NonNegative{}, "depth of the well, in energy units");
  d.required("steepness", s.steepness, Positive{}, "inverse width of the well, 1/length");
  d.required("distance", s.distance, Positive{}, "distance of the minimum");
}

}  // namespace perrin
