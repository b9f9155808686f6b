#include "engine/job/plugin_api.h"
#include "register.h"

PERRIN_PLUGIN("dpd", "1.0", perrin::register_dpd)
