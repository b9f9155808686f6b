#include "forces/pair_force.h"
#include "forces/potentials/buckingham.h"

namespace perrin {

void register_buckingham(Registry& registry) { register_pair_potential<Buckingham>(registry); }

}  // namespace perrin
