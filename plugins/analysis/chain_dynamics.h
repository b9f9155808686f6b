// Observer "chain_dynamics": how chains move: displacements of beads and of centres, Rouse modes,
// the end-to-end vector.
#pragma once

#include "engine/components/topology_user.h"
#include "multiple_tau.h"
#include "time_correlation.h"
#include "ways.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct ChainDynamicsSettings : CorrelationSettings {
  ChainDynamicsSettings() { file = "chain_dynamics.h5"; }
  std::string group = "all";
  std::int64_t chains = 1000;
  std::int32_t inner = 5;
  std::vector<std::int32_t> modes;
  bool remove_drift = false;
};
template <class D>
void describe(D& d, ChainDynamicsSettings& s) {
  describe_correlation(d, s);
  d.optional("group", s.group, Any{},
             "group of particles, which stays the same: chains that are wholly in it count");
  d.optional("chains", s.chains, NonNegative{},
             "largest number of chains, evenly spaced; 0: all. Each takes 384 bytes per level of "
             "the correlator for its centre, for its ends, for each mode, and twice for each inner "
             "bead");
  d.optional("inner", s.inner, Positive{},
             "number of beads in the middle of a chain for g1 and g2");
  d.optional("modes", s.modes, Positive{}, "numbers of Rouse modes; empty: the first five");
  d.optional("remove_drift", s.remove_drift, Any{},
             "subtract the motion of the centre of mass of all particles");
}

/// Linear molecules of N beads each, all beads alike, whatever their mass.
///
/// Columns by lag: g1, mean square displacement of the inner beads; g2, the same relative to the
/// centre of their chain; g3, that of the centre (K. Kremer, G. S. Grest, J. Chem. Phys. 92, 5057
/// (1990)). rouse_modes by mode and lag, <X_p(t) · X_p(0)> of
///
///     X_p = 1/N sum over i = 1 … N of r_i cos(p π (i - 1/2) / N)
///
/// (P. H. Verdier, J. Chem. Phys. 45, 2118 (1966)), and end_to_end, <R(t) · R(0)>. Each is a mean
/// over chains. /parameters/perrin/modes has the numbers p.
class ChainDynamics final : public CorrelationObserver, public TopologyUser {
 public:
  ChainDynamics(const ChainDynamicsSettings& settings, Setup& setup);
  bool follows_topology() const override { return false; }

 private:
  void sample(const Observation& seen) override;
  std::vector<double> row(const Box& box) override;
  void constants(const io::Node& root) override;
  void forget() override;
  void own_sums(Archive& archive) override;
  bool follows_deformation() const override { return false; }

  bool remove_drift_;
  std::int64_t chains_ = 0, beads_ = 0, first_inner_ = 0, inner_ = 0;
  std::vector<std::int32_t> modes_;
  std::vector<double> cosines_;  // [mode][bead], over N
  Followed followed_;            // the beads of a chain from end to end, chain by chain
  Ways ways_;                    // of inner beads and centres
  MultipleTau vectors_;          // modes and ends; the displacements are in correlator_
};

void register_chain_dynamics(Registry& registry);

}  // namespace perrin::analysis
