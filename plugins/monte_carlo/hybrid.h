// Hybrid Monte Carlo: a trial is a piece of a trajectory.
//
// Velocities are drawn from Maxwell's distribution, some steps of velocity Verlet are made, and
// where these lead is accepted by the change of the total energy. Since velocity Verlet is
// reversible and keeps volumes in phase space, the temperature is exact with every time step. A
// trajectory that goes astray (a particle moves too far in a step, or beyond a wall, or a bond is
// too long) does so backwards, too, and is not accepted.
// S. Duane, A. D. Kennedy, B. J. Pendleton, D. Roweth, Phys. Lett. B 195, 216 (1987); B. Mehlig,
// D. W. Heermann, B. M. Forrest, Phys. Rev. B 45, 679 (1992).
#pragma once

#include "engine/device/buffer.h"
#include "engine/settings/settings.h"
#include "move.h"
#include "rng/keyed.h"

namespace perrin::monte_carlo {

struct HybridSettings {
  double timestep = 0.01;
  std::int64_t steps = 10, every = 1;
};

template <class D>
void describe(D& d, HybridSettings& s) {
  d.required("timestep", s.timestep, Positive{}, "time step of velocity Verlet (time)");
  d.optional("steps", s.steps, Positive{}, "steps of a trial");
  d.optional("every", s.every, Positive{}, "sweeps between trials");
}

class Hybrid final : public Move {
 public:
  Hybrid(const HybridSettings& settings, const std::string& group)
      : settings_(settings), timestep_(settings.timestep), group_name_(group) {}

  std::string name() const override { return "hybrid"; }
  void begin(StageContext& context) override;
  void sweep(StepContext& context, double kt) override;
  TrialCounts counts() const override { return counts_; }
  double size() const override { return timestep_; }
  double largest_size() const override { return 100 * settings_.timestep; }
  void set_size(double timestep) override { timestep_ = timestep; }
  std::string size_text() const override;
  std::vector<MoveSize> sizes() const override { return {{"hybrid_timestep", timestep_}}; }
  Coupled coupled() const override { return Coupled::short_ways; }
  std::string why_none_tried() const override {
    return "the stage is shorter than the sweeps between trials";
  }
  std::string why_none_accepted() const override {
    return "try a smaller time step, or a start without overlaps";
  }
  void state(Archive& archive) override;

 private:
  struct End {
    bool well;  // false: it led where a simulation would be stopped
    double energy;
  };
  double energy(StepContext& context);
  End run(StepContext& context);

  HybridSettings settings_;
  double timestep_;
  std::string group_name_;
  GroupOnDevice group_;
  TrialCounts counts_;
  Buffer<Position> position_;  // [id], before the trial
  Buffer<Image> image_;        // likewise
  Buffer<Real4> force_;        // by place, with energies
};

}  // namespace perrin::monte_carlo
