#include "engine/settings/other_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>

namespace perrin {
namespace {

struct Shipped {
  const char *kind, *type, *plugin;
};

// As `perrin plugins` lists them; tests/robustness/words.py holds this table against it.
constexpr Shipped shipped[] = {
    {"integrator", "active_brownian", "active"},
    {"integrator", "run_and_tumble", "active"},
    {"integrator", "active_ornstein_uhlenbeck", "active"},
    {"force", "active_force", "active"},
    {"observer", "profile", "analysis"},
    {"observer", "radial_profile", "analysis"},
    {"observer", "pressure_profile", "analysis"},
    {"observer", "structure_factor", "analysis"},
    {"observer", "rdf", "analysis"},
    {"observer", "mean_square_displacement", "analysis"},
    {"observer", "velocity_autocorrelation", "analysis"},
    {"observer", "stress_autocorrelation", "analysis"},
    {"observer", "bond_order", "analysis"},
    {"observer", "cluster_size", "analysis"},
    {"observer", "coordination", "analysis"},
    {"observer", "chain_size", "analysis"},
    {"observer", "chain_dynamics", "analysis"},
    {"observer", "bonds", "analysis"},
    {"observer", "restraint", "analysis"},
    {"observer", "group_distance", "analysis"},
    {"observer", "orientational_order", "analysis"},
    {"observer", "orientational_correlation", "analysis"},
    {"observer", "patch_bonds", "analysis"},
    {"force", "dpd", "dpd"},
    {"force", "mdpd", "dpd"},
    {"force", "dpd_thermostat", "dpd"},
    {"force", "dpd_lj", "dpd"},
    {"force", "periodic_shear", "dpd"},
    {"integrator", "groot_warren", "dpd"},
    {"integrator", "dpd_split", "dpd"},
    {"integrator", "langevin", "langevin"},
    {"integrator", "brownian", "langevin"},
    {"stage", "metropolis", "metropolis"},
    {"stage", "monte_carlo", "monte_carlo"},
    {"observer", "acceptance", "monte_carlo"},
    {"observer", "widom", "monte_carlo"},
    {"stage", "neutron_slab", "neutron_slab"},
    {"force", "exponential_repulsion", "example_force"},
};

struct Word {
  std::string_view words;  // with blanks around each, in lower case
  const char* meaning;
};

constexpr Word words[] = {
    {" nve nve/sphere nve/asphere verletintegrator verlet leapfrog leap_frog leap-frog md_vv "
     "velocityverlet constantvolume ",
     "NVE is the integrator \"velocity_verlet\""},
    {" nvt nvt/sphere nvt/asphere canonical thermostat csvr v-rescale vrescale v_rescale "
     "temp/csvr ",
     "NVT is the integrator \"bussi\" (velocity rescaling), \"nose_hoover\" or \"langevin\""},
    {" berendsen temp/rescale isokinetic ",
     "not supported, since it does not sample the canonical ensemble; NVT is the integrator "
     "\"bussi\" (velocity rescaling), \"nose_hoover\" or \"langevin\""},
    {" andersen ",
     "not supported; NVT is the integrator \"bussi\", \"nose_hoover\" or \"langevin\""},
    {" npt nph iso couple taus set_isotropic_npt montecarlobarostat constantpressure barostat "
     "press/berendsen mtk c-rescale parrinello-rahman ",
     "NPT is the setting \"barostat\" of the integrators \"bussi\", \"nose_hoover\", \"langevin\" "
     "or \"velocity_verlet\" (docs/guide/pressure.md)"},
    {" nose-hoover nosehoover nose_hoover_chain nhc nvt_nh mttk nosehooverintegrator ",
     "use the integrator \"nose_hoover\""},
    {" bd langevin brownian baoab sd langevin_dynamics fix_langevin overdamped overdampedviscous "
     "brownian_dynamics "
     "set_langevin set_brownian langevinmiddleintegrator brownianintegrator brownian/sphere "
     "brownian/asphere ",
     "Langevin dynamics is the integrator \"langevin\", overdamped dynamics \"brownian\" (plug-in "
     "langevin)"},
    {" abp abps rtp aoup active active_matter active_particles self_propelled self-propelled "
     "propel/self swimmers activerotationaldiffusion ",
     "active particles are the integrators \"active_brownian\", \"run_and_tumble\" and "
     "\"active_ornstein_uhlenbeck\"; for \"langevin\" and \"brownian\" there is the force "
     "\"active_force\" (plug-in active, docs/guide/active.md)"},
    {" minimize fire minimise minimization minimisation minimizer em energy_minimization cg lbfgs "
     "steep steepest_descent sd_min localenergyminimizer set_steepest_descent cap_force min_style ",
     "energy minimisation is the integrator \"fire\" in a stage \"md\""},
    {" msd mean_squared_displacement diffusion displacement ",
     "use the observer \"mean_square_displacement\" (plug-in analysis)"},
    {" rdf compute_rdf gr g(r) g_r pair_correlation radial_distribution "
     "radial_distribution_function ",
     "use the observer \"rdf\" (plug-in analysis)"},
    {" sk s(k) sq s(q) structurefactor static_structure_factor ",
     "use the observer \"structure_factor\" (plug-in analysis)"},
    {" vacf velocity_correlation ",
     "use the observer \"velocity_autocorrelation\" (plug-in analysis)"},
    {" viscosity green_kubo stress_correlation ",
     "the viscosity is measured by the observer \"stress_autocorrelation\" (plug-in analysis) or "
     "by a sheared stage (docs/guide/shear.md)"},
    {" gyration gyration/chunk rg radius_of_gyration end_to_end ree ",
     "use the observer \"chain_size\" (plug-in analysis)"},
    {" rouse rouse_modes g1 g3 msd/chunk ",
     "use the observer \"chain_dynamics\" (plug-in analysis)"},
    {" orientorder/atom hexorder/atom steinhardt q6 psi6 hexatic bond_orientational_order ",
     "use the observer \"bond_order\" (plug-in analysis)"},
    {" coordination_number coordinationnumber coord/atom contacts contact_number "
     "nearest_neighbors ",
     "use the observer \"coordination\" (plug-in analysis)"},
    {" mindist minimum_distance com_distance pull_distance center_of_mass_distance ",
     "use the observer \"group_distance\" (plug-in analysis)"},
    {" cluster clusters cluster/atom ", "use the observer \"cluster_size\" (plug-in analysis)"},
    {" density_profile chunk ave/chunk chunk/atom ",
     "use the observer \"profile\" or \"radial_profile\" (plug-in analysis)"},
    {" dump custom gsd traj trajectories xyz h5md frames dcd lammpstrj trr pdb positions "
     "dcdreporter xtcreporter vtf ",
     "trajectories are written by the observers \"trajectory\" (H5MD), \"gsd\" and \"xtc\"; perrin "
     "convert turns them into extended XYZ, LAMMPS data, DCD, PDB or GRO"},
    {" log logger thermo_style statedatareporter energies energy output print ",
     "energies, temperature and pressure are written by the observer \"thermo\""},
    {" restart read_restart checkpointreporter checkpointing save ",
     "restart files are written by the observer \"checkpoint\""},
    {" lj lennard_jones lj/cut lj_cut lj/charmm lj12-6 lennardjones lennard-jones lj126 12-6 ",
     "use the force \"lennard_jones\"; purely repulsive: \"wca\""},
    {" lj_repulsive repulsive weeks_chandler_andersen soft_sphere ", "use the force \"wca\""},
    {" coul coul/cut coul/long electrostatics charge charges pppm p3m pme spme msm kspace "
     "kspace_style cutoffperiodic ",
     "use the force \"ewald\", with \"mesh\" for many charges (Ewald sums, P3M); within a cut-off "
     "\"coulomb\", \"coulomb_dsf\" and \"reaction_field\""},
    {" coul/slater coul/slater/cut coul/slater/long dpd/coul/slater/long coul/gauss slater smeared "
     "smeared_charges ",
     "use \"smearing\" of the force \"ewald\": clouds of charge"},
    {" respa r-respa rrespa run_style multiple_time_steps mts impulse ",
     "use \"slow_force_stride\" of a stage \"md\" (docs/guide/charges.md)"},
    {" coul/dsf coul/wolf dsf wolf damped_shifted_force ", "use the force \"coulomb_dsf\""},
    {" coul/debye dh debye debye_huckel huckel hueckel screened_coulomb ",
     "use the force \"debye_hueckel\", or \"yukawa\" where charges are those of particle types"},
    {" rf reactionfield reaction-field coul/rf ", "use the force \"reaction_field\""},
    {" lj1208 lj0804 expandedlj expandedmie lj/expand twf wf/cut opp ljgauss born "
     "born_mayer_huggins hertz/cut dzugutov ramp depletion zbl ",
     "\"pair_formula\" has a library of potentials by their names (\"potential\"): perrin help "
     "potentials"},
    {" damp tdamp pdamp gamma langevin_gamma ",
     "LAMMPS's damp is a time: \"friction\" of \"langevin\" and \"brownian\" is mass/damp; of "
     "\"bussi\", \"nose_hoover\" and \"barostat\" it is \"tau\""},
    {" pair_modify tail shift mix mixing_rule dispersion_correction ",
     "of pair forces \"truncation\" says how they end, \"tail\" corrects energy and pressure, "
     "\"mixing\" makes unlike pairs"},
    {" momentum zero_momentum zeromomentum cmmotionremover comm_mode comm-mode ",
     "not needed: velocities are drawn without a drift, and integrators without friction conserve "
     "the momentum"},
    {" overlap fs f_s f_s(k,t) intermediate intermediate_scattering_function alpha2 "
     "non_gaussian non_gaussian_parameter ",
     "F_s(k,t), overlap and alpha2 are in the observer \"mean_square_displacement\" (plug-in "
     "analysis)"},
    {" mie mie/cut ", "use the force \"mie\""},
    {" yukawa ", "use the force \"yukawa\""},
    {" morse ", "use the force \"morse\""},
    {" gauss gaussian ", "use the force \"gaussian_core\""},
    {" exp6 buckingham exp-6 buck buck/coul/cut buck/coul/long ", "use the force \"buckingham\""},
    {" soft harmonic_repulsion conservative ",
     "use the force \"soft_dpd\"; with friction and noise: \"dpd\" (plug-in dpd)"},
    {" table pair_table tabulated ",
     "tabulated potentials are the forces \"pair_table\", \"bond_table\", \"angle_table\", "
     "\"dihedral_table\""},
    {" fene fene/expand fenewca fenebond ", "use the force \"bond_fene\""},
    {" cosine cosine/squared cosinesquared ",
     "of angles the forces \"angle_cosine\" and \"angle_cosine_squared\"; of pairs there is a "
     "library of potentials by their names: perrin help potentials"},
    {" charmm multi/harmonic rbtorsionforce ",
     "of dihedrals the forces \"dihedral_periodic\" and \"dihedral_ryckaert_bellemans\""},
    {" periodictorsionforce ", "use the force \"dihedral_periodic\""},
    {" harmonicbond harmonicbondforce ", "use the force \"bond_harmonic\""},
    {" angleharmonic harmonicangleforce ", "use the force \"angle_harmonic\""},
    {" customnonbondedforce custombondforce customangleforce customtorsionforce "
     "customexternalforce python ",
     "formulas are the forces \"pair_formula\", \"bond_formula\", \"angle_formula\", "
     "\"dihedral_formula\" and \"external_formula\"; functions of Python are perrin.PythonForce "
     "(docs/guide/python.md)"},
    {" exclusions special_bonds exclude createexclusionsfrombonds addexception special_pair ",
     "pairs along bonds are left out by \"exclusions\" of \"neighbors\"; weights of others are the "
     "forces \"special_pairs\" and \"special_coulomb\""},
    {" lj/charmm/coul/long lj/gromacs lj/gromacs/coul/gromacs colloid lj/long/coul/long ",
     "as a \"pair_formula\", which `perrin import lammps` writes (docs/guide/import.md); charges "
     "of "
     "coul/long are the force \"ewald\""},
    {" dpd/tstat set_dpd ", "use the force \"dpd_thermostat\", or \"dpd\" (plug-in dpd)"},
    {" dpdconservative ", "use the force \"soft_dpd\""},
    {" dpdlj ", "use the force \"dpd_lj\" (plug-in dpd)"},
    {" harmonic spring ",
     "use the force \"bond_harmonic\" for bonds, \"angle_harmonic\" for angles, \"harmonic_trap\" "
     "for a fixed point"},
    {" collision_detection bond/create bond/break bond/react bond_react reaction reactions "
     "crosslink crosslinking "
     "gelation ",
     "bonds are made and broken by \"dynamic_bonds\" of a job (docs/guide/dynamic-bonds.md)"},
    {" bond bonds ", "bonds are the forces \"bond_harmonic\", \"bond_fene\", \"bond_formula\""},
    {" angle angles bending ",
     "angles are the forces \"angle_harmonic\", \"angle_cosine\", \"angle_formula\""},
    {" dihedral dihedrals torsion torsions ",
     "dihedrals are the forces \"dihedral_periodic\", \"dihedral_opls\", \"dihedral_formula\""},
    {" opls ", "use the force \"dihedral_opls\""},
    {" rb ryckaert ", "use the force \"dihedral_ryckaert_bellemans\""},
    {" gravity field external efield electric linear wallpotential indent periodic addforce "
     "setforce constant drive ",
     "use the force \"constant_force\" (the same force on every particle), or \"external_formula\" "
     "for any other field"},
    {" shapebasedconstraint wall walls wall/lj93 wall/lj126 lj_93 lj93 ",
     "use the force \"lj_wall\", or \"external_formula\" for another potential"},
    {" trap ", "use the force \"harmonic_trap\""},
    {" restraint pull umbrella smd colvars ", "use the force \"group_restraint\""},
    {" spring_self spring/self posre position_restraint ", "use the force \"tether\""},
    {" rigid rigid/small rigid_body virtualsitesrelative ",
     "rigid bodies are \"bodies\" of the job, which integrators and the stage \"monte_carlo\" move "
     "(docs/guide/orientations.md)"},
    {" shake rattle settle constraint constraints lincs rigid_bonds rigid_water addconstraint "
     "distance ",
     "distances are held by \"constraints\" of the job, for bonds and angles by their types "
     "(docs/guide/constraints.md)"},
    {" mc hpmc.integrate.sphere montecarlo monte-carlo hpmc ",
     "use the stage \"monte_carlo\" (plug-in monte_carlo), or for rigid molecules \"metropolis\" "
     "(plug-in metropolis)"},
    {" gcmc grand_canonical muvt ",
     "use \"insertion\" of the stage \"monte_carlo\" (docs/guide/monte-carlo.md)"},
    {" gibbs gibbs_ensemble ",
     "the Gibbs ensemble is \"exchange\": {\"type\": \"gibbs\", …} of \"ensemble\", with stages "
     "\"monte_carlo\" "
     "(docs/guide/ensembles.md)"},
    {" atom/swap swap swaps swap_monte_carlo pivot crankshaft hmc hybrid hybrid_monte_carlo "
     "reptation slithering_snake gca geometric_cluster ",
     "these are moves of the stage \"monte_carlo\" (docs/guide/monte-carlo.md)"},
    {" chemical_potential mu excess_chemical_potential insertion insertions ",
     "the chemical potential is measured by the observer \"widom\", and given to \"insertion\" of "
     "the stage "
     "\"monte_carlo\" (plug-in monte_carlo)"},
    {" eam eam/alloy eam/fs finnis_sinclair sutton_chen embedded_atom embedding density_dependent ",
     "the embedded-atom method is \"many_body_formula\"; many-body DPD is \"mdpd\" (plug-in dpd)"},
    {" gb gay-berne gayberne ellipsoid ",
     "use the force \"gay_berne\" (docs/guide/orientations.md)"},
    {" aniso anisotropic ",
     "use the force \"gay_berne\", \"dipole\", \"dipole_ewald\", \"patchy\", "
     "\"anisotropic_formula\" or \"anisotropic_table\" "
     "(docs/guide/orientations.md)"},
    {" kern-frenkel kern_frenkel patch patches janus ",
     "use the force \"patchy\" (docs/guide/orientations.md)"},
    {" lj/long/dipole/long dipole stockmayer lj/cut/dipole/cut lj/cut/dipole/long dipoles dipolar ",
     "use the force \"dipole_ewald\", or within a cut-off \"dipole\" "
     "(docs/guide/orientations.md)"},
    {" tersoff sw stillinger_weber airebo reaxff mliap ",
     "not supported: potentials of angles between neighbours, and machine-learned ones but as "
     "functions of Python; nearest: \"many_body_formula\""},
    {" run simulation timestep time_step dynamics production equilibration steps ",
     "use the stage \"md\""},
    {" boxresize nvt/sllod deform shear sllod lees_edwards lees-edwards ",
     "deformation and shear are the settings \"deform\" and \"shear\" of a stage \"md\" "
     "(docs/guide/shear.md)"},
    {" create_box create_atoms fcc bcc sc cubic square hex hexagonal crystal ",
     "use the setting \"structure\" of the system \"lattice\""},
    {" polymer polymers melt chain ", "use the system \"chains\""},
    {" read_data create_state_from_gsd data gsd_file read input ", "use the system \"file\""},
    {" gas box ", "use the system \"random\""},
    {" molecule part.add linear_polymer_positions packmol moltemplate solvate solvent mixture star "
     "ring comb dendrimer polymer_brush membrane "
     "lipid lipids protein ",
     "use the system \"parts\": polymers, molecules, membranes and solvents in one box "
     "(docs/guide/starts.md)"},
    {" temper replica_exchange parallel_tempering remd ",
     "replicas that exchange are \"exchange\" of \"ensemble\" (docs/guide/ensembles.md)"},
    {" variable loop if next jump partition addglobalparameter ",
     "values are given by perrin run --set, by \"vary\" of \"ensemble\", and by loops of Python "
     "(docs/guide/python.md)"},
    {" group hoomd.filter.type hoomd.filter.tags region filter tags ",
     "\"groups\" of a job are groups of particles (docs/guide/groups.md)"},
    {" addperparticleparameter ",
     "numbers of each particle are \"attributes\" of the job (docs/guide/attributes.md)"},
    {" thermalize_particle_momenta setvelocitiestotemperature velocity velocities ",
     "\"velocity\" of the job draws velocities of a temperature"},
    {" custom.action updater md.force.custom callback ",
     "functions of Python are perrin.PythonForce and @sim.every(N) (docs/guide/python.md)"},
    {" dpd ", "use the force \"dpd\" (plug-in dpd)"},
    {" context topology operations ", "all of this is the job: perrin help lists its types"},
    {" observables accumulators compute ",
     "what is measured is an observer: perrin help lists them"},
    {" replicate ", "not supported: perrin import lammps writes the copies into a file"},
    {" momentum zeromomentum ",
     "not needed: integrators without friction conserve the momentum, and \"velocity\" draws "
     "velocities without one"},
    {" move ", "use the integrator \"moving\"; particles at rest: \"frozen\""},
    {" aveforce wall/reflect wall/reflecting ", "not supported; walls: the force \"lj_wall\""},
    {" nlist cell tree skin buffer neigh_modify neighbor ",
     "lists of neighbours are the setting \"neighbors\" of a job: \"skin\", \"traversal\" "
     "(docs/guide/commands.md)"},
    {" ave/time nfreq nevery nrepeat trigger stride ",
     "observers have \"stride\", and those that average \"rows_every\""},
    {" ave/correlate correlator ",
     "use the observer \"stress_autocorrelation\" (plug-in analysis)"},
    {" processors mpirun mpi ",
     "several processes: mpirun -np N perrin run (perrin help processes)"},
    {" gpu reference kokkos cuda platform suffix ",
     "the device is \"device\" of a job: \"cuda\" or \"cpu\", or perrin run --device"},
};

/// "md.pair.LJ(…)" of Python is "LJ".
std::string_view last_part(std::string_view word) {
  word = word.substr(0, word.find_first_of("(["));
  const auto dot = word.rfind('.');
  return dot == std::string_view::npos || dot + 1 == word.size() ? word : word.substr(dot + 1);
}

const char* meaning_of(std::string_view word) {
  std::string padded = fmt::format(" {} ", word);
  std::ranges::transform(padded, padded.begin(),
                         [](unsigned char c) { return char(std::tolower(c)); });
  if (padded.find(' ', 1) + 1 != padded.size()) return nullptr;
  const auto found = std::ranges::find_if(
      words, [&](const Word& w) { return w.words.find(padded) != std::string_view::npos; });
  return found == std::end(words) ? nullptr : found->meaning;
}

}  // namespace

const char* shipped_plugin(const std::string& kind, const std::string& type) {
  for (const Shipped& s : shipped)
    if (kind == s.kind && type == s.type) return s.plugin;
  return nullptr;
}

const char* shipped_plugin(const std::string& type) {
  for (const Shipped& s : shipped)
    if (type == s.type) return s.plugin;
  return nullptr;
}

std::string not_built(const std::string& plugin) {
  return fmt::format(
      "Perrin's plug-in {0} has this type but is not loaded; to build it, run scripts/build {0} in "
      "Perrin's source folder",
      plugin);
}

const char* other_name(const std::string& word) {
  if (word.empty() || word.size() > 60) return nullptr;
  const char* meaning = meaning_of(word);
  return meaning ? meaning : meaning_of(last_part(word));
}

}  // namespace perrin
