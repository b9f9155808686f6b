#include "integrators/velocity_verlet.h"

#include "engine/run/registry.h"
#include "integrators/verlet_halves.h"

namespace perrin {

void VelocityVerlet::begin(Simulation& simulation) {
  simulation.ensure_forces();
  if (barostat_) barostat_->begin(simulation, dt_, {kt_, kt_});
}

void VelocityVerlet::steps(Simulation& simulation, int n) {
  const Real dt = Real(dt_);
  run_particle_steps(
      simulation, n, [&] { return KickAndDrift{dt}; }, [&] { return Kick{dt}; });
}

void register_velocity_verlet(Registry& registry) {
  registry.add<Integrator, VelocityVerletSettings>(
      "velocity_verlet", "velocity Verlet: constant energy (NVE), or constant pressure",
      [](const VelocityVerletSettings& s, Setup& setup) {
        const double kt =
            s.barostat ? setup.k_boltzmann() * s.barostat->temperature.value_or(0) : 0.0;
        return std::make_unique<VelocityVerlet>(s, Barostat::make(s.barostat, true, setup), kt);
      });
}

}  // namespace perrin
