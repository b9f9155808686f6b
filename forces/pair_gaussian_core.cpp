#include "forces/pair_force.h"
#include "forces/potentials/gaussian_core.h"

namespace perrin {

void register_gaussian_core(Registry& registry) { register_pair_potential<GaussianCore>(registry); }

}  // namespace perrin
