#include "forces/pair_force.h"
#include "forces/potentials/morse.h"
#include "forces/register.h"

namespace perrin {

void register_morse(Registry& registry) { register_pair_potential<Morse>(registry); }

}  // namespace perrin
