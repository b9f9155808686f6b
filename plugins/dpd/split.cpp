#include "split.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

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

constexpr const char* no_friction =
    "no force has pairwise friction; expected dpd, mdpd, dpd_thermostat or dpd_lj among the forces";

/// Whether a job (JSON, or nothing) has forces that are baths of pairs.
bool has_pair_friction(const std::string& job) {
  const Json record = Json::parse(job, nullptr, false);
  if (!record.is_object() || !record.contains("forces")) return true;  // it is not known
  return std::ranges::any_of(record.at("forces"), [](const Json& force) {
    const std::string type = force.is_object() ? force.value("type", "") : "";
    return type == "dpd" || type == "mdpd" || type == "dpd_thermostat" || type == "dpd_lj";
  });
}

}  // namespace

void Split::begin(StageContext& context) {
  baths_.clear();
  for (const auto& force : context.forces())
    if (auto* bath = dynamic_cast<PairBath*>(force.get())) baths_.push_back(bath);
  if (baths_.empty()) throw UserError(std::string("integrator dpd_split: ") + no_friction);
  if (before_.size() != context.particles().size()) {
    before_ = {context.particles(), IndexedBy::id};
    shift_ = {context.device(), context.particles().size()};
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
      [](const SplitSettings& s, Setup& setup) {
        if (!has_pair_friction(setup.record()->job)) setup.error("type", no_friction);
        return std::make_unique<Split>(s);
      });
}

}  // namespace perrin::dpd
