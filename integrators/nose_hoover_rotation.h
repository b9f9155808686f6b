// Nosé-Hoover chains on the angular momenta of particles that have orientations, for nose_hoover:
// a chain of their own, beside the one on the velocities, so that translation and rotation each
// have the canonical distribution. Energy of rotation and chain obey the equations that
// integrators/nose_hoover.h has for the particles, with the degrees of freedom of rotation. Half a
// step of the chain comes before the first kick by the torques and half a step after the second:
// H. Kamberaj, R. J. Li, X. Li, J. Chem. Phys. 122, 224114 (2005), with NO_SQUISH between them.
#pragma once

#include <cstdint>

#include "engine/components/step_context.h"
#include "engine/device/buffer.h"
#include "engine/system/archive.h"
#include "integrators/nose_hoover_chain.h"
#include "integrators/ramp.h"

namespace perrin {

namespace detail {

struct RotationalChainState {
  ChainState chain;
  double energy;  // of the links' positions
  double kt;      // that masses go with
};

/// What is kept on the device.
struct RotationalChainMemory {
  RotationalChainState now;     // the next step's chain has acted …
  RotationalChainState at_end;  // … and has not
  double kinetic;               // energy of rotation, before the chain acts
  double heat;                  // at the end of the step
  Real first, last;             // factors of the angular momenta: of the next step, of this one
};

}  // namespace detail

/// Does nothing where no particle turns. Of particles of StepContext::group() alone.
class NoseHooverRotation {
 public:
  struct Law {
    int links;
    double tau, timestep;
    Ramp kt;
  };
  /// For Integrator::begin(). Waits.
  void begin(StepContext& context, const Law& law);
  /// Of a resumed run, after begin(): when its ramp began is known from the checkpoint.
  void follow(const Ramp& kt) { law_.kt = kt; }
  // Device work.
  /// Before the torques of a step kick.
  void act_first(StepContext& context);
  /// After they have for the second time.
  void act_last(StepContext& context);
  /// Adds the energy that rotation was given to *heat on the device.
  void add_heat(StepContext& context, double* heat) const;
  void state(Archive& archive);

 private:
  void measure(StepContext& context);
  void turn(StepContext& context, bool first);

  Law law_{};
  std::int64_t freedom_ = 0;
  Buffer<detail::RotationalChainMemory> memory_;
  Buffer<double> scratch_;
};

}  // namespace perrin
