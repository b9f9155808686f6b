// Trial moves and turns of point dipoles in an Ewald sum, one after another: of pairs that
// corrections know, waves (wave_trials.h), and the moment of all.
#pragma once

#include <memory>

#include "engine/components/coupled_trials.h"
#include "engine/device/buffer.h"
#include "forces/charges/dipole_sum.h"

namespace perrin {

namespace waves {
class WaveTrials;
}

class DipoleTrials final : public CoupledTrials {
 public:
  /// A part of the same force.
  explicit DipoleTrials(DipoleSum& sum);
  ~DipoleTrials() override;

  void begin_trials(StepContext& context) override;
  void add_change(StepContext& context, const TrialMoves& trials) override;
  void follow_trial(StepContext& context, const TrialMoves& trials) override;
  bool takes_long_ways() const override { return true; }

 private:
  DipoleSum& sum_;
  std::unique_ptr<waves::WaveTrials> waves_;
  Buffer<Vec3<double>> moment_;  // of all, and what the last trial changes
  Buffer<Real4> orientation_;    // of the first particle of the last trial, before it
};

}  // namespace perrin
