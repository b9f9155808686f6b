// The functors of method "baoab": kick, drift, Ornstein-Uhlenbeck, drift; forces; kick.
#pragma once

#include "integrators/particle_steps.h"
#include "plugins/langevin/bath.h"

namespace perrin::langevin {

struct Friction {  // of one particle
  Real decay;      // exp(-xi dt / m)
  Real spread;     // of the velocity drawn, at k_B T = 1
};

/// 1/2 m (b² - a²), in double: heat is a small difference.
PERRIN_HD double kinetic_change(const Real4& a, const Real4& b, Real inverse_mass) {
#ifdef __CUDA_ARCH__
  const Real3 d = b.xyz() - a.xyz(), s = a.xyz() + b.xyz();
  const double dx = d.x, dy = d.y, dz = d.z, sx = s.x, sy = s.y, sz = s.z;
#else  // four numbers at a time
  using FourDoubles = double __attribute__((vector_size(32)));
  const auto p = std::bit_cast<FourReals>(a), q = std::bit_cast<FourReals>(b);
  const auto d = __builtin_convertvector(q - p, FourDoubles);
  const auto s = __builtin_convertvector(p + q, FourDoubles);
  const double dx = d[0], dy = d[1], dz = d[2], sx = s[0], sy = s[1], sz = s[2];
#endif
  return 0.5 * (dx * sx + dy * sy + dz * sz) / double(inverse_mass);
}

/// B: v += dt/2 f/m along the axes that count.
struct HalfKick {
  Mobile mobile;
  Real half_dt;

  PERRIN_HD void operator()(MovingParticle& p) const {
    if (!mobile.moves(p.type())) return;
    p.velocity = multiply_add(half_dt * p.velocity.w, mobile.along(p.force), p.velocity);
  }
};

/// B A O A
template <class Noise, class Law>
struct KickDriftNoiseDrift {
  HalfKick half_kick;
  Coefficients<Friction> friction;
  Temperature temperature;
  Law law;
  Noise noise;
  double* heat;

  static constexpr bool draws_ahead = is_keyed<Noise>;
  PERRIN_HD Real4 draw(std::uint64_t step, std::uint32_t id) const {
    return law.draw_from(noise, step, id);
  }
  PERRIN_HD Real4 operator()(MovingParticle& p, const Real4& r) const {
    if (!half_kick.mobile.moves(p.type())) return {};
    half_kick(p);
    const Real4 before = p.velocity;
    const Friction f = friction.of(p.type(), p.id);
    const Real spread = f.spread * temperature.root(p.step);
    p.velocity = with_w(multiply_add(spread, r, times(f.decay, before)), before);
    if (heat != nullptr) heat[p.i] += kinetic_change(before, p.velocity, before.w);
    return times(half_kick.half_dt, plus(before, p.velocity));
  }
};

}  // namespace perrin::langevin
