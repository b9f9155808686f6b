// What a box that changes sees of the forces: their virial, and where it is asked for their power.
#pragma once

#include <array>
#include <string>

#include "engine/components/force.h"
#include "engine/device/buffer.h"

namespace perrin {

/// Of each particle, for kernels. With rigid bodies: of the centres, and sites have no force.
struct BoxForceShares {
  const Real4* work;    // of forces that have it, as BoxWork::of; nullptr: none has
  const Real4* force;   // of the others, …
  const Real* virial;   // … as ForceOutput has both; nullptr: there are none
  const Real4* torque;  // in space; nullptr: nothing turns particles
};

class ClusterScaling;

class BoxForces {
 public:
  /// For Integrator::begin(). `axes`: along which the box changes. Throws UserError where a force
  /// knows no pressure along them; `what`: that it cannot be with.
  void begin(StepContext& context, const std::array<bool, 3>& axes, const std::string& what);
  /// Of the present positions. `work`: what is asked for; where it goes is not to be said.
  /// `clusters`: of constraints; forces are those on them. Device work.
  BoxForceShares measure(StepContext& context, BoxWork work, ClusterScaling* clusters = nullptr);
  /// What is beyond the cut-offs: the trace of its virial times the volume.
  double tail() const { return tail_; }
  /// Likewise: its energy times the volume.
  double tail_energy() const { return tail_energy_; }

 private:
  double tail_ = 0, tail_energy_ = 0;
  Buffer<Real4> work_, force_, torque_;
  Buffer<Real> virial_;
};

}  // namespace perrin
