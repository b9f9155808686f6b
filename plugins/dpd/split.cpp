#include "split.h"

#include "dpd_force.h"
#include "engine/core/parallel.h"
#include "integrators/drift.h"

namespace perrin::dpd {
namespace {

struct KickAndDrift {
  ParticleView particles;
  Metric metric;
  FaultSink faults;
  Real4* before;
  MoveCheck check;
  Real dt, limit;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Real4 f = particles.force[i];
    Real4 v = particles.velocity[i];
    const Real s = Real(0.5) * dt * v.w;  // w: 1/mass
    v.x += s * f.x, v.y += s * f.y, v.z += s * f.z;
    particles.velocity[i] = v;
    before[particles.id[i]] = f;
    drift(particles, metric, faults, i, dt * v.xyz(), limit, check);
  }
};

struct KickAndShift {
  ParticleView particles;
  FaultSink faults;
  const Real4* before;
  Real4* shift;
  Real dt, correction;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Real4 f = particles.force[i], g = before[particles.id[i]];
    Real4 v = particles.velocity[i];
    const Real s = dt * v.w, half = Real(0.5) * s, sixth = correction * s / Real(6);
    v.x += half * f.x, v.y += half * f.y, v.z += half * f.z;
    particles.velocity[i] = v;
    shift[i] = {sixth * (g.x - f.x), sixth * (g.y - f.y), sixth * (g.z - f.z), Real(0)};
    const Real sum = v.x + v.y + v.z;
    if (!(sum - sum == Real(0)))  // NaN or infinite
      faults.report(FaultKind::not_finite, particles.id[i], double(sum), 0);
  }
};

}  // namespace

void Split::begin(Simulation& simulation) {
  baths_.clear();
  for (const auto& force : simulation.forces)
    if (auto* bath = dynamic_cast<PairBath*>(force.get())) baths_.push_back(bath);
  if (baths_.empty())
    throw UserError(
        "integrator dpd_split: no force has friction of pairs; expected dpd, "
        "dpd_thermostat or dpd_lj among the forces");
  for (PairBath* bath : baths_) bath->prepare_split(simulation);
  if (before_.size() != simulation.particles.size()) {
    before_ = {simulation.device(), simulation.particles.size()};
    shift_ = {simulation.device(), simulation.particles.size()};
  }
  simulation.prepare(*this);
  simulation.ensure_forces();
}

void Split::step(Simulation& simulation) {
  const Device& device = simulation.device();
  Particles& p = simulation.particles;
  const Real dt = Real(dt_);
  for_each(device, "half kick and drift", p.size(),
           KickAndDrift{p.view(), p.box.metric(), simulation.fault_sink(), before_.data(),
                        simulation.check_moves(), dt, Real(simulation.max_displacement())});
  simulation.update_neighbors(true);
  simulation.compute_forces();
  for_each(device, "half kick", p.size(),
           KickAndShift{p.view(), simulation.fault_sink(), before_.data(), shift_.data(), dt,
                        Real(correction_)});
  for (PairBath* bath : baths_) bath->update_velocities(simulation, shift_.data());
}

void register_split(Registry& registry) {
  registry.add<Integrator, SplitSettings>(
      "dpd_split",
      "DPD at large time steps: velocity Verlet, then friction and noise of all pairs at once",
      [](const SplitSettings& s, Setup&) { return std::make_unique<Split>(s); });
}

}  // namespace perrin::dpd
