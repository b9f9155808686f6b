// What two particles with orientations do to each other.
//
// An AxialPotential depends on the distance and on the axis of each particle, x of its own frame:
//
//     struct MyPotential {
//       struct Settings { … };                                  // parameters of a pair of types
//       struct Coefficients { … };                              // what the loop needs of them
//       static constexpr const char* type = "my_potential";
//       static constexpr const char* help = "one line";
//       static Coefficients coefficients(const Settings&);      // host, in double
//       template <class T>
//       PERRIN_HD static AxialEnergy<T> evaluate(T r, T cos_1, T cos_2, T cos_12,
//                                                const Coefficients&);
//     };
//
// with cos_1 between the axis of particle 1 and the direction to particle 2, cos_2 between the axis
// of particle 2 and the direction to particle 1, cos_12 between the axes. It must not change when
// cos_1 and cos_2 are exchanged. Forces and torques follow from its derivatives: S. L. Price, A. J.
// Stone, M. Alderton, Mol. Phys. 52, 987 (1984); M. P. Allen, G. Germano, Mol. Phys. 104, 3225
// (2006), equations 5 to 9.
#pragma once

#include <concepts>

#include "engine/base/real.h"
#include "engine/system/quaternion.h"
#include "forces/device_math.h"

namespace perrin {

/// An energy and its derivatives.
template <class T>
struct AxialEnergy {
  T energy, by_r, by_cos_1, by_cos_2, by_cos_12;
};

/// Force and torque on particle i, and the torque on j, in space.
struct Interaction {
  Real energy;
  Real3 force, torque_i, torque_j;
};

/// Of a particle whose frame is turned by q: its axis in space, the first column of the matrix.
PERRIN_HD Real3 axis_of(const Real4& q) {
  return {Real(1) - Real(2) * (q.y * q.y + q.z * q.z), Real(2) * (q.x * q.y + q.w * q.z),
          Real(2) * (q.x * q.z - q.w * q.y)};
}

template <class P>
concept AxialPotential = requires(const typename P::Coefficients& c) {
  { P::evaluate(1.0f, 0.5f, 0.5f, 0.5f, c) } -> std::same_as<AxialEnergy<float>>;
  { P::evaluate(1.0, 0.5, 0.5, 0.5, c) } -> std::same_as<AxialEnergy<double>>;
};

/// The interaction by an AxialPotential.
template <AxialPotential P>
struct AxialPair {
  using Potential = P;
  using Coefficients = typename P::Coefficients;
  /// What is computed once for a particle.
  using Look = Real3;

  PERRIN_HD static Look look(const Real4& orientation) { return axis_of(orientation); }
  /// d: from j to i.
  PERRIN_HD static Interaction evaluate(Real3 d, const Look& u, const Look& v,
                                        const Coefficients& c) {
    const auto distance = Distance<Real>::from_square(Real(1e-24) + dot(d, d));
    const Real3 e = distance.inverse * d;
    const Real ue = dot(u, e), ve = dot(v, e);
    const AxialEnergy<Real> f = P::evaluate(distance.r, -ue, ve, dot(u, v), c);
    // -dU/dd: along e, and across it by what changes the angles.
    const Real across_u = distance.inverse * f.by_cos_1, across_v = distance.inverse * f.by_cos_2;
    const Real along = f.by_r + across_u * ue - across_v * ve;
    Interaction result;
    result.energy = f.energy;
    result.force = across_u * u - across_v * v - along * e;
    // -u × dU/du, -v × dU/dv
    result.torque_i = cross(u, f.by_cos_1 * e - f.by_cos_12 * v);
    result.torque_j = cross(v, -f.by_cos_2 * e - f.by_cos_12 * u);
    return result;
  }
};

}  // namespace perrin
