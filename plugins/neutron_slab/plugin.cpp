#include "engine/job/plugin_api.h"
#include "neutron_slab.h"

PERRIN_PLUGIN("neutron_slab", "1.0", neutron::register_components)
