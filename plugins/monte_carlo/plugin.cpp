// The plug-in's one symbol.
#include "acceptance.h"
#include "engine/job/plugin_api.h"
#include "stage.h"
#include "widom.h"

namespace {
void register_components(perrin::Registry& registry) {
  perrin::monte_carlo::register_stage(registry);
  perrin::monte_carlo::register_acceptance(registry);
  perrin::monte_carlo::register_widom(registry);
}
}  // namespace

PERRIN_PLUGIN("monte_carlo", "1.0", register_components)
