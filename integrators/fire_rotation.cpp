#include "integrators/fire_rotation.h"

#include <algorithm>
#include <cmath>

#include "engine/components/rigid_bodies.h"
#include "engine/device/parallel.h"
#include "engine/system/orientations.h"
#include "integrators/group_sum.h"
#include "integrators/rotation.h"

namespace perrin {
namespace {

using Stretch = FireRotation::Stretch;

constexpr double longest_rotation = 0.1;  // radians, of a step

/// What all passes have.
struct Turning {
  OrientationView of;
  Real4* spin;
  Stretch* stretch;
  const FireRule* rule;
  const std::uint32_t* id;
  GroupMask group;

  PERRIN_HD bool leaves_out(std::int64_t i) const {
    const Real4 m = of.moment[i];
    return !(m.x > Real(0) || m.y > Real(0) || m.z > Real(0)) || (group && !group.has(id[i]));
  }
  /// In the frame of the particle, about the axes that it turns about.
  PERRIN_HD Real3 torque(std::int64_t i) const {
    const Real3 t = rotate_back(of.orientation[i], of.torque[i].xyz());
    const Real4 m = of.moment[i];
    return {m.x > Real(0) ? t.x : Real(0), m.y > Real(0) ? t.y : Real(0),
            m.z > Real(0) ? t.z : Real(0)};
  }
};

struct KickAndTurn {
  Turning all;
  Real most;

  PERRIN_HD void operator()(std::int64_t i) const {
    if (all.rule->converged || all.leaves_out(i)) return;
    const Real dt = Real(all.rule->step), half = Real(0.5) * dt;
    const Real3 t = all.torque(i);
    const Real4 m = all.of.moment[i];
    Real4 l = all.spin[i];
    l = {multiply_add(half, t.x, l.x), multiply_add(half, t.y, l.y), multiply_add(half, t.z, l.z),
         0};
    Real3 by{m.x > Real(0) ? dt * l.x / m.x : Real(0), m.y > Real(0) ? dt * l.y / m.y : Real(0),
             m.z > Real(0) ? dt * l.z / m.z : Real(0)};
    // In double: where particles overlap, squares leave the range of float.
    const double x = double(by.x), y = double(by.y), z = double(by.z);
    const double angle = std::sqrt(x * x + y * y + z * z);
    if (angle > double(most)) {
      const Real less = Real(double(most) / angle);
      l = times(less, l), by = {less * by.x, less * by.y, less * by.z};
    }
    all.spin[i] = l;
    all.stretch[i] = {{t.x, t.y, t.z, 0}, {by.x, by.y, by.z, 0}};
    all.of.orientation[i] = turned(all.of.orientation[i], by);
  }
};

struct KickSpin {
  Turning all;

  PERRIN_HD void operator()(std::int64_t i) const {
    if (all.rule->converged || all.leaves_out(i)) return;
    const Real half = Real(0.5) * Real(all.rule->step);
    const Real3 t = all.torque(i);
    const Real4 l = all.spin[i];
    all.spin[i] = {multiply_add(half, t.x, l.x), multiply_add(half, t.y, l.y),
                   multiply_add(half, t.z, l.z), 0};
  }
};

struct Measure {
  Turning all;

  PERRIN_HD FireMeasures operator()(std::int64_t i) const {
    if (all.leaves_out(i)) return {};
    const Real3 torque = all.torque(i);
    const Real4 l = all.spin[i], moment = all.of.moment[i];
    const Stretch s = all.stretch[i];
    FireMeasures m;
    double lost = 0, inertia = 0;
    const auto add = [&](Real torque_of, Real spin, Real moment_of, Real before, Real rotation) {
      const double t = double(torque_of), w = double(spin), phi = double(rotation);
      if (moment_of > Real(0)) m.power += t * w / double(moment_of);
      m.velocity2 += w * w, m.force2 += t * t;
      lost += (double(before) - t) * phi, inertia += double(moment_of) * phi * phi;
    };
    add(torque.x, l.x, moment.x, s.torque.x, s.rotation.x);
    add(torque.y, l.y, moment.y, s.torque.y, s.rotation.y);
    add(torque.z, l.z, moment.z, s.torque.z, s.rotation.z);
    m.largest2 = m.force2;
    const double x = double(s.rotation.x), y = double(s.rotation.y), z = double(s.rotation.z);
    // Rotations below that say nothing of the stiffness.
    if (x * x + y * y + z * z > 1e-10 && lost > 0) m.stiffest = lost / inertia;
    return m;
  }
};

struct Mix {
  Turning all;

  PERRIN_HD void operator()(std::int64_t i) const {
    if (all.leaves_out(i)) return;
    const Real a = Real(all.rule->mix_velocity), b = Real(all.rule->mix_torque);
    const Real3 t = all.torque(i);
    const Real4 l = all.spin[i];
    all.spin[i] = {a * l.x + b * t.x, a * l.y + b * t.y, a * l.z + b * t.z, 0};
  }
};

Turning turning(StepContext& s, ParticleArray<Real4>& spin, ParticleArray<Stretch>& stretch,
                const FireRule* rule) {
  return {s.particles().orientations()->view(),
          spin.data(),
          stretch.data(),
          rule,
          s.particles().id().data(),
          s.group()};
}

}  // namespace

void FireRotation::begin(StepContext& s, double longest_move) {
  turns_ = s.particles().orientations() &&
           s.particles().orientations()->degrees_of_freedom(s.particles().id(), s.group()) > 0;
  if (!turns_) return;
  most_ = Real(s.bodies() ? std::min(longest_rotation, longest_move / s.bodies()->extent())
                          : longest_rotation);
  measures_ = {s.device(), 1};
  scratch_ = {s.device(), sum_chunks};
  if (!spin_) spin_ = {s.particles(), IndexedBy::memory};
  stretch_ = {s.particles(), IndexedBy::memory};
}

void FireRotation::end() { spin_ = {}, stretch_ = {}; }

void FireRotation::kick_and_turn(StepContext& s, const FireRule* rule) {
  if (turns_)
    for_each(s.device(), "FIRE rotation", s.particles().share(),
             KickAndTurn{turning(s, spin_, stretch_, rule), most_});
}

void FireRotation::kick(StepContext& s, const FireRule* rule) {
  if (turns_)
    for_each(s.device(), "FIRE torques", s.particles().share(),
             KickSpin{turning(s, spin_, stretch_, rule)});
}

const FireMeasures* FireRotation::measure(StepContext& s) {
  if (!turns_) return nullptr;
  sum<FireMeasures>(s.device(), "FIRE power of torques", s.particles().size(),
                    Measure{turning(s, spin_, stretch_, nullptr)}, scratch_, measures_.data());
  return measures_.data();
}

void FireRotation::mix(StepContext& s, const FireRule* rule) {
  if (turns_)
    for_each(s.device(), "FIRE mixing of rotation", s.particles().share(),
             Mix{turning(s, spin_, stretch_, rule)});
}

void FireRotation::state(Archive& archive) {
  if (!turns_) return;
  spin_.state(archive, "spin");
  if (archive.is_saving()) return;
  for (const Real4& l : spin_.to_host())
    archive.require(std::isfinite(l.x) && std::isfinite(l.y) && std::isfinite(l.z), "spin",
                    "finite numbers");
}

}  // namespace perrin
