#include "forces/pair_force.h"
#include "forces/potentials/yukawa.h"

namespace perrin {

void register_yukawa(Registry& registry) { register_pair_potential<Yukawa>(registry); }

}  // namespace perrin
