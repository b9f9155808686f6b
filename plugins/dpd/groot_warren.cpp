#include "groot_warren.h"

#include "engine/core/parallel.h"
#include "engine/run/registry.h"
#include "engine/run/simulation.h"
#include "integrators/drift.h"

namespace perrin::dpd {
namespace {

PERRIN_HD Real4 kicked(const Real4& v, const Real4& f, Real dt) {
  const Real s = dt * v.w;  // w: 1/mass
  return {multiply_add(s, f.x, v.x), multiply_add(s, f.y, v.y), multiply_add(s, f.z, v.z), v.w};
}

struct DriftAndGuess {
  ParticleView particles;
  Metric metric;
  FaultSink faults;
  Real4* half;
  MoveCheck check;
  Real dt, lambda, limit;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Real4 v = particles.velocity[i], f = particles.force[i];
    const Real4 middle = kicked(v, f, Real(0.5) * dt);
    half[particles.id[i]] = middle;
    particles.velocity[i] = kicked(v, f, lambda * dt);
    drift(particles, metric, faults, i, dt * middle.xyz(), limit, check);
  }
};

struct SecondHalf {
  ParticleView particles;
  FaultSink faults;
  const Real4* half;
  Real dt;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Real4 v = kicked(half[particles.id[i]], particles.force[i], Real(0.5) * dt);
    particles.velocity[i] = v;
    const Real sum = v.x + v.y + v.z;
    if (!(sum - sum == Real(0)))  // NaN or infinite
      faults.report(FaultKind::not_finite, particles.id[i], double(sum), 0);
  }
};

}  // namespace

void GrootWarren::begin(Simulation& simulation) {
  if (half_.size() != simulation.particles.size())
    half_ = {simulation.device(), simulation.particles.size()};
  simulation.prepare(*this);
  simulation.ensure_forces();
}

void GrootWarren::step(Simulation& simulation) {
  Particles& p = simulation.particles;
  const Real dt = Real(settings_.timestep);
  for_each(simulation.device(), "drift and guess", p.size(),
           DriftAndGuess{p.view(), p.box.metric(), simulation.fault_sink(), half_.data(),
                         simulation.check_moves(), dt, Real(settings_.lambda),
                         Real(simulation.max_displacement())});
  simulation.update_neighbors(true);
  simulation.compute_forces();
  for_each(simulation.device(), "second half kick", p.size(),
           SecondHalf{p.view(), simulation.fault_sink(), half_.data(), dt});
}

void register_groot_warren(Registry& registry) {
  registry.add<Integrator, GrootWarrenSettings>(
      "groot_warren",
      "velocity Verlet with guessed velocities (Groot, Warren 1997), for forces with friction",
      [](const GrootWarrenSettings& s, Setup&) { return std::make_unique<GrootWarren>(s); });
}

}  // namespace perrin::dpd
