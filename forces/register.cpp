#include "forces/register.h"

namespace perrin {

void register_forces(Registry& registry) {
  register_bonds(registry);
  register_angles(registry);
  register_external(registry);
}

}  // namespace perrin
