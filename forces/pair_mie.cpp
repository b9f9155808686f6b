#include "forces/pair_force.h"
#include "forces/potentials/mie.h"

namespace perrin {

void register_mie(Registry& registry) { register_pair_potential<Mie>(registry); }

}  // namespace perrin
