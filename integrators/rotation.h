// Rotation of particles that have orientations, as a part of the steps of an integrator.
//
// Free rotation is a symmetric product of exact rotations about the axes of the particle's frame,
// z, y, x, y, z, of which the outer ones take half of the time step: symplectic, and the length of
// the angular momentum in space is kept. T. F. Miller, M. Eleftheriou, P. Pattnaik, A. Ndirango, D.
// Newns, G. J. Martyna, J. Chem. Phys. 116, 8649 (2002) ("NO_SQUISH"), equations 2.18 to 2.27, here
// with the angular momentum in the particle's frame in place of the momentum conjugate to the
// quaternion, which is the same motion.
//
// With a heat bath the angular momentum about each axis is an Ornstein-Uhlenbeck process in the
// middle of the step. R. L. Davidchack, T. E. Ouldridge, M. V. Tretyakov, J. Chem. Phys. 142,
// 144114 (2015), integrator "Langevin C".
//
// Overdamped: the particle turns by dt τ/ξ + sqrt(2 k_B T dt/ξ) N about the axes of its own frame.
//
// In a box that flows, friction acts on the rotation relative to that of the flow, half of its
// vorticity, as it acts on velocities relative to the flow.
#pragma once

#include <cmath>
#include <vector>

#include "engine/components/box_mover.h"
#include "engine/components/step_context.h"
#include "engine/system/orientations.h"
#include "engine/system/quaternion.h"
#include "integrators/ramp.h"
#include "rng/keyed.h"

namespace perrin {

/// What damps and drives the rotation.
struct RotationalBath {
  /// About the axes of a particle's frame: torque per angular velocity (mass length²/time); 0:
  /// none.
  std::vector<Vec3<double>> friction_of_type;
  RunKey key;
};

/// Does nothing where particles have no orientations. Of particles of StepContext::group() alone.
/// Device work, but for begin().
class Rotation {
 public:
  void begin(StepContext& context, double timestep);
  void begin(StepContext& context, double timestep, const RotationalBath& bath);
  /// Before the forces of a step: L += dt/2 torque, and a time step of rotation. `kt`: of the bath.
  /// `heat`: where the energy that a particle gets from it is added, by its place in memory;
  /// nullptr: nowhere.
  void kick_and_turn(StepContext& context, const Ramp& kt = {}, double* heat = nullptr);
  /// After them: L += dt/2 torque.
  void kick(StepContext& context);
  /// Overdamped: a time step.
  void diffuse(StepContext& context, const Ramp& kt);

 private:
  Real dt_ = 0;
  Buffer<Real4> friction_;  // [type]
  RunKey key_;
};

/// q turned about an axis of its own frame by the length of `by`, which is along that axis.
PERRIN_HD Real4 turned(const Real4& q, const Real3& by) {
  const Real angle = std::sqrt(dot(by, by));
  if (!(angle > Real(0))) return q;
  const Real f = std::sin(Real(0.5) * angle) / angle;
  const Real4 turn{f * by.x, f * by.y, f * by.z, std::cos(Real(0.5) * angle)};
  return normalized(compose(q, turn));
}

/// How fast the flow of the box turns, in space (1/time).
struct FlowRotation {
  const Flow* flow;  // StepContext::flow(); nullptr: there is none
  const std::uint64_t* step;

  PERRIN_HD Real3 operator()() const {
    if (flow == nullptr) return {};
    const Real(&l)[6] = flow[*step & 1].gradient;
    return {Real(-0.5) * l[5], Real(0.5) * l[4], Real(-0.5) * l[3]};
  }
};

/// For sums: 1/2 sum of L²/I of the particle at a place in memory.
struct RotationalEnergy {
  const Real4 *angular_momentum, *moment;
  PERRIN_HD double operator()(std::int64_t i) const {
    return rotational_energy(angular_momentum[i], moment[i]);
  }
};

}  // namespace perrin
