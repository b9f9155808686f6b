#include "forces/pair_force.h"
#include "forces/potentials/soft_dpd.h"

namespace perrin {

void register_soft_dpd(Registry& registry) { register_pair_potential<SoftDpd>(registry); }

}  // namespace perrin
