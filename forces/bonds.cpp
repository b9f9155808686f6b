// The bond forces that come with Perrin.
#include "forces/bond_force.h"
#include "forces/bond_potentials.h"

namespace perrin {

void register_bonds(Registry& registry) {
  register_bond<BondHarmonic>(registry);
  register_bond<BondFene>(registry);
}

}  // namespace perrin
