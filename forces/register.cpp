#include "forces/register.h"

namespace perrin {

void register_forces(Registry& registry) {
  register_lennard_jones(registry);
  register_wca(registry);
  register_morse(registry);
  register_yukawa(registry);
  register_gaussian_core(registry);
  register_soft_dpd(registry);
  register_bonds(registry);
  register_angles(registry);
  register_external(registry);
}

}  // namespace perrin
