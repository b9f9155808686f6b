#include "forces/pair_force.h"
#include "forces/potentials/morse.h"

namespace perrin {

void register_morse(Registry& registry) { register_pair_potential<Morse>(registry); }

}  // namespace perrin
