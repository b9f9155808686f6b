#include "forces/potentials/dipole.h"

#include "forces/anisotropic/anisotropic_force.h"
#include "forces/register.h"

namespace perrin {

void register_dipole(Registry& registry) { register_axial_potential<Dipole>(registry); }

}  // namespace perrin
