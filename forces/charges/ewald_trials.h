// Trial moves of charges in an Ewald sum, one after another. A trial changes S(k) by
// δ(k) = Σ_i q_i [exp(i k·r'_i) - exp(i k·r_i)], of the charges that it moves alone, and the energy
// of waves by Σ_k A(k) [Re(S* δ) + |δ|²/2] over both halves of space (the sums of
// forces/charges/ewald_sum.h). S(k) follows each trial that is made, and is summed up anew before
// the first one of a sweep, so that rounding errors do not add up.
#pragma once

#include "engine/components/coupled_trials.h"
#include "engine/components/trial_moves.h"
#include "engine/device/buffer.h"
#include "forces/charges/charge_moments.h"
#include "forces/charges/charge_pairs.h"
#include "forces/charges/ewald_sum.h"

namespace perrin {

class EwaldTrials final : public CoupledTrials {
 public:
  /// Parts of the same force.
  EwaldTrials(ChargePairs& pairs, EwaldSum& waves, ChargeMoments& moments)
      : pairs_(pairs), sum_(waves), moments_(moments) {}

  void begin_trials(StepContext& context) override;
  void add_change(StepContext& context, const TrialMoves& trials) override;
  void follow_trial(StepContext& context, const TrialMoves& trials) override;
  bool takes_long_ways() const override { return !sum_.terms().surface_permittivity; }

 private:
  ChargePairs& pairs_;
  EwaldSum& sum_;
  ChargeMoments& moments_;
  waves::Waves waves_{};
  Buffer<double> factor_;  // [re, im][wave]: S(k) times the weight, zeros behind the last one
  Buffer<Real> change_;    // [re, im][wave]: δ(k) of the last trial
  Buffer<double> energy_;  // [group of waves]: what it changes
};

}  // namespace perrin
