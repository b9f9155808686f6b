// What active_brownian and run_and_tumble do to one particle: it turns, then it moves.
#pragma once

#include "displacement.h"
#include "engine/system/group.h"
#include "engine/system/orientations.h"
#include "engine/system/quaternion.h"
#include "forces/anisotropic/interaction.h"
#include "integrators/particle_steps.h"
#include "integrators/rotation.h"

namespace perrin::active {

/// How the particles of a type turn in a step.
struct Turning {
  double tumbles;  // probability of a tumble
  Real mobility;   // dt / xi_r
  Real spread;     // of the angle about an axis: sqrt(2 D_r dt)
  Real drift;      // angular speed times dt
};

/// A rotation like all others. In two dimensions about z.
template <class Generator>
PERRIN_HD Real4 drawn_orientation(Generator& g, bool planar) {
  const auto a = g.template normal_pair<Real>();
  Real4 q{Real(0), Real(0), a.first, a.second};
  if (!planar) {
    const auto b = g.template normal_pair<Real>();
    q.x = b.first, q.y = b.second;
  }
  const Real square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
  return square > Real(1e-12) ? normalized(q) : Real4{0, 0, 0, 1};
}

/// A loop of its own, since it is many products: the steps' passes must round alike wherever they
/// are compiled.
struct Turn {
  const Position* position;
  const std::uint32_t* id;
  Real4* orientation;
  const Real4* torque;  // nullptr: there are none
  GroupMask group;
  const Turning* turning;  // [type]
  RunKey rotation, tumbling;
  const std::uint64_t* step;
  FlowRotation flow;
  Real dt;
  bool planar;

  PERRIN_HD void operator()(std::int64_t i) const {
    if (group && !group.has(id[i])) return;
    const Turning c = turning[position[i].type()];
    Real4 q = orientation[i];
    if (c.tumbles > 0) {
      auto g = keyed<Saru>(tumbling, *step, id[i]);
      if (g.template uniform<double>() < c.tumbles)
        orientation[i] = q = drawn_orientation(g, planar);
    }
    Real3 by = noise(c, i);
    if (torque != nullptr) by += c.mobility * rotate_back(q, torque[i].xyz());
    by.z += c.drift;
    by += dt * rotate_back(q, flow());
    if (planar) by.x = by.y = 0;
    orientation[i] = turned(q, by);
  }

 private:
  PERRIN_HD Real3 noise(const Turning& c, std::int64_t i) const {
    if (!(c.spread > Real(0))) return {};
    auto g = keyed<Saru>(rotation, *step, id[i]);
    return c.spread * normal_numbers(g, !planar, true);
  }
};

/// dt F / xi + v0 dt u + sqrt(2 k_B T dt / xi) R
struct Swim {
  Mobilities mobility;  // drive: v0 dt
  const Real4* orientation;
  AxisNoise noise;
  bool cold, pushed;  // no noise; forces are there to be read

  static constexpr bool draws_ahead = true;
  PERRIN_HD bool reads_force() const { return pushed; }
  PERRIN_HD Real4 draw(std::uint64_t step, std::uint32_t id) const {
    return cold ? Real4{} : noise.draw(step, id);
  }
  PERRIN_HD Real4 operator()(const MovingParticle& p, const Real4& r) const {
    const Real3 u = axis_of(orientation[p.i]);
    Real4 d = displacement(mobility(p.type(), p.id), pushed ? p.force : Real4{}, r,
                           Real4{u.x, u.y, u.z, Real(0)});
    if (noise.planar) d.z = 0;
    return d;
  }
};

}  // namespace perrin::active
