#include "integrators/register.h"

namespace perrin {

void register_integrators(Registry& registry) {
  register_velocity_verlet(registry);
  register_bussi(registry);
  register_fire(registry);
}

}  // namespace perrin
