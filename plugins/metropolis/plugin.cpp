#include "engine/job/plugin_api.h"
#include "metropolis.h"

PERRIN_PLUGIN("metropolis", "1.0", perrin::metropolis::register_components)
