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
    {"observer", "chain_size", "analysis"},
    {"force", "dpd", "dpd"},
    {"force", "dpd_thermostat", "dpd"},
    {"force", "dpd_lj", "dpd"},
    {"force", "periodic_shear", "dpd"},
    {"integrator", "groot_warren", "dpd"},
    {"integrator", "dpd_split", "dpd"},
    {"integrator", "langevin", "langevin"},
    {"integrator", "brownian", "langevin"},
    {"stage", "metropolis", "metropolis"},
    {"stage", "neutron_slab", "neutron_slab"},
    {"force", "exponential_repulsion", "example_force"},
};

struct Word {
  std::string_view words;  // with blanks around each, in lower case
  const char* meaning;
};

constexpr Word words[] = {
    {" nve verlet leapfrog leap_frog leap-frog md_vv velocityverlet constantvolume ",
     "constant energy is the integrator \"velocity_verlet\""},
    {" nvt canonical thermostat csvr v-rescale vrescale v_rescale temp/csvr ",
     "constant temperature is the integrator \"bussi\" (velocity rescaling), \"nose_hoover\" or "
     "\"langevin\""},
    {" berendsen temp/rescale andersen ",
     "it does not give the canonical ensemble or is not here; constant temperature is the "
     "integrator \"bussi\", \"nose_hoover\" or \"langevin\""},
    {" npt nph constantpressure barostat press/berendsen mtk c-rescale parrinello-rahman ",
     "constant pressure is the key \"barostat\" of the integrators \"bussi\", \"nose_hoover\", "
     "\"langevin\" or \"velocity_verlet\" (docs/guide/pressure.md)"},
    {" nose-hoover nosehoover nose_hoover_chain nhc nvt_nh ",
     "it is the integrator \"nose_hoover\""},
    {" bd baoab sd langevin_dynamics fix_langevin overdamped overdampedviscous brownian_dynamics ",
     "Langevin dynamics is the integrator \"langevin\", overdamped dynamics \"brownian\" (plug-in "
     "langevin)"},
    {" minimize minimise minimization minimisation minimizer em energy_minimization cg lbfgs "
     "steep steepest_descent sd_min ",
     "a minimiser of the energy is the integrator \"fire\" of a stage \"md\""},
    {" msd mean_squared_displacement diffusion displacement ",
     "it is the observer \"mean_square_displacement\" (plug-in analysis)"},
    {" rdf gr g(r) g_r pair_correlation radial_distribution radial_distribution_function ",
     "it is the observer \"rdf\" (plug-in analysis)"},
    {" sk s(k) sq s(q) structurefactor static_structure_factor ",
     "it is the observer \"structure_factor\" (plug-in analysis)"},
    {" vacf velocity_correlation ",
     "it is the observer \"velocity_autocorrelation\" (plug-in analysis)"},
    {" viscosity green_kubo stress_correlation ",
     "a viscosity is measured by the observer \"stress_autocorrelation\" (plug-in analysis) or by "
     "a sheared stage (docs/guide/shear.md)"},
    {" gyration rg radius_of_gyration end_to_end ree ",
     "it is the observer \"chain_size\" (plug-in analysis)"},
    {" steinhardt q6 psi6 hexatic bond_orientational_order ",
     "it is the observer \"bond_order\" (plug-in analysis)"},
    {" cluster clusters ", "it is the observer \"cluster_size\" (plug-in analysis)"},
    {" density_profile chunk ave/chunk ",
     "it is the observer \"profile\" or \"radial_profile\" (plug-in analysis)"},
    {" dump traj trajectories xyz h5md frames dcd lammpstrj positions ",
     "frames are written by the observers \"trajectory\" (H5MD), \"gsd\" and \"xtc\"; perrin "
     "convert makes extended XYZ and LAMMPS data of them"},
    {" log thermo_style energies energy output print ",
     "energies, temperature and pressure are written by the observer \"thermo\""},
    {" restart save ", "what a run goes on from is written by the observer \"checkpoint\""},
    {" lj lj/cut lj_cut lj12-6 lennardjones lennard-jones lj126 12-6 ",
     "it is the force \"lennard_jones\"; purely repulsive: \"wca\""},
    {" lj_repulsive repulsive weeks_chandler_andersen soft_sphere ", "it is the force \"wca\""},
    {" coulomb coul coul/cut coul/long ewald pppm pme electrostatics charge charges dsf ",
     "there are no long-range charges (Ewald sums, PME); screened charges are \"yukawa\", and any "
     "form by types of particles is a \"pair_formula\""},
    {" debye debye_huckel screened_coulomb dlvo ", "it is the force \"yukawa\""},
    {" gauss gaussian ", "it is the force \"gaussian_core\""},
    {" exp6 exp-6 ", "it is the force \"buckingham\""},
    {" soft harmonic_repulsion conservative ",
     "it is the force \"soft_dpd\"; with friction and noise \"dpd\" (plug-in dpd)"},
    {" table tabulated ",
     "tables are the forces \"pair_table\", \"bond_table\", \"angle_table\", \"dihedral_table\""},
    {" fene ", "it is the force \"bond_fene\""},
    {" harmonic spring ",
     "it is the force \"bond_harmonic\" between bonded particles, \"angle_harmonic\" of angles, "
     "\"harmonic_trap\" to a place"},
    {" bond bonds ", "bonds are the forces \"bond_harmonic\", \"bond_fene\", \"bond_formula\""},
    {" angle angles bending ",
     "angles are the forces \"angle_harmonic\", \"angle_cosine\", \"angle_formula\""},
    {" dihedral dihedrals torsion torsions ",
     "dihedrals are the forces \"dihedral_periodic\", \"dihedral_opls\", \"dihedral_formula\""},
    {" opls ", "it is the force \"dihedral_opls\""},
    {" rb ryckaert ", "it is the force \"dihedral_ryckaert_bellemans\""},
    {" gravity field external efield addforce setforce constant drive ",
     "a constant force (gravity) is the force \"constant_force\"; any other field is an "
     "\"external_formula\""},
    {" wall walls wall/lj93 wall/lj126 lj_93 lj93 ",
     "a wall is the force \"lj_wall\", others are an \"external_formula\""},
    {" trap tether restraint ", "it is the force \"harmonic_trap\""},
    {" rigid rigid_body shake rattle settle constraint constraints lincs ",
     "there are no rigid bodies and constraints in molecular dynamics; the stage \"metropolis\" "
     "moves rigid molecules by Monte Carlo (plug-in metropolis)"},
    {" mc montecarlo monte_carlo monte-carlo gcmc ",
     "it is the stage \"metropolis\" (plug-in metropolis)"},
    {" gb gay-berne gayberne eam tersoff sw airebo reaxff mliap ",
     "there are no anisotropic, many-body and learned potentials"},
    {" run simulation dynamics production equilibration steps ", "it is the stage \"md\""},
    {" deform shear sllod lees_edwards lees-edwards ",
     "a box is deformed or sheared by the keys \"deform\" and \"shear\" of a stage \"md\" "
     "(docs/guide/shear.md)"},
    {" fcc bcc sc cubic square hex hexagonal crystal ",
     "it is the \"structure\" of the system \"lattice\""},
    {" polymer polymers melt chain ", "it is the system \"chains\""},
    {" read_data data gsd_file read input ", "it is the system \"file\""},
    {" gas box packmol ", "it is the system \"random\""},
};

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
      "Perrin's plug-in {0} has it, which is not loaded: scripts/build {0} in the checkout builds "
      "it",
      plugin);
}

const char* other_name(const std::string& word) {
  if (word.empty() || word.size() > 40) return nullptr;
  std::string padded = " " + word + " ";
  std::ranges::transform(padded, padded.begin(),
                         [](unsigned char c) { return char(std::tolower(c)); });
  if (padded.find(' ', 1) + 1 != padded.size()) return nullptr;
  const auto found = std::ranges::find_if(
      words, [&](const Word& w) { return w.words.find(padded) != std::string_view::npos; });
  return found == std::end(words) ? nullptr : found->meaning;
}

}  // namespace perrin
