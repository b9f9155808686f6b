// The components of this plug-in.
#pragma once

namespace perrin {
class Registry;
}

namespace perrin::active {

void register_swimmers(Registry& registry);  // active_brownian and run_and_tumble
void register_active_ornstein_uhlenbeck(Registry& registry);
void register_active_force(Registry& registry);

}  // namespace perrin::active
