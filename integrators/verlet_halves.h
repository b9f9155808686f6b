// The two halves of velocity Verlet, for integrators/particle_steps.h.
#pragma once

#include "integrators/particle_steps.h"

namespace perrin {

/// v += dt/2 f/m; x += dt v
struct KickAndDrift {
  Real dt;
  PERRIN_HD Real4 operator()(MovingParticle& p) const {
    p.kick(Real(0.5) * dt);
    return times(dt, p.velocity);
  }
};

/// v += dt/2 f/m
struct Kick {
  Real dt;
  PERRIN_HD void operator()(MovingParticle& p) const { p.kick(Real(0.5) * dt); }
};

}  // namespace perrin
