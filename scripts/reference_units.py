"""What the settings of docs/reference are measured in; scripts/reference asks for what is new."""
# What a number is measured in: by its key, or by TYPE.KEY where the key alone is not enough.
UNITS = {
    "time": "timestep maximum_timestep tau period persistence_time",
    "temperature": "temperature final_temperature temperatures",
    "pressure": "pressure final_pressure tolerance",
    "1/pressure": "compressibility",
    "1/volume": "density densities activity",
    "volume": "volume",
    "length": "lattice_constant box min_distance bond_length cutoff switch_on sigma distance range "
              "mean_square_displacement.overlap bjerrum_length "
              "rho length maximum_length center position maximum_move r_max x y z xy xz yz skin "
              "lambda core lj_cutoff density_cutoff at margin translation thickness width radius "
              "spacing gap tilts origin point oscillation.amplitude displacement smooth_from "
              "constraints.bonds stretch",
    "area": "area_per_lipid",
    "1/area": "grafting_density",
    "1/length": "wave_numbers steepness kappa k_max damping splitting total scattering "
                "absorption",
    "energy": "energy chemical_potential torque torque_tolerance core_epsilon maxwell "
              "cutoff_energy source.range "
              "epsilon depth amplitude k c angle_cosine.stiffness angle_cosine_squared.stiffness "
              "dihedral_periodic.stiffness improper_periodic.stiffness",
    "energy · length": "yukawa.amplitude metropolis.amplitude",
    "energy · length²": "mdpd.repulsion",
    "energy · length⁶": "dispersion",
    "energy/length": "force repulsion attraction force_tolerance periodic_shear.amplitude",
    "energy/length²": "stiffness",
    "energy/radian²": "angle_harmonic.stiffness dihedral_harmonic.stiffness "
                      "improper_harmonic.stiffness",
    "energy · length³": "strength",
    "energy · time": "rotational_friction rotational_frictions rotational_frictions_of_axes",
    "mass · length²": "moments_of_inertia",
    "mass": "masses particles.mass bodies.mass mass",
    "charge": "charge",
    "charge · length": "moments",
    "neutron masses": "neutron_slab.mass layers.mass",
    "mass/time": "friction frictions frictions_of_axes gamma",
    "mass/(length · time)": "viscosity",
    "length/time": "speed speeds moving.velocity harmonic_trap.velocity group_restraint.velocity "
                   "group_restraint.rate",
    "1/time": "rate tumble_rate tumble_rates angular_speed angular_speeds rotational_diffusion "
              "rotational_diffusions",
    "degrees": "angle angles constraints.angles phase half_angle",
    "radians": "rotation bend rotation.angle",
    "minutes": "minutes",
    "of the attribute": "swap.difference attributes.default attributes.types "
                        "random.uniform random.normal "
                        "random.lognormal updates.between",
    "of the formula": "pair_formula.pairs bond_formula.bonds angle_formula.angles "
                      "dihedral_formula.dihedrals external_formula.types "
                      "many_body_formula.pairs many_body_formula.types",
    "exchanges": "volume.stride exchange.rows_every",
    "steps": "steps stride ramp_steps console_stride rows_every updates.every",
    "sweeps": "sweeps acceptance.stride",
    "cycles": "cycles equilibration metropolis.stride interval recompute exchange",
    "histories": "histories neutron_slab.stride batch",
    "": "scale exponent repulsive attractive correction acceptance volume.step target_error "
        "roulette pivot.trials crankshaft.trials reptation.trials swap.trials types "
        "groot_warren.lambda constraints.tolerance cosine "
        "probability permittivity permittivity_ratio surface_permittivity accuracy slab "
        "gay_berne.kappa kappa_prime mu nu directions patches.steepness",
}
UNIT_OF = {key: unit for unit, keys in UNITS.items() for key in keys.split()}
# What descriptions say of units must not contradict the table.
SAID = {"in degrees": "degrees", "mass/time": "mass/time", "energy/length²": "energy/length²",
        "(length)": "length", "1/length": "1/length", "(time)": "time", "1/time": "1/time",
        "in time units": "time", "in energy units": "energy", "energy/radian²": "energy/radian²"}
