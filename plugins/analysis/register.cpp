#include "register.h"

#include "bond_order.h"
#include "bonds.h"
#include "chain_dynamics.h"
#include "chain_size.h"
#include "cluster_size.h"
#include "coordination.h"
#include "group_distance.h"
#include "orientational_correlation.h"
#include "orientational_order.h"
#include "patch_bonds.h"
#include "pressure_profile.h"
#include "profile.h"
#include "radial_profile.h"
#include "rdf.h"
#include "restraint.h"
#include "structure_factor.h"
#include "time_correlation.h"

namespace perrin {

void register_analysis(Registry& registry) {
  analysis::register_profile(registry);
  analysis::register_radial_profile(registry);
  analysis::register_pressure_profile(registry);
  analysis::register_structure_factor(registry);
  analysis::register_rdf(registry);
  analysis::register_time_correlations(registry);
  analysis::register_bond_order(registry);
  analysis::register_cluster_size(registry);
  analysis::register_coordination(registry);
  analysis::register_chain_size(registry);
  analysis::register_chain_dynamics(registry);
  analysis::register_bonds(registry);
  analysis::register_restraint(registry);
  analysis::register_group_distance(registry);
  analysis::register_orientational_order(registry);
  analysis::register_orientational_correlation(registry);
  analysis::register_patch_bonds(registry);
}

}  // namespace perrin
