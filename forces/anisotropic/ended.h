// How interactions of particles with orientations end at the cut-off.
#pragma once

#include "forces/anisotropic/interaction.h"

namespace perrin {

/// Of a pair of types.
template <class E>
struct EndedCoefficients {
  typename E::Coefficients potential;
  Real cutoff2, cutoff;
  Real on, inverse_width;  // of the switch; cut: the cut-off and 0
};

/// With `shift` the energy at the cut-off, in the same direction and with the same orientations, is
/// taken off ("energy_shift"); forces and torques are those of what is left. Switched energies are
/// multiplied by S(r) as those of other pairs (forces/truncation.h).
template <class E>
PERRIN_HD Interaction ended(Real3 d, const typename E::Look& of_i, const typename E::Look& of_j,
                            const EndedCoefficients<E>& c, bool shift) {
  Interaction f = E::evaluate(d, of_i, of_j, c.potential);
  const auto distance = Distance<Real>::from_square(Real(1e-24) + dot(d, d));
  const Real3 e = distance.inverse * d;
  const Real scaled = (distance.r - c.on) * c.inverse_width;
  const Real x = scaled > Real(0) ? scaled : Real(0);
  const Real s = Real(1) - x * x * x * (Real(10) - x * (Real(15) - Real(6) * x));
  const Real slope =
      Real(30) * c.inverse_width * (x * (Real(1) - x)) * (x * (Real(1) - x));  // -dS/dr
  f.force = s * f.force + (slope * f.energy) * e;
  f.torque_i *= s, f.torque_j *= s;
  f.energy *= s;
  if (shift) {
    const Interaction end = E::evaluate(c.cutoff * e, of_i, of_j, c.potential);
    const Real3 across = end.force - dot(end.force, e) * e;
    f.force -= (c.cutoff * distance.inverse) * across;
    f.torque_i -= end.torque_i, f.torque_j -= end.torque_j;
    f.energy -= end.energy;
  }
  return f;
}

}  // namespace perrin
