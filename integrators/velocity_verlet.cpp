#include "integrators/velocity_verlet.h"

#include "engine/core/parallel.h"
#include "engine/run/registry.h"
#include "engine/run/simulation.h"
#include "integrators/drift.h"
#include "integrators/register.h"

namespace perrin {
namespace {

PERRIN_HD Real4 kicked(const Real4& v, const Real4& f, Real dt) {
  return multiply_add(dt * v.w, f, v);  // w: 1/mass
}

PERRIN_HD void check_finite(const ParticleView& particles, const FaultSink& faults, std::int64_t i,
                            const Real4& v) {
  const Real sum = v.x + v.y + v.z;
  if (!(sum - sum == Real(0)))  // NaN or infinite
    faults.report(FaultKind::not_finite, particles.id[i], double(sum), 0);
}

struct HalfKickAndDrift {
  ParticleView particles;
  Metric metric;
  FaultSink faults;
  MoveCheck check;
  Real dt, limit;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Real4 v = kicked(particles.velocity[i], particles.force[i], Real(0.5) * dt);
    particles.velocity[i] = v;
    drift(particles, metric, faults, i, times(dt, v), limit, check);
  }
};

struct HalfKick {
  ParticleView particles;
  FaultSink faults;
  Real dt;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Real4 v = kicked(particles.velocity[i], particles.force[i], Real(0.5) * dt);
    particles.velocity[i] = v;
    check_finite(particles, faults, i, v);
  }
};

/// HalfKick of one step and HalfKickAndDrift of the next in one pass, with the same roundings.
struct KickAndDrift {
  HalfKick end;
  HalfKickAndDrift begin;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Real4 f = begin.particles.force[i];
    const Real half = Real(0.5) * begin.dt;
    Real4 v = kicked(begin.particles.velocity[i], f, half);
    check_finite(end.particles, end.faults, i, v);
    v = kicked(v, f, half);
    begin.particles.velocity[i] = v;
    drift(begin.particles, begin.metric, begin.faults, i, times(begin.dt, v), begin.limit,
          begin.check);
  }
};

HalfKickAndDrift beginning(Simulation& s, double dt) {
  return {s.particles.view(), s.particles.box.metric(),  s.fault_sink(), s.check_moves(),
          Real(dt),           Real(s.max_displacement())};
}
HalfKick ending(Simulation& s, double dt) { return {s.particles.view(), s.fault_sink(), Real(dt)}; }

}  // namespace

void half_kick_and_drift(Simulation& simulation, double dt) {
  for_each(simulation.device(), "half kick and drift", simulation.particles.size(),
           beginning(simulation, dt));
}

void half_kick(Simulation& simulation, double dt) {
  for_each(simulation.device(), "half kick", simulation.particles.size(), ending(simulation, dt));
}

void VelocityVerlet::begin(Simulation& simulation) { simulation.ensure_forces(); }

void VelocityVerlet::step(Simulation& simulation) {
  half_kick_and_drift(simulation, dt_);
  simulation.update_neighbors(true);
  simulation.compute_forces();
  half_kick(simulation, dt_);
}

void VelocityVerlet::steps(Simulation& simulation, int n) {
  half_kick_and_drift(simulation, dt_);
  for (int k = 0; k < n; ++k) {
    simulation.update_neighbors(true);
    simulation.compute_forces();
    if (k + 1 == n) break;
    const HalfKick end = ending(simulation, dt_);
    simulation.next_step();
    for_each(simulation.device(), "kick and drift", simulation.particles.size(),
             KickAndDrift{end, beginning(simulation, dt_)});
  }
  half_kick(simulation, dt_);
}

void register_velocity_verlet(Registry& registry) {
  registry.add<Integrator, VelocityVerletSettings>(
      "velocity_verlet", "velocity Verlet: constant energy (NVE)",
      [](const VelocityVerletSettings& s, Setup&) { return std::make_unique<VelocityVerlet>(s); });
}

}  // namespace perrin
