#include "forces/formula/formula_forces.h"
#include "forces/formula/many_body_formula.h"

namespace perrin {

void register_formulas(Registry& registry) {
  register_formula_forces(registry);
  register_many_body_formula(registry);
}

}  // namespace perrin
