// Integrator "frozen": particles that stay where they are, as a wall of particles does.
#pragma once

#include <optional>

#include "engine/components/integrator.h"
#include "engine/settings/settings.h"

namespace perrin {

struct FrozenSettings {
  std::optional<double> timestep = std::nullopt;
};

template <class D>
void describe(D& d, FrozenSettings& s) {
  d.example(R"({"type": "frozen", "timestep": 0.005})");
  d.optional("timestep", s.timestep, Positive{},
             "time step (time); default: that of the other integrators. Beside fire there is none");
}

/// Their velocities are 0. They exert forces; those on them are a wall's.
class Frozen : public Integrator {
 public:
  explicit Frozen(const FrozenSettings& settings) : dt_(settings.timestep.value_or(0)) {}

  void begin(StageContext& context) override;
  void steps(StepContext& context, int n) override;
  double timestep() const override { return dt_; }  // 0: that of others
  Motion motion() const override;
  std::string needs_fixed_group() const override {
    return "stops particles, whose kinetic energy would be lost";
  }
  bool prescribes_motion() const override { return true; }
  bool takes_impulses() const override { return true; }

 private:
  double dt_;
};

}  // namespace perrin
