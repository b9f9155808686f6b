// The functors of integrator "brownian".
#pragma once

#include "bath.h"
#include "forces/harmonic_trap.h"
#include "forces/nearest_image.h"
#include "integrators/particle_steps.h"

namespace perrin::langevin {

struct Mobility {  // of one particle
  Real drift;      // dt / xi
  Real spread;     // of the displacement at k_B T = 1: sqrt(2 dt / xi)
};

/// The same along the axes of a particle's frame; all 0: in any direction alike.
struct AxisMobility {
  Real4 drift, spread;
};

/// Of particles whose mobility depends on how they are turned: their orientation as it is after the
/// step's own turn, which no noise of the displacement knows of.
struct Frames {
  const Real4* orientation = nullptr;      // by place; nullptr: of none
  const AxisMobility* mobility = nullptr;  // [type]

  PERRIN_HD bool count_for(std::uint32_t type) const {
    return orientation != nullptr && mobility[type].drift.x > Real(0);
  }
  /// r: normal numbers along the axes of the frame.
  PERRIN_HD Real4 displacement(const MovingParticle& p, const Real4& force, Real root,
                               const Real4& r) const {
    const Real4 q = orientation[p.i];
    const AxisMobility m = mobility[p.type()];
    const Real3 f = turned(q, Real(-1), force.xyz());
    const Real3 d = turned(q, Real(1),
                           {multiply_add(m.drift.x, f.x, m.spread.x * root * r.x),
                            multiply_add(m.drift.y, f.y, m.spread.y * root * r.y),
                            multiply_add(m.drift.z, f.z, m.spread.z * root * r.z)});
    return {d.x, d.y, d.z, Real(0)};
  }

 private:
  /// rotate() and rotate_back(), rounded alike in all passes.
  PERRIN_HD static Real3 turned(const Real4& q, Real sign, const Real3& v) {
    const Real x = sign * q.x, y = sign * q.y, z = sign * q.z;
    const Real3 t{2 * multiply_add(y, v.z, -(z * v.y)), 2 * multiply_add(z, v.x, -(x * v.z)),
                  2 * multiply_add(x, v.y, -(y * v.x))};
    return {multiply_add(y, t.z, multiply_add(-z, t.y, multiply_add(q.w, t.x, v.x))),
            multiply_add(z, t.x, multiply_add(-x, t.z, multiply_add(q.w, t.y, v.y))),
            multiply_add(x, t.y, multiply_add(-y, t.x, multiply_add(q.w, t.z, v.z)))};
  }
};

/// The force on a particle: there is none, it is in memory, or a harmonic trap is all there is.
struct Push {
  enum class Kind { none, memory, trap } kind;
  Current<Metric> metric;
  Anchor center;
  Position middle;  // the center, where every axis is periodic and images do not count
  NearestImage nearest;
  Real3 stiffness;
  const Image* image;         // nullptr: the trap pulls to the nearest image of its center
  const std::uint32_t* mask;  // by type; nullptr: the trap acts on all

  /// Plain: in a periodic box that is not tilted, to the nearest image of the center.
  template <bool Plain>
  PERRIN_HD Real4 on(const MovingParticle& p) const {
    if (kind == Kind::none) return {};
    if (kind == Kind::memory) return p.force;
    if (Plain) return pull(p, metric->vector(p.position, middle));
    if (image != nullptr) return pull(p, center.to(*metric, p.position, image[p.i]));
    return pull(p, nearest(center.to(*metric, p.position, Image{})));
  }

 private:
  PERRIN_HD Real4 pull(const MovingParticle& p, Real3 r) const {
    if (mask != nullptr && !mask[p.type()]) return {};
    return {-stiffness.x * r.x, -stiffness.y * r.y, -stiffness.z * r.z, Real(0)};
  }
};

/// `trap`: what is computed within the step, or nullptr.
inline Push push_of(StepContext& context, const HarmonicTrap* trap) {
  const Box& box = context.particles().box();
  const HarmonicTrapSettings s = trap != nullptr ? trap->settings() : HarmonicTrapSettings{};
  const auto kind = trap != nullptr            ? Push::Kind::trap
                    : context.forces().empty() ? Push::Kind::none
                                               : Push::Kind::memory;
  return {kind,
          context.particles().metric(),
          Anchor(box, s.center, s.unwrapped),
          box.fixed(s.center, 0),
          NearestImage(box),
          {Real(s.stiffness.x), Real(s.stiffness.y),
           box.dimension == 2 ? Real(0) : Real(s.stiffness.z)},
          s.unwrapped ? context.particles().image().data() : nullptr,
          trap != nullptr && !s.types.empty() ? trap->mask().data() : nullptr};
}

/// Without neighbours to find and forces to read, a particle costs its position, read and written,
/// and its id: 36 bytes. To move that at the speed of memory the GPU has some 300 instructions, so
/// the common case is compiled by itself. Plain: all particles move along the three axes of a
/// periodic box, with the same mobility, at a constant temperature, by ermak_mccammon, and nobody
/// counts the heat.
template <class Noise, bool Plain>
struct Displace {
  Mobile mobile;
  Coefficients<Mobility> mobility;
  Temperature temperature;
  NoiseLaw law;
  Noise noise;
  Push push;
  Real4* previous;      // noise of the last step, by id; nullptr: ermak_mccammon
  double* heat;         // nullptr: not counted
  Real3* displacement;  // of this step, by id; where heat is counted
  Frames frames;

  static constexpr bool draws_ahead = is_keyed<Noise>;
  PERRIN_HD bool reads_force() const { return push.kind == Push::Kind::memory; }
  PERRIN_HD Real4 draw(std::uint64_t step, std::uint32_t id) const {
    const NoiseLaw draws = Plain ? NoiseLaw{true, true, true, law.uniform} : law;
    return draws.draw_from(noise, step, id);
  }
  PERRIN_HD Real4 operator()(const MovingParticle& p, const Real4& fresh) const {
    if (!Plain && !mobile.moves(p.type())) return {};
    Real4 r = fresh;
    if (!Plain && previous != nullptr) {
      const Real4 last = previous[p.id];
      r = times(Real(0.5), plus(last, fresh));
      // last.w is 0: it makes the store wait for the load. Issued right behind the load of the same
      // line, it made a step of 10^7 particles five times slower on an H200 (888 µs, not 188).
      previous[p.id] = with_w(fresh, last);
    }
    const Mobility m = Plain ? mobility.all : mobility.of(p.type(), p.id);
    const Real root = Plain ? temperature.root_from : temperature.root(p.step);
    const Real4 force = Plain ? push.on<true>(p) : mobile.along(push.on<false>(p));
    if (!Plain && frames.count_for(p.type())) return frames.displacement(p, force, root, r);
    const Real4 d = with_w(multiply_add(m.spread * root, r, times(m.drift, force)), r);
    if (!Plain && heat != nullptr) {
      heat[p.i] -= 0.5 * double(dot(force.xyz(), d.xyz()));
      displacement[p.id] = d.xyz();
    }
    return d;
  }
};

/// Heat is minus the work of the forces, of which the mean before and after a displacement counts
/// (K. Sekimoto, Prog. Theor. Phys. Suppl. 130, 17 (1998)): potential energy minus heat is
/// conserved. This is the half with the new forces.
struct SecondHalfOfWork {
  Mobile mobile;
  const Real3* displacement;  // by id
  double* heat;

  PERRIN_HD void operator()(const MovingParticle& p) const {
    if (mobile.moves(p.type())) heat[p.i] -= 0.5 * double(dot(p.force.xyz(), displacement[p.id]));
  }
};

/// The noise before the first step: from a key of its own, so that it suits every generator.
struct FirstNoise {
  RunKey key;
  NoiseLaw law;
  NormalLaw normals;
  bool apart;  // by `normals`
  std::uint64_t step;
  Real4* previous;
  PERRIN_HD void operator()(std::int64_t id) const {
    auto g = keyed<Philox>(key, step, std::uint32_t(id), 1);
    if (apart) {
      previous[id] = normals.draw(g);
      return;
    }
    const Real3 r = law.draw(g);
    previous[id] = {r.x, r.y, r.z, Real(0)};
  }
};

}  // namespace perrin::langevin
