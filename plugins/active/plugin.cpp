// The plug-in's one symbol.
#include "engine/job/plugin_api.h"
#include "register.h"

namespace {
void register_components(perrin::Registry& registry) {
  perrin::active::register_swimmers(registry);
  perrin::active::register_active_ornstein_uhlenbeck(registry);
  perrin::active::register_active_force(registry);
}
}  // namespace

PERRIN_PLUGIN("active", "1.0", register_components)
