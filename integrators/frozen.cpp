#include "integrators/frozen.h"

#include "engine/components/registry.h"
#include "engine/components/stage_context.h"
#include "integrators/prescribed.h"

namespace perrin {

void Frozen::begin(StageContext& context) { set_velocities(context, context.group(), {0, 0, 0}); }

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
