// Patchy particles: a core that all directions have, and an attraction between patches,
//
//     U = U_core(r) + U_well(r) S_1 S_2,    S = Σ_patches f(cos θ),
//     f(c) = (L(c) - L(-1))/(L(1) - L(-1)),  L(c) = 1/(1 + exp(-ω (c - cos δ))),
//
// θ is between the patch's direction, which the particle carries along, and the direction to the
// other particle. f is 1 on the patch and goes to 0 at its half opening angle δ, the more sharply
// the larger ω is. ω → ∞ with a sharp well is the model of N. Kern, D. Frenkel, J. Chem. Phys. 118,
// 9882 (2003); patches wider than they are apart add up.
#pragma once

#include <cmath>
#include <string>

#include "engine/settings/settings.h"
#include "forces/anisotropic/interaction.h"
#include "forces/powers.h"

namespace perrin {

struct PatchyPair {
  static constexpr int most = 8;  // patches on a particle
  /// Of one type.
  struct Patches {
    Real3 direction[most];
    int number = 0;
    Real omega = 0, cos_half = 0;  // ω log2(e), cos δ
    Real low = 0, inverse_range = 0;
  };
  struct Coefficients {
    Real core4, sigma2;         // 4 ε of the core, σ²
    Real depth;                 // ε of the well
    Real inner2;                // a Lennard-Jones tail begins there (length²)
    Real inner, inverse_width;  // of a well that ends within a width; 0: Lennard-Jones
    Patches of_i, of_j;
  };
  using Look = Real4;

  PERRIN_HD static Look look(const Real4& orientation) { return orientation; }

  /// d: from j to i.
  PERRIN_HD static Interaction evaluate(Real3 d, const Look& q_i, const Look& q_j,
                                        const Coefficients& c) {
    const auto distance = Distance<Real>::from_square(Real(1e-24) + dot(d, d));
    const Real3 e = distance.inverse * d;
    const Covered i = covered(rotate_back(q_i, e), Real(-1), c.of_i);
    const Covered j = covered(rotate_back(q_j, e), Real(1), c.of_j);
    const Radial core = core_of(distance.inverse, c), well = well_of(distance, c);
    // dU/de of each, in space.
    const Real3 by_i = rotate(q_i, (well.energy * j.sum) * i.slope);
    const Real3 by_j = rotate(q_j, (well.energy * i.sum) * j.slope);
    const Real3 both = by_i + by_j;
    Interaction f;
    f.energy = core.energy + well.energy * i.sum * j.sum;
    f.force = -(core.slope + well.slope * i.sum * j.sum) * e -
              distance.inverse * (both - dot(both, e) * e);
    f.torque_i = cross(e, by_i), f.torque_j = cross(e, by_j);
    return f;
  }

 private:
  struct Radial {
    Real energy, slope;
  };
  /// S, and dS/de in the particle's frame.
  struct Covered {
    Real sum;
    Real3 slope;
  };

  /// e in the particle's frame; the other particle is in the direction `sign` e.
  PERRIN_HD static Covered covered(const Real3& e, Real sign, const Patches& p) {
    Covered s{};
    for (int k = 0; k < p.number; ++k) {
      const Real x = p.omega * (sign * dot(p.direction[k], e) - p.cos_half);
      // Beyond 100 powers of two the logistic is 0 or 1.
      const Real l = reciprocal(Real(1) + exp2_of(-(x < Real(-100)  ? Real(-100)
                                                    : x > Real(100) ? Real(100)
                                                                    : x)));
      s.sum += (l - p.low) * p.inverse_range;
      constexpr Real log_of_two = Real(0.6931471805599453);
      s.slope +=
          (sign * log_of_two * p.omega * l * (Real(1) - l) * p.inverse_range) * p.direction[k];
    }
    return s;
  }

  /// Weeks-Chandler-Andersen.
  PERRIN_HD static Radial core_of(Real inverse, const Coefficients& c) {
    const Real two = c.sigma2 * inverse * inverse, six = two * two * two;
    if (!(six > Real(0.5))) return {0, 0};  // beyond 2^(1/6) σ
    return {c.core4 * (six * six - six + Real(0.25)),
            c.core4 * inverse * (Real(6) * six - Real(12) * six * six)};
  }
  PERRIN_HD static Radial well_of(const Distance<Real>& distance, const Coefficients& c) {
    if (c.inverse_width > Real(0)) {
      const Real scaled = (distance.r - c.inner) * c.inverse_width;
      const Real x = scaled < Real(0) ? Real(0) : scaled > Real(1) ? Real(1) : scaled;
      const Real gone = x * x * x * (Real(10) - x * (Real(15) - Real(6) * x));
      return {-c.depth * (Real(1) - gone),
              Real(30) * c.depth * c.inverse_width * (x * (Real(1) - x)) * (x * (Real(1) - x))};
    }
    const Real inverse2 = distance.inverse * distance.inverse;
    if (!(inverse2 * c.inner2 < Real(1))) return {-c.depth, 0};
    const Real two = c.sigma2 * inverse2, six = two * two * two;
    return {Real(4) * c.depth * (six * six - six),
            Real(4) * c.depth * distance.inverse * (Real(6) * six - Real(12) * six * six)};
  }
};

}  // namespace perrin
