#include "integrators/rotation.h"

#include <cmath>

#include "engine/device/parallel.h"

namespace perrin {
namespace {

/// What all passes over rotations have.
struct TurningParticles {
  OrientationView turning;
  const std::uint32_t* id;
  GroupMask group;

  PERRIN_HD bool leaves_out(std::int64_t i) const { return group && !group.has(id[i]); }
  /// Has it a moment of inertia about some axis? Read before all else: sites of bodies have none.
  PERRIN_HD bool turns(std::int64_t i) const {
    const Real4 moment = turning.moment[i];
    return moment.x > Real(0) || moment.y > Real(0) || moment.z > Real(0);
  }
};

/// A particle that turns.
struct TurningParticle {
  Real4 orientation;
  Real3 spin;    // angular momentum in its frame
  Real3 moment;  // of inertia

  PERRIN_HD TurningParticle(const OrientationView& of, std::int64_t i)
      : orientation(of.orientation[i]),
        spin(of.angular_momentum[i].xyz()),
        moment(of.moment[i].xyz()) {}
  /// L += dt torque, about axes with a moment of inertia.
  PERRIN_HD void kick(Real dt, const Real4& torque) {
    const Real3 of_frame = rotate_back(orientation, torque.xyz());
    if (moment.x > Real(0)) spin.x = multiply_add(dt, of_frame.x, spin.x);
    if (moment.y > Real(0)) spin.y = multiply_add(dt, of_frame.y, spin.y);
    if (moment.z > Real(0)) spin.z = multiply_add(dt, of_frame.z, spin.z);
  }
  PERRIN_HD void turn(Real dt) {
    turn_z(Real(0.5) * dt), turn_y(Real(0.5) * dt), turn_x(dt);
    turn_y(Real(0.5) * dt), turn_z(Real(0.5) * dt);
  }
  PERRIN_HD double energy() const { return rotational_energy(spin, moment); }

 private:
  /// q exp(e φ/2) about one axis of the frame; the frame turns, and L stays in space.
  PERRIN_HD void turn_x(Real dt) {
    if (!(moment.x > Real(0))) return;
    const Real phi = dt * spin.x / moment.x, s = std::sin(Real(0.5) * phi),
               c = std::cos(Real(0.5) * phi);
    orientation = compose(orientation, Real4{s, 0, 0, c});
    pull(spin.y, spin.z, s, c);
  }
  PERRIN_HD void turn_y(Real dt) {
    if (!(moment.y > Real(0))) return;
    const Real phi = dt * spin.y / moment.y, s = std::sin(Real(0.5) * phi),
               c = std::cos(Real(0.5) * phi);
    orientation = compose(orientation, Real4{0, s, 0, c});
    pull(spin.z, spin.x, s, c);
  }
  PERRIN_HD void turn_z(Real dt) {
    if (!(moment.z > Real(0))) return;
    const Real phi = dt * spin.z / moment.z, s = std::sin(Real(0.5) * phi),
               c = std::cos(Real(0.5) * phi);
    orientation = compose(orientation, Real4{0, 0, s, c});
    pull(spin.x, spin.y, s, c);
  }
  /// The two components that follow the axis, turned backwards by the angle whose half has this
  /// sine and cosine.
  PERRIN_HD static void pull(Real& a, Real& b, Real half_sine, Real half_cosine) {
    const Real sine = 2 * half_sine * half_cosine, less = 2 * half_sine * half_sine;
    const Real before = a;
    a = a + (sine * b - less * a);
    b = b - (sine * before + less * b);
  }
};

struct KickAndTurn {
  TurningParticles all;
  const Position* position;
  Real dt;
  const Real4* friction;  // [type]; nullptr: no bath
  Ramp kt;
  RunKey key;
  const std::uint64_t* step;
  FlowRotation flow;
  double* heat;

  PERRIN_HD void operator()(std::int64_t i) const {
    if (all.leaves_out(i) || !all.turns(i)) return;
    TurningParticle p(all.turning, i);
    p.kick(Real(0.5) * dt, all.turning.torque[i]);
    const Real4 xi = friction != nullptr ? friction[position[i].type()] : Real4{};
    if (xi.x > Real(0) || xi.y > Real(0) || xi.z > Real(0)) {
      p.turn(Real(0.5) * dt);
      thermalize(p, xi, i);
      p.turn(Real(0.5) * dt);
    } else {
      p.turn(dt);
    }
    all.turning.orientation[i] = normalized(p.orientation);
    all.turning.angular_momentum[i] = {p.spin.x, p.spin.y, p.spin.z, 0};
  }

 private:
  PERRIN_HD void thermalize(TurningParticle& p, const Real4& xi, std::int64_t i) const {
    const double before = heat != nullptr ? p.energy() : 0.0;
    auto g = keyed<Saru>(key, *step, all.id[i]);
    const Real3 r = g.template normal3<Real>();
    const Real root = Real(std::sqrt(kt.constant() ? kt.from : kt.at(*step)));
    const Real3 around = rotate_back(p.orientation, flow());
    const auto relax = [&](Real& l, Real moment, Real drag, Real flows, Real noise) {
      if (!(moment > Real(0))) return;
      const Real x = drag * dt / moment, with_flow = moment * flows;
      l -= with_flow;
      l = std::exp(-x) * l + root * std::sqrt(-moment * std::expm1(-2 * x)) * noise;
      l += with_flow;
    };
    relax(p.spin.x, p.moment.x, xi.x, around.x, r.x);
    relax(p.spin.y, p.moment.y, xi.y, around.y, r.y);
    relax(p.spin.z, p.moment.z, xi.z, around.z, r.z);
    if (heat != nullptr) heat[i] += p.energy() - before;
  }
};

struct KickSpin {
  TurningParticles all;
  Real half_dt;

  PERRIN_HD void operator()(std::int64_t i) const {
    if (all.leaves_out(i) || !all.turns(i)) return;
    TurningParticle p(all.turning, i);
    p.kick(half_dt, all.turning.torque[i]);
    all.turning.angular_momentum[i] = {p.spin.x, p.spin.y, p.spin.z, 0};
  }
};

struct Diffuse {
  TurningParticles all;
  const Position* position;
  Real dt;
  const Real4* friction;  // [type]
  Ramp kt;
  RunKey key;
  const std::uint64_t* step;
  FlowRotation flow;
  bool planar;

  PERRIN_HD void operator()(std::int64_t i) const {
    if (all.leaves_out(i)) return;
    const Real4 xi = friction[position[i].type()];
    if (!(xi.x > Real(0) || xi.y > Real(0) || xi.z > Real(0))) return;
    const Real4 q = all.turning.orientation[i];
    const double now = kt.constant() ? kt.from : kt.at(*step);
    Real3 r{};
    if (now > 0) {
      auto g = keyed<Saru>(key, *step, all.id[i]);
      r = g.template normal3<Real>();
    }
    const Real3 torque = rotate_back(q, all.turning.torque[i].xyz());
    const auto mobility = [&](Real drag) { return drag > Real(0) ? dt / drag : Real(0); };
    const Real3 drift{mobility(xi.x), mobility(xi.y), mobility(xi.z)};
    const Real3 spread{std::sqrt(2 * drift.x * Real(now)), std::sqrt(2 * drift.y * Real(now)),
                       std::sqrt(2 * drift.z * Real(now))};
    Real3 by{multiply_add(drift.x, torque.x, spread.x * r.x),
             multiply_add(drift.y, torque.y, spread.y * r.y),
             multiply_add(drift.z, torque.z, spread.z * r.z)};
    by += dt * rotate_back(q, flow());
    if (planar) by.x = by.y = 0;
    all.turning.orientation[i] = turned(q, by);
  }
};

TurningParticles turning_particles(StepContext& s) {
  return {s.particles().orientations()->view(), s.particles().id().data(), s.group()};
}

}  // namespace

void Rotation::begin(StepContext&, double timestep) { dt_ = Real(timestep); }

void Rotation::begin(StepContext& s, double timestep, const RotationalBath& bath) {
  dt_ = Real(timestep);
  key_ = bath.key;
  if (!s.particles().orientations()) return;
  std::vector<Real4> friction;
  for (const Vec3<double>& xi : bath.friction_of_type)
    friction.push_back({Real(xi.x), Real(xi.y), Real(xi.z), 0});
  friction_ = {s.device(), std::span<const Real4>(friction)};
}

void Rotation::kick_and_turn(StepContext& s, const Ramp& kt, double* heat) {
  if (!s.particles().orientations()) return;
  for_each(s.device(), "rotation", s.particles().share(),
           KickAndTurn{turning_particles(s), s.particles().position().data(), dt_,
                       friction_.size() > 0 ? friction_.data() : nullptr, kt, key_, s.device_step(),
                       FlowRotation{s.flow(), s.device_step()}, heat});
}

void Rotation::kick(StepContext& s) {
  if (!s.particles().orientations()) return;
  for_each(s.device(), "torques", s.particles().share(),
           KickSpin{turning_particles(s), Real(0.5) * dt_});
}

void Rotation::diffuse(StepContext& s, const Ramp& kt) {
  if (!s.particles().orientations() || friction_.size() == 0) return;
  for_each(s.device(), "rotational diffusion", s.particles().share(),
           Diffuse{turning_particles(s), s.particles().position().data(), dt_, friction_.data(), kt,
                   key_, s.device_step(), FlowRotation{s.flow(), s.device_step()},
                   s.particles().box().dimension == 2});
}

}  // namespace perrin
