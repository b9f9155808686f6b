// Point dipoles along the axes of particles: m² (u·v − 3 (u·e)(v·e))/r³, cut off.
#pragma once

#include "engine/settings/settings.h"
#include "forces/anisotropic/interaction.h"

namespace perrin {

struct Dipole {
  struct Settings {
    double strength = 1;
  };
  struct Coefficients {
    Real strength;
  };
  static constexpr const char* type = "dipole";
  static constexpr const char* help =
      "point dipoles along the x axes of the particles' own frames, within a cut-off; needs "
      "\"orientations\"";

  static Coefficients coefficients(const Settings& s) { return {Real(s.strength)}; }

  template <class T>
  PERRIN_HD static AxialEnergy<T> evaluate(T r, T cos_1, T cos_2, T cos_12, const Coefficients& c) {
    const T inverse = T(1) / r, f = T(c.strength) * inverse * inverse * inverse;
    // With one direction for both, the product of the cosines has the other sign.
    const T energy = f * (cos_12 + T(3) * cos_1 * cos_2);
    return {energy, T(-3) * energy * inverse, T(3) * f * cos_2, T(3) * f * cos_1, f};
  }
};

template <class D>
void describe(D& d, Dipole::Settings& s) {
  d.required("strength", s.strength, Any{},
             "product of the two dipole moments, with Coulomb's constant (energy length^3): the "
             "energy of two dipoles side by side at the distance 1");
}

}  // namespace perrin
