#include "forces/formula/formula_forces.h"

namespace perrin {

void register_formulas(Registry& registry) { register_formula_forces(registry); }

}  // namespace perrin
