// What the plug-in brings: forces dpd, mdpd, dpd_thermostat, dpd_lj, periodic_shear;
// integrators groot_warren, dpd_split.
#pragma once

namespace perrin {

class Registry;

void register_dpd(Registry& registry);

}  // namespace perrin
