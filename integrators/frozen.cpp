#include "integrators/frozen.h"

#include "engine/components/registry.h"
#include "engine/dynamics/simulation.h"
#include "integrators/prescribed.h"

namespace perrin {

void Frozen::begin(Simulation& simulation) {
  set_velocities(simulation, simulation.group(), {0, 0, 0});
  simulation.ensure_forces();
}

void Frozen::steps(StepContext& context, int n) {
  for (int k = 0; k < n; ++k) {
    if (k > 0) context.next_step();
    hold_particles(context);
    renew_forces(context);
  }
}

Motion Frozen::motion() const {
  Motion motion;
  motion.axes = {false, false, false};
  return motion;
}

void register_frozen(Registry& registry) {
  registry.add<Integrator, FrozenSettings>(
      "frozen", "particles that stay where they are, as those of a wall",
      [](const FrozenSettings& s, Setup&) { return std::make_unique<Frozen>(s); });
}

}  // namespace perrin
