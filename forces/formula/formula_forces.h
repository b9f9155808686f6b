// Forces from formulas: pair_formula, bond_formula, angle_formula, dihedral_formula and
// external_formula. The settings of one say what code it needs; that is compiled
// (engine/job/compile_plugin.h), and its parameters are settings of the type that comes of it.
#pragma once

namespace perrin {

class Registry;

void register_formula_forces(Registry& registry);

}  // namespace perrin
