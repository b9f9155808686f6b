// The forces on dihedrals and impropers that come with Perrin.
#include "forces/dihedral_force.h"
#include "forces/dihedral_potentials.h"

namespace perrin {

void register_dihedrals(Registry& registry) {
  register_dihedral<DihedralPeriodic>(registry);
  register_dihedral<DihedralHarmonic>(registry);
  register_dihedral<DihedralOpls>(registry);
  register_dihedral<DihedralRyckaertBellemans>(registry);
  register_dihedral<ImproperHarmonic>(registry);
  register_dihedral<ImproperPeriodic>(registry);
}

}  // namespace perrin
