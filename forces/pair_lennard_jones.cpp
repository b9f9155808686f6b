#include "forces/pair_force.h"
#include "forces/potentials/lennard_jones.h"

namespace perrin {

void register_lennard_jones(Registry& registry) { register_pair_potential<LennardJones>(registry); }

}  // namespace perrin
