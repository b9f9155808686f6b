// The force types that come with Perrin.
#pragma once

namespace perrin {

class Registry;

/// All of the below.
void register_forces(Registry& registry);

// Pair potentials, each in a file of its own (pair_….cpp):
void register_lennard_jones(Registry& registry);
void register_wca(Registry& registry);
void register_morse(Registry& registry);
void register_yukawa(Registry& registry);
void register_gaussian_core(Registry& registry);
void register_soft_dpd(Registry& registry);

void register_bonds(Registry& registry);
void register_angles(Registry& registry);
void register_external(Registry& registry);  // these three:
void register_harmonic_trap(Registry& registry);
void register_constant_force(Registry& registry);
void register_lj_wall(Registry& registry);

}  // namespace perrin
