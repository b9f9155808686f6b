// The force many_body_formula: formulas of a density and of the energy that follows from it.
#pragma once

namespace perrin {

class Registry;

void register_many_body_formula(Registry& registry);

}  // namespace perrin
