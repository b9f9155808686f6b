#include "integrators/velocity_verlet.h"

#include "engine/parallel.h"
#include "engine/registry.h"
#include "engine/simulation.h"
#include "integrators/drift.h"
#include "integrators/register.h"

namespace perrin {
namespace {

PERRIN_HD Real4 kicked(const Real4& v, const Real4& f, Real dt) {
  const Real s = dt * v.w;  // w: 1/mass
  return {v.x + s * f.x, v.y + s * f.y, v.z + s * f.z, v.w};
}

struct HalfKickAndDrift {
  ParticleView particles;
  Metric metric;
  FaultSink faults;
  Real dt, limit;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Real4 v = kicked(particles.velocity[i], particles.force[i], Real(0.5) * dt);
    particles.velocity[i] = v;
    drift(particles, metric, faults, i, dt * v.xyz(), limit);
  }
};

struct HalfKick {
  ParticleView particles;
  FaultSink faults;
  Real dt;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Real4 v = kicked(particles.velocity[i], particles.force[i], Real(0.5) * dt);
    particles.velocity[i] = v;
    const Real sum = v.x + v.y + v.z;
    if (!(sum - sum == Real(0)))  // NaN or infinite
      faults.report(FaultKind::not_finite, particles.id[i], double(sum), 0);
  }
};

}  // namespace

void half_kick_and_drift(Simulation& simulation, double dt) {
  const ParticleView particles = simulation.particles.view();
  for_each(simulation.device(), "half kick and drift", particles.n,
           HalfKickAndDrift{particles, simulation.particles.box.metric(), simulation.fault_sink(),
                            Real(dt), Real(simulation.max_displacement())});
}

void half_kick(Simulation& simulation, double dt) {
  const ParticleView particles = simulation.particles.view();
  for_each(simulation.device(), "half kick", particles.n,
           HalfKick{particles, simulation.fault_sink(), Real(dt)});
}

void VelocityVerlet::begin(Simulation& simulation) { simulation.ensure_forces(); }

void VelocityVerlet::step(Simulation& simulation) {
  half_kick_and_drift(simulation, dt_);
  simulation.update_neighbors();
  simulation.compute_forces();
  half_kick(simulation, dt_);
}

void register_velocity_verlet(Registry& registry) {
  registry.add<Integrator, VelocityVerletSettings>(
      "velocity_verlet", "velocity Verlet: constant energy (NVE)",
      [](const VelocityVerletSettings& s, Setup&) { return std::make_unique<VelocityVerlet>(s); });
}

}  // namespace perrin
