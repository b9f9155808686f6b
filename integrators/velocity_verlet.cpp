#include "integrators/velocity_verlet.h"

#include "engine/run/registry.h"
#include "integrators/verlet_halves.h"

namespace perrin {

void VelocityVerlet::begin(Simulation& simulation) { simulation.ensure_forces(); }

void VelocityVerlet::steps(Simulation& simulation, int n) {
  const Real dt = Real(dt_);
  run_particle_steps(
      simulation, n, [&] { return KickAndDrift{dt}; }, [&] { return Kick{dt}; });
}

void register_velocity_verlet(Registry& registry) {
  registry.add<Integrator, VelocityVerletSettings>(
      "velocity_verlet", "velocity Verlet: constant energy (NVE)",
      [](const VelocityVerletSettings& s, Setup&) { return std::make_unique<VelocityVerlet>(s); });
}

}  // namespace perrin
