#include "integrators/fire.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/components/registry.h"
#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "integrators/group_sum.h"
#include "integrators/particle_steps.h"

namespace perrin {
namespace {

struct KickAlongPath {
  Real4* velocity;         // by id
  Fire::Stretch* stretch;  // by id
  const Fire::Rule* rule;
  Real cap;

  PERRIN_HD Real4 operator()(const MovingParticle& p) const {
    if (rule->converged) return {};
    const Real dt = Real(rule->step), s = Real(0.5) * dt * p.velocity.w;
    Real4 v = multiply_add(s, p.force, velocity[p.id]);
    // In double: where particles overlap, squares of the forces leave the range of float.
    const double x = double(v.x), y = double(v.y), z = double(v.z);
    const double length = double(dt) * std::sqrt(x * x + y * y + z * z);
    if (length > double(cap)) {
      const Real shorter = Real(double(cap) / length);
      v = {shorter * v.x, shorter * v.y, shorter * v.z, Real(0)};
    }
    velocity[p.id] = v;
    stretch[p.id] = {p.force, times(dt, v)};
    return times(dt, v);
  }
};

struct HalfKick {
  Real4* velocity;
  const Fire::Rule* rule;

  PERRIN_HD void operator()(const MovingParticle& p) const {
    if (rule->converged) return;
    const Real s = Real(0.5) * Real(rule->step) * p.velocity.w;
    velocity[p.id] = multiply_add(s, p.force, velocity[p.id]);
  }
};

struct Measure {
  ParticleView particles;
  const Real4* velocity;
  const Fire::Stretch* stretch;
  double shortest2;  // moves below that say nothing of the stiffness

  /// Divided by the mass: what the force has lost along the way, per length.
  PERRIN_HD double stiffness(const Real4& f, std::int64_t i) const {
    const Fire::Stretch s = stretch[particles.id[i]];
    const double x = double(s.move.x), y = double(s.move.y), z = double(s.move.z);
    const double way2 = x * x + y * y + z * z;
    if (!(way2 > shortest2)) return 0;
    const double lost = (double(s.force.x) - double(f.x)) * x +
                        (double(s.force.y) - double(f.y)) * y +
                        (double(s.force.z) - double(f.z)) * z;
    return lost > 0 ? lost / way2 * double(particles.velocity[i].w) : 0.0;
  }

  PERRIN_HD Fire::Measures operator()(std::int64_t i) const {
    const Real4 f = particles.force[i], v = velocity[particles.id[i]];
    const double fx = double(f.x), fy = double(f.y), fz = double(f.z);
    const double vx = double(v.x), vy = double(v.y), vz = double(v.z);
    const double f2 = fx * fx + fy * fy + fz * fz;
    Fire::Measures m;
    m.power = fx * vx + fy * vy + fz * vz;
    m.velocity2 = vx * vx + vy * vy + vz * vz;
    m.force2 = m.largest2 = f2;
    m.stiffest = stiffness(f, i);
    return m;
  }
};

struct Decide {
  Fire::Rule* rule;
  const Fire::Measures* measures;
  const FireMeasures* rotation;  // nullptr: nothing turns
  double tolerance2, torque_tolerance2, maximum_dt;
  FireCellView cell;

  /// The second half kick of the cell, and what it adds to the sums over the particles. True: the
  /// pressure is right.
  PERRIN_HD bool add_cell(const Fire::Rule& r, Fire::Measures& m) const {
    if (!cell.memory) return true;
    cell.set_forces();
    for (int g = 0; g < cell.axes.groups; ++g) {
      const double f = cell.memory->force[g];
      const double v = cell.memory->velocity[g] += 0.5 * r.step * cell.inverse_mass * f;
      m.power += f * v, m.velocity2 += v * v, m.force2 += f * f;
    }
    return cell.memory->off <= cell.tolerance;
  }

  PERRIN_HD void operator()(std::int64_t) const {
    Fire::Rule r = *rule;
    if (r.converged) return;
    Fire::Measures m = *measures;
    const FireMeasures turning = rotation ? *rotation : FireMeasures{};
    r.largest2 = m.largest2, r.largest_torque2 = turning.largest2;
    const bool right = add_cell(r, m);
    m.power += turning.power;
    m.stiffest = turning.stiffest > m.stiffest ? turning.stiffest : m.stiffest;
    if (m.largest2 <= tolerance2 && turning.largest2 <= torque_tolerance2 && right) {
      r.converged = 1;
      r.mix_velocity = r.mix_force = r.mix_torque = 0;
    } else if (m.power > 0) {
      r.mix_velocity = 1 - r.alpha;
      r.mix_force = m.force2 > 0 ? r.alpha * std::sqrt(m.velocity2 / m.force2) : 0.0;
      r.mix_torque =
          turning.force2 > 0 ? r.alpha * std::sqrt(turning.velocity2 / turning.force2) : 0.0;
      if (++r.downhill > 5) {
        r.dt = r.dt * 1.1 < maximum_dt ? r.dt * 1.1 : maximum_dt;
        r.alpha *= 0.99;
      }
    } else {
      r.mix_velocity = r.mix_force = r.mix_torque = 0;
      r.dt *= 0.5;
      r.alpha = 0.1;
      r.downhill = 0;
    }
    r.step = r.dt;
    if (r.step * r.step * m.stiffest > 1) r.step = 1 / std::sqrt(m.stiffest);
    *rule = r;
    if (!cell.memory) return;
    for (int g = 0; g < cell.axes.groups; ++g) {
      double& v = cell.memory->velocity[g];
      v = r.mix_velocity * v + r.mix_force * cell.memory->force[g];
    }
  }
};

struct Mix {
  Real4* velocity;
  const Fire::Rule* rule;

  PERRIN_HD void operator()(const MovingParticle& p) const {
    const Real4 f = p.force;
    const Real a = Real(rule->mix_velocity), b = Real(rule->mix_force);
    Real4& v = velocity[p.id];
    v = {a * v.x + b * f.x, a * v.y + b * f.y, a * v.z + b * f.z, Real(0)};
  }
};

}  // namespace

void Fire::begin(StageContext& context) {
  context.ensure_forces();
  const Device& device = context.device();
  measures_ = Buffer<Measures>(device, 1);
  scratch_ = Buffer<Measures>(device, sum_chunks);
  if (rule_.size() == 0) {
    rule_ = Buffer<Rule>(device, std::vector<Rule>{{settings_.timestep, settings_.timestep, 0.1, 0,
                                                    0, 0, 0, -1, 0, 0}});
  }
  if (!velocity_) velocity_ = {context.particles(), IndexedBy::id};
  stretch_ = {context.particles(), IndexedBy::id};
  if (cell_) cell_->begin(context, rule_.data());
  rotation_.begin(context, cap(context));
}

void Fire::end() {
  velocity_ = {}, stretch_ = {};
  rotation_.end();
}

/// The longest move of a step.
double Fire::cap(const StepContext& context) const {
  const double limit = context.max_displacement();
  return settings_.maximum_move > 0 ? std::min(settings_.maximum_move, limit / 2) : limit / 20;
}

void Fire::steps(StepContext& context, int n) {
  const Real cap = Real(this->cap(context));
  Stretch* const stretch = stretch_.data();
  Real4* const velocity = velocity_.data();
  const Rule* const rule = rule_.data();
  run_particle_steps(
      context, n,
      [&] {
        rotation_.kick_and_turn(context, rule);
        return KickAlongPath{velocity, stretch, rule, cap};
      },
      [&] {
        if (cell_) cell_->measure(context);
        rotation_.kick(context, rule);
        return HalfKick{velocity, rule};
      },
      [&] {
        decide(context);
        rotation_.mix(context, rule);
      },
      [&] {
        return Mix{velocity, rule};
      });
}

void Fire::decide(StepContext& context) {
  const Device& device = context.device();
  const ParticleView particles = context.particles().view();
  const double shortest = 1e-5 * cap(context);
  const double tolerance = settings_.force_tolerance,
               of_torque = settings_.torque_tolerance.value_or(tolerance);
  sum_of_group(context, "FIRE power",
               Measure{particles, velocity_.data(), stretch_.data(), shortest * shortest}, scratch_,
               measures_.data());
  for_each(device, "FIRE decision", 1,
           Decide{rule_.data(), measures_.data(), rotation_.measure(context), tolerance * tolerance,
                  of_torque * of_torque, settings_.maximum_timestep,
                  cell_ ? cell_->view(context) : FireCellView{}});
}

bool Fire::is_converged() const { return rule_.size() > 0 && rule_.to_host(0).converged != 0; }

double Fire::largest_force() const {
  const double squared = rule_.to_host(0).largest2;
  return squared < 0 ? -1 : std::sqrt(squared);
}

double Fire::largest_torque() const { return std::sqrt(rule_.to_host(0).largest_torque2); }

std::string Fire::shortcoming() {
  if (largest_force() < 0 || is_converged()) return {};
  return report() +
         ": use more \"steps\", or a smaller \"maximum_timestep\" if the force no longer decreases";
}

std::string Fire::report() {
  const double force = largest_force();
  if (force < 0) return {};
  const double torque = largest_torque();
  const double tolerance = settings_.force_tolerance;
  std::string turning;
  if (torque > 0)
    turning = fmt::format("; largest torque {:.4g}, tolerance {:.4g}", torque,
                          settings_.torque_tolerance.value_or(tolerance));
  return fmt::format("{} (largest force {:.4g}, tolerance {:.4g}{}{})",
                     is_converged() ? "converged" : "not converged", force, tolerance, turning,
                     cell_ ? cell_->report() : "");
}

void Fire::state(Archive& archive) {
  archive("rule", rule_);
  velocity_.state(archive, "velocity");
  if (cell_) cell_->state(archive);
  rotation_.state(archive);
  if (archive.is_saving()) return;
  const Rule r = rule_.to_host(0);
  archive.require(r.dt > 0 && r.dt <= 2 * settings_.maximum_timestep && r.step > 0 &&
                      r.step <= r.dt && r.alpha > 0 && r.alpha <= 1 &&
                      std::isfinite(r.mix_velocity) && std::isfinite(r.mix_force) &&
                      r.downhill >= 0 && r.converged <= 1 && r.largest2 >= -1 &&
                      std::isfinite(r.largest2) && r.largest_torque2 >= 0 &&
                      std::isfinite(r.largest_torque2) && std::isfinite(r.mix_torque),
                  "rule", "a state of the minimiser");
  for (const Real4& v : velocity_.to_host())
    archive.require(std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z), "velocity",
                    "finite numbers");
}

void register_fire(Registry& registry) {
  registry.add<Integrator, FireSettings>(
      "fire", "FIRE: energy minimisation",
      [](const FireSettings& s, Setup& setup) -> std::unique_ptr<Integrator> {
        if (s.maximum_timestep < s.timestep)
          setup.error("maximum_timestep", "must be at least timestep");
        if (s.torque_tolerance && setup.configuration().orientation.empty())
          setup.error("torque_tolerance",
                      "has no effect: particles have no orientations; \"orientations\" of the job "
                      "gives them some");
        if (s.cell && !check_moving_axes(s.cell->axes, "cell.axes", setup)) return nullptr;
        return std::make_unique<Fire>(s);
      });
}

}  // namespace perrin
