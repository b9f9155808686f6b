#include "integrators/velocity_verlet.h"

#include "engine/components/registry.h"
#include "engine/components/stage_context.h"
#include "integrators/verlet_halves.h"

namespace perrin {

void VelocityVerlet::begin(StageContext& context) {
  context.ensure_forces();
  rotation_.begin(context, dt_);
  if (!barostat_) return;
  Ramp kt = kt_;
  kt.start = std::int64_t(context.step());
  barostat_->begin(context, dt_, kt);
}

void VelocityVerlet::steps(StepContext& context, int n) {
  const Real dt = Real(dt_);
  const auto before = [&] {
    rotation_.kick_and_turn(context);
    return KickAndDrift{dt};
  };
  const auto after = [&] {
    rotation_.kick(context);
    return Kick{dt};
  };
  run_particle_steps(context, n, before, after);
}

void register_velocity_verlet(Registry& registry) {
  registry.add<Integrator, VelocityVerletSettings>(
      "velocity_verlet", "velocity Verlet: constant energy (NVE), or constant pressure",
      [](const VelocityVerletSettings& s, Setup& setup) {
        Ramp kt;
        if (s.barostat)
          kt = RampSettings{s.barostat->final_temperature, s.barostat->ramp.steps}.ramp(
              s.barostat->temperature.value_or(0), setup.k_boltzmann(), 0);
        const double temperature = s.barostat ? s.barostat->temperature.value_or(0) : 0;
        return std::make_unique<VelocityVerlet>(
            s, Barostat::make(s.barostat, true, s.timestep, temperature, setup), kt);
      });
}

}  // namespace perrin
