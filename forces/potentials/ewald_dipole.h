// Two point dipoles in an Ewald sum: what is left within the cut-off, B u·v − C (u·r)(v·r) with
//
//     B = erfc(αr)/r³ + 2α/√π exp(-α²r²)/r²,  C = 3 erfc(αr)/r⁵ + 2α/√π (2α² + 3/r²) exp(-α²r²)/r²,
//
// Z. Wang, C. Holm, J. Chem. Phys. 115, 6351 (2001), equations 4 to 6; dB/dr = -r C.
#pragma once

#include "forces/anisotropic/interaction.h"
#include "forces/charges/error_function.h"

namespace perrin {

struct EwaldDipole {
  struct Coefficients {
    Real strength;  // both moments and Coulomb's constant: energy · length³
    Real alpha;
  };

  template <class T>
  PERRIN_HD static AxialEnergy<T> evaluate(T r, T cos_1, T cos_2, T cos_12, const Coefficients& c) {
    constexpr T two_over_root_pi = T(1.1283791670955126);
    const T inverse = T(1) / r, inverse2 = inverse * inverse;
    const T alpha = T(c.alpha), x = alpha * r, y = x * x;
    const T gauss = T(c.strength) * decay(y);
    const T far = scaled_erfc(x) * gauss, near = two_over_root_pi * x * gauss;
    // B, C r² and D r³ (dC/dr = -r D), each over r³.
    const T cube = inverse * inverse2;
    const T b = cube * (far + near);
    const T d2 = cube * (T(3) * far + near * (T(3) + T(2) * y));
    const T d3 = cube * (T(15) * far + near * (T(15) + y * (T(10) + T(4) * y)));
    // e points from one to the other: (u·e)(v·e) is -cos_1 cos_2.
    const T both = cos_1 * cos_2;
    return {b * cos_12 + d2 * both, inverse * (-d2 * cos_12 + (T(2) * d2 - d3) * both), d2 * cos_2,
            d2 * cos_1, b};
  }
};

}  // namespace perrin
