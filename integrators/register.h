// The integrators that come with Perrin.
#pragma once

namespace perrin {

class Registry;

/// All of the below.
void register_integrators(Registry& registry);

void register_velocity_verlet(Registry& registry);
void register_bussi(Registry& registry);
void register_fire(Registry& registry);

}  // namespace perrin
