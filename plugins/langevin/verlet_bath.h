// The functors of method "velocity_verlet": the force of the bath is added to the others.
#pragma once

#include "integrators/particle_steps.h"
#include "plugins/langevin/bath.h"

namespace perrin::langevin {

struct Drag {   // of one particle
  Real drag;    // xi
  Real spread;  // of the random force, at k_B T = 1: sqrt(2 xi / dt)
};

/// The half kick by a force of the particles and one of the bath, whose part is counted as heat.
PERRIN_HD void kick_with_bath(MovingParticle& p, const Mobile& mobile, const Real3& bath,
                              Real half_dt, double* heat) {
  const Real4 v = p.velocity,
              total = plus(mobile.along(p.force), {bath.x, bath.y, bath.z, Real(0)});
  const Real s = half_dt * v.w;
  if (heat != nullptr)
    heat[p.i] += double(half_dt) * double(dot(v.xyz() + Real(0.5) * (s * total.xyz()), bath));
  p.velocity = multiply_add(s, total, v);
}

struct FirstHalf {
  Mobile mobile;
  const Real3* bath;  // by id
  double* heat;
  Real dt;

  PERRIN_HD Real4 operator()(MovingParticle& p) const {
    if (!mobile.moves(p.type())) return {};
    kick_with_bath(p, mobile, bath[p.id], Real(0.5) * dt, heat);
    return times(dt, p.velocity);
  }
};

template <class Noise>
struct SecondHalf {
  Mobile mobile;
  Coefficients<Drag> drag;
  Temperature temperature;
  NoiseLaw law;
  Noise noise;
  Real3* bath;  // by id
  double* heat;
  Real half_dt;

  static constexpr bool draws_ahead = is_keyed<Noise>;
  PERRIN_HD Real4 draw(std::uint64_t step, std::uint32_t id) const {
    return law.draw_from(noise, step, id);
  }
  PERRIN_HD void operator()(MovingParticle& p, const Real4& r) const {
    if (!mobile.moves(p.type())) return;
    const Drag d = drag.of(p.type(), p.id);
    const Real spread = d.spread * temperature.root(p.step);
    const Real4 v = p.velocity;
    const Real3 b{multiply_add(spread, r.x, -(d.drag * v.x)),
                  multiply_add(spread, r.y, -(d.drag * v.y)),
                  multiply_add(spread, r.z, -(d.drag * v.z))};
    bath[p.id] = b;
    kick_with_bath(p, mobile, b, half_dt, heat);
  }
};

}  // namespace perrin::langevin
