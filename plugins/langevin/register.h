// The integrators of this plug-in.
#pragma once

namespace perrin {
class Registry;
}

namespace perrin::langevin {

void register_langevin(Registry& registry);
void register_brownian(Registry& registry);

}  // namespace perrin::langevin
