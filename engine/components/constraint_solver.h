// Distances that stay as they are, within one cluster of particles that such distances connect: the
// equations and their solution, one constraint after the other until all hold.
//
// Positions: J. P. Ryckaert, G. Ciccotti, H. J. C. Berendsen, J. Comput. Phys. 23, 327 (1977),
// equations 5.2 to 5.6 (SHAKE). Velocities and accelerations: H. C. Andersen, J. Comput. Phys. 52,
// 24 (1983), equations 5 to 8 (RATTLE).
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/base/real.h"

namespace perrin {

/// Of two particles of a cluster, which are numbers in its arrays.
struct ConstraintPair {
  std::uint32_t a, b;
  double length;
};

/// Of one cluster.
struct ConstraintEquations {
  const ConstraintPair* pair;
  std::int64_t pairs;
  const Vec3<double>* along;   // [pair]: from b to a, before particles moved
  const double* inverse_mass;  // [particle]
  double tolerance;            // of lengths, relative
  std::int64_t iterations;     // at most

  static constexpr std::int64_t solved = -1;

  /// Moves particles by what is added to `moved` [particle], along the forces of the constraints,
  /// so that distances are right, which are from[pair] + moved[a] - moved[b]. `solved`, or the pair
  /// whose distance is wrong after all.
  PERRIN_HD std::int64_t shake(const Vec3<double>* from, Vec3<double>* moved) const {
    std::int64_t wrong = solved;
    for (std::int64_t sweep = 0; sweep < iterations; ++sweep) {
      wrong = solved;
      for (std::int64_t k = 0; k < pairs; ++k) {
        const ConstraintPair p = pair[k];
        const Vec3<double> r = from[k] + moved[p.a] - moved[p.b];
        const double length2 = p.length * p.length, excess = dot(r, r) - length2;
        if (std::abs(excess) <= 2 * tolerance * length2) continue;
        wrong = k;
        const double slope = dot(r, along[k]);
        // Turned by nearly a right angle in one step, or not a number.
        if (!(slope > 0.1 * length2)) return k;
        const double wa = inverse_mass[p.a], wb = inverse_mass[p.b];
        const double by = excess / (2 * (wa + wb) * slope);
        moved[p.a] -= (by * wa) * along[k];
        moved[p.b] += (by * wb) * along[k];
      }
      if (wrong == solved) return solved;
    }
    return wrong;
  }

  /// Changes velocities along the forces of the constraints so that along · (v_a - v_b) is
  /// rate[pair], up to `allowed` times the square of the length. The impulse on a is
  /// -impulse[pair] · along. The same of accelerations, and forces.
  PERRIN_HD std::int64_t project(const double* rate, double allowed, Vec3<double>* v,
                                 double* impulse) const {
    for (std::int64_t k = 0; k < pairs; ++k) impulse[k] = 0;
    std::int64_t wrong = solved;
    for (std::int64_t sweep = 0; sweep < iterations; ++sweep) {
      wrong = solved;
      for (std::int64_t k = 0; k < pairs; ++k) {
        const ConstraintPair p = pair[k];
        const double excess = dot(along[k], v[p.a] - v[p.b]) - rate[k];
        if (std::abs(excess) <= allowed * p.length * p.length) continue;
        wrong = k;
        const double wa = inverse_mass[p.a], wb = inverse_mass[p.b];
        const double by = excess / ((wa + wb) * dot(along[k], along[k]));
        v[p.a] -= (by * wa) * along[k];
        v[p.b] += (by * wb) * along[k];
        impulse[k] += by;
      }
      if (wrong == solved) return solved;
    }
    return wrong;
  }
};

}  // namespace perrin
