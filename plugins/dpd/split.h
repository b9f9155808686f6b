// Integrator "dpd_split": keeps the temperature at large time steps and conserves momentum exactly.
//
// One step is B A B O: half a kick and a drift, new forces, half a kick (velocity Verlet of the
// conservative forces f alone), then friction and noise of all pairs at once, at fixed positions,
// as an update of the velocities,
//
//     v' = v + (u - dt G (v + u / (4 m) + s)) / m,     u = sqrt(2 k_B T dt) B theta,   B B^T = G,
//
// where G is the friction matrix of the pairs, (G v)_i = sum_j gamma w² (e · v_ij) e. Every term is
// a sum over pairs of opposite impulses, so the momentum stays, up to the rounding of sums, without
// an order of the pairs as Shardlow's splitting needs (T. Shardlow, SIAM J. Sci. Comput. 24 (2003)
// 1267).
//
// The quarter: for one mass and g = dt G / m the update without s maps the covariance C of the
// velocities to (1 - g) C (1 - g) + 2 (k_B T / m) (1 - g/4) g (1 - g/4), whose fixed point is (k_B
// T / m) (1 + g²/16 + …); the explicit update (no quarter) has (k_B T / m) (1 + g/2 + …). Stable
// while g < 2.
//
// The shift s = correction · dt/6 (f(t - dt) - f(t)) / m: velocity Verlet samples exp(-H'/k_B T) of
// a modified H' = H + dt²/12 v·U''·v - …, in which v of particles that repel each other varies less
// along their distance than elsewhere. Friction of pairs that sees v itself finds too little motion
// just where it acts, and heats the rest: the excess that every such splitting has (B. Leimkuhler,
// X. Shang, J. Comput. Phys. 280 (2015) 72; X. Shang, SIAM J. Sci. Comput. 43 (2021) A1929 compare
// them). Friction in proportion to dH'/dv = m v + dt²/6 U'' v, that is correction 1, leaves
// exp(-H'/k_B T) as it is. Then <v²> is below k_B T / m by dt² <U''>/6, and positions have their
// bath's temperature; between 0 and 1 lies the correction with which <v²> is right: 0.66 for the
// standard fluid (docs/guide/dpd.md).
//
// Of a group, beside frozen or moving particles, only the velocities of its own are updated: by all
// of their pairs, in which the others have the velocities that are prescribed. These are the same
// equations of fewer variables, and friction with what moves beside them; the others take the
// momentum, as a wall does.
#pragma once

#include <vector>

#include "engine/components/integrator.h"
#include "engine/device/buffer.h"
#include "engine/settings/settings.h"
#include "engine/system/particle_array.h"
#include "pair_bath.h"

namespace perrin {
class Registry;
}

namespace perrin::dpd {

struct SplitSettings {
  double timestep = 0.04, correction = 0.66;
};
template <class D>
void describe(D& d, SplitSettings& s) {
  d.required("timestep", s.timestep, Positive{}, "time step (time)");
  d.optional(
      "correction", s.correction, Between{0, 1},
      "correction of the velocities in the friction: 0: none (plain splitting); 1: static averages "
      "have the bath's temperature; the default preserves the kinetic temperature of a DPD fluid");
}

class Split final : public Integrator {
 public:
  explicit Split(const SplitSettings& settings)
      : dt_(settings.timestep), correction_(settings.correction) {}
  /// Throws UserError where no force has friction of pairs.
  void begin(StageContext& context) override;
  void end() override { before_ = {}; }
  void steps(StepContext& context, int n) override;
  double timestep() const override { return dt_; }
  bool applies_pair_friction() const override { return true; }

 private:
  double dt_, correction_;
  std::vector<PairBath*> baths_;
  ParticleArray<Real4> before_;  // forces of the last step, by id: sorting is within a step
  Buffer<Real4> shift_;          // of the velocities that the friction sees, by memory index
};

void register_split(Registry& registry);

}  // namespace perrin::dpd
