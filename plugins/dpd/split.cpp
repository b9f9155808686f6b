#include "split.h"

#include "engine/components/registry.h"
#include "engine/components/stage_context.h"
#include "integrators/particle_steps.h"

namespace perrin::dpd {
namespace {

struct KickAndDrift {
  Real4* before;  // forces of the last step, by id
  Real dt;

  PERRIN_HD Real4 operator()(MovingParticle& p) const {
    p.kick(Real(0.5) * dt);
    before[p.id] = p.force;
    return times(dt, p.velocity);
  }
};

struct KickAndShift {
  const Real4* before;
  Real4* shift;  // by memory index
  Real dt, correction;

  PERRIN_HD void operator()(MovingParticle& p) const {
    const Real4 f = p.force, g = before[p.id];
    const Real sixth = correction * (dt * p.velocity.w) / Real(6);
    p.kick(Real(0.5) * dt);
    shift[p.i] = {sixth * (g.x - f.x), sixth * (g.y - f.y), sixth * (g.z - f.z), Real(0)};
  }
};

}  // namespace

void Split::begin(StageContext& context) {
  baths_.clear();
  for (const auto& force : context.forces)
    if (auto* bath = dynamic_cast<PairBath*>(force.get())) baths_.push_back(bath);
  if (baths_.empty())
    throw UserError(
        "integrator dpd_split: no force has pairwise friction; expected dpd, mdpd, dpd_thermostat "
        "or dpd_lj among the forces");
  if (before_.size() != context.particles.size()) {
    before_ = {context.particles, IndexedBy::id};
    shift_ = {context.device(), context.particles.size()};
  }
  context.prepare(*this);
  context.ensure_forces();
}

void Split::steps(StepContext& context, int n) {
  const Real dt = Real(dt_), correction = Real(correction_);
  run_particle_steps(
      context, n,
      [&] {
        return KickAndDrift{before_.data(), dt};
      },
      [&] {
        return KickAndShift{before_.data(), shift_.data(), dt, correction};
      },
      [&] {
        for (PairBath* bath : baths_) bath->update_velocities(context, shift_.data());
      },
      [] { return NoUpdate{}; });
}

void register_split(Registry& registry) {
  registry.add<Integrator, SplitSettings>(
      "dpd_split",
      "DPD at large time steps: velocity Verlet, then pairwise friction and noise of all pairs at "
      "once",
      [](const SplitSettings& s, Setup&) { return std::make_unique<Split>(s); });
}

}  // namespace perrin::dpd
