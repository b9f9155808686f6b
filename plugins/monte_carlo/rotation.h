// Particles with orientations are turned where they are, and the turn is accepted by Metropolis's
// rule. J. A. Barker, R. O. Watts, Chem. Phys. Lett. 3, 144 (1969).
//
// A turn about a random axis is as likely as the one back, whatever the orientation was.
#pragma once

#include "engine/settings/settings.h"
#include "move.h"
#include "trial_energies.h"
#include "trial_grid.h"
#include "trial_tally.h"

namespace perrin {
class Setup;
}

namespace perrin::monte_carlo {

struct RotationSettings {
  double angle = 0.3;
  std::int64_t trials = 1;
};

template <class D>
void describe(D& d, RotationSettings& s) {
  d.required("angle", s.angle, Between{1e-6, 3.1415926535897932},
             "a trial turns a particle by up to this about a random axis, in two dimensions about "
             "z (radians)");
  d.optional("trials", s.trials, Between{1, 1000000}, "trials of each particle in a sweep");
}

/// Reports what does not fit the job. `group`: of the stage.
void check_rotation(const std::string& group, Setup& setup);

class RotationMove final : public Move {
 public:
  RotationMove(const RotationSettings& settings, const std::string& group)
      : trials_(settings.trials), angle_(settings.angle), group_name_(group) {}

  std::string name() const override { return "rotation"; }
  void begin(StageContext& context) override;
  void sweep(StepContext& context, double kt) override;
  TrialCounts counts() const override { return tally_.counts(); }
  std::string way() const override { return grid_.way(); }
  double size() const override { return angle_; }
  double largest_size() const override;
  void set_size(double angle) override { angle_ = angle; }
  std::string size_text() const override;
  std::vector<MoveSize> sizes() const override { return {{"rotation_angle", angle_}}; }
  Coupled coupled() const override { return Coupled::short_ways; }
  std::string why_none_tried() const override {
    return "all particles of the group belong to rigid bodies, which \"molecule\" turns";
  }
  std::string why_none_accepted() const override { return "try a smaller angle"; }
  void state(Archive& archive) override;

 private:
  void fit(const StepContext& context);

  std::int64_t trials_;
  double angle_;
  std::string group_name_;
  TrialGrid grid_;
  GroupOnDevice group_;
  TrialEnergies energies_;
  Buffer<Real4> turn_;            // [active cell]: quaternion
  Buffer<float> log_of_uniform_;  // [active cell]
  TrialTally tally_;              // [active cell]
};

}  // namespace perrin::monte_carlo
