// The plug-in's one symbol.
#include "engine/job/plugin_api.h"
#include "register.h"

namespace {
void register_components(perrin::Registry& registry) {
  perrin::langevin::register_langevin(registry);
  perrin::langevin::register_brownian(registry);
}
}  // namespace

PERRIN_PLUGIN("langevin", "1.0", register_components)
