#include "register.h"

#include "dpd_force.h"
#include "groot_warren.h"
#include "periodic_shear.h"
#include "split.h"

namespace perrin {

void register_dpd(Registry& registry) {
  dpd::register_forces(registry);
  dpd::register_periodic_shear(registry);
  dpd::register_groot_warren(registry);
  dpd::register_split(registry);
}

}  // namespace perrin
