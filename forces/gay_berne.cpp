#include "forces/potentials/gay_berne.h"

#include "forces/anisotropic/anisotropic_force.h"
#include "forces/register.h"

namespace perrin {

void register_gay_berne(Registry& registry) { register_axial_potential<GayBerne>(registry); }

}  // namespace perrin
