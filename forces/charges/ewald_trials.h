// Trial moves of charges in an Ewald sum, one after another: of pairs that corrections know, waves
// (wave_trials.h), and the dipole moment of all.
#pragma once

#include <memory>

#include "engine/components/coupled_trials.h"
#include "forces/charges/charge_moments.h"
#include "forces/charges/charge_pairs.h"
#include "forces/charges/ewald_sum.h"

namespace perrin {

namespace waves {
class WaveTrials;
}

class EwaldTrials final : public CoupledTrials {
 public:
  /// Parts of the same force.
  EwaldTrials(ChargePairs& pairs, EwaldSum& waves, ChargeMoments& moments);
  ~EwaldTrials() override;

  void begin_trials(StepContext& context) override;
  void add_change(StepContext& context, const TrialMoves& trials) override;
  void follow_trial(StepContext& context, const TrialMoves& trials) override;
  bool takes_long_ways() const override { return !sum_.terms().surface_permittivity; }

 private:
  ChargePairs& pairs_;
  EwaldSum& sum_;
  ChargeMoments& moments_;
  std::unique_ptr<waves::WaveTrials> waves_;
};

}  // namespace perrin
