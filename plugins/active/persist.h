// What active_ornstein_uhlenbeck does to one particle.
#pragma once

#include "displacement.h"
#include "integrators/particle_steps.h"

namespace perrin::active {

/// The drive of a Mobility is the root mean square of v along an axis; v is kept in units of it, so
/// that particles may have any type or speed.
struct Persist {
  Mobilities mobility;
  Real4* drive;       // v, by id
  Real decay, fresh;  // exp(-dt/tau), and what is drawn anew
  AxisNoise noise;
  bool cold, pushed;  // no thermal noise; forces are there to be read

  static constexpr bool draws_ahead = true;
  PERRIN_HD bool reads_force() const { return pushed; }
  PERRIN_HD Real4 draw(std::uint64_t step, std::uint32_t id) const { return noise.draw(step, id); }
  PERRIN_HD Real4 operator()(const MovingParticle& p, const Real4& r) const {
    const Real4 v = drive[p.id];
    drive[p.id] = multiply_add(fresh, r, times(decay, v));
    Real4 d = displacement(mobility(p.type(), p.id), pushed ? p.force : Real4{},
                           cold ? Real4{} : noise.draw(p.step, p.id, 2), v);
    if (noise.planar) d.z = 0;
    return d;
  }
};

struct FirstDrive {
  AxisNoise noise;
  std::uint64_t step;
  Real4* drive;
  PERRIN_HD void operator()(std::int64_t id) const {
    drive[id] = noise.draw(step, std::uint32_t(id), 1);
  }
};

}  // namespace perrin::active
