// What depends on the sums of all charges and dipoles: a uniform background, and the energy of the
// dipole moment in what surrounds the copies of a system, or of a slab.
#pragma once

#include "engine/components/force.h"
#include "engine/device/buffer.h"
#include "forces/attribute_words.h"
#include "forces/charges/ewald_terms.h"

namespace perrin {

class ChargeMoments {
 public:
  explicit ChargeMoments(const EwaldTerms& terms) : terms_(terms) {}
  /// Adds to the output, if there is anything. Device work; allocates at the first call.
  void compute(StepContext& s, const AttributeView<1>& charge, const ForceOutput& output);
  /// As CoupledTrials.
  void begin_trials(StepContext& s, const AttributeView<1>& charge);
  void add_change(StepContext& s, const AttributeView<1>& charge, const TrialMoves& trials);
  void follow_trial(StepContext& s, const TrialMoves& trials);
  void set(const EwaldParameters& parameters) { terms_.parameters = parameters; }

  /// Of all particles.
  struct Moments {
    double charge = 0, x = 0, y = 0, z = 0;
    PERRIN_HD Moments& operator+=(const Moments& b) {
      charge += b.charge, x += b.x, y += b.y, z += b.z;
      return *this;
    }
  };

 private:
  bool depends_on_dipole() const { return terms_.surface_permittivity || terms_.slab; }
  /// Energy · V of the square of the dipole moment, or of its z component.
  double of_dipole() const;
  void sum_up(StepContext& s, const AttributeView<1>& charge);

  EwaldTerms terms_;
  Buffer<Moments> moments_, scratch_;  // moments: of all, and what a trial changes
};

}  // namespace perrin
