#include "forces/pair_force.h"
#include "forces/potentials/wca.h"

namespace perrin {

void register_wca(Registry& registry) { register_pair_potential<Wca>(registry); }

}  // namespace perrin
