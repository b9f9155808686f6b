#include "groot_warren.h"

#include "engine/components/registry.h"
#include "engine/components/stage_context.h"
#include "integrators/particle_steps.h"

namespace perrin::dpd {
namespace {

struct DriftAndGuess {
  Real4* half;  // by id
  Real dt, lambda;

  PERRIN_HD Real4 operator()(MovingParticle& p) const {
    const Real4 v = p.velocity;
    p.kick(Real(0.5) * dt);
    const Real4 middle = half[p.id] = p.velocity;
    p.velocity = v;
    p.kick(lambda * dt);
    return times(dt, middle);
  }
};

struct SecondHalf {
  const Real4* half;
  Real dt;

  PERRIN_HD void operator()(MovingParticle& p) const {
    p.velocity = half[p.id];
    p.kick(Real(0.5) * dt);
  }
};

}  // namespace

void GrootWarren::begin(StageContext& context) {
  if (half_.size() != context.particles().size()) half_ = {context.particles(), IndexedBy::id};
  context.prepare(*this);
  context.ensure_forces();
}

void GrootWarren::steps(StepContext& context, int n) {
  const Real dt = Real(settings_.timestep), lambda = Real(settings_.lambda);
  run_particle_steps(
      context, n,
      [&] {
        return DriftAndGuess{half_.data(), dt, lambda};
      },
      [&] {
        return SecondHalf{half_.data(), dt};
      });
}

void register_groot_warren(Registry& registry) {
  registry.add<Integrator, GrootWarrenSettings>(
      "groot_warren",
      "velocity Verlet with predicted velocities (Groot and Warren 1997), for forces with friction",
      [](const GrootWarrenSettings& s, Setup&) { return std::make_unique<GrootWarren>(s); });
}

}  // namespace perrin::dpd
