// FIRE for the directions of particles that turn: the torques on them run downhill as the forces
// on particles do (integrators/fire.h), with the same time step and the same decisions. Directions
// have angular momenta of their own in the minimiser, about the axes of the particle's frame;
// mixing compares these with the torques alone, since lengths are in the one and not in the other.
#pragma once

#include "engine/components/step_context.h"
#include "engine/device/buffer.h"
#include "engine/system/archive.h"
#include "engine/system/particle_array.h"
#include "integrators/fire_rule.h"

namespace perrin {

/// Does nothing where no particle turns. Sites of rigid bodies turn with their centres.
class FireRotation {
 public:
  /// Of a particle in a step: the torque at the beginning and the rotation, in its frame.
  struct Stretch {
    Real4 torque, rotation;
  };

  /// For Integrator::begin() and end(). `longest_move`: of a site of a body in a step.
  void begin(StepContext& context, double longest_move);
  void end();
  // Device work.
  void kick_and_turn(StepContext& context, const FireRule* rule);
  void kick(StepContext& context, const FireRule* rule);
  /// What FIRE's decision needs, on the device; nullptr: nothing turns.
  const FireMeasures* measure(StepContext& context);
  void mix(StepContext& context, const FireRule* rule);
  void state(Archive& archive);

 private:
  bool turns_ = false;
  Real most_ = 0;  // angle of a step
  ParticleArray<Real4> spin_;
  ParticleArray<Stretch> stretch_;
  Buffer<FireMeasures> measures_, scratch_;
};

}  // namespace perrin
