// Integrator "moving": particles whose motion is prescribed, as those of a sliding or shaken wall,
// a piston or a probe.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "engine/components/integrator.h"
#include "engine/device/buffer.h"
#include "engine/formula/vector_of_time.h"
#include "engine/settings/settings.h"
#include "engine/system/particle_array.h"

namespace perrin {

struct OscillationSettings {
  Vec3<double> amplitude;
  double period = 1;
};
template <class D>
void describe(D& d, OscillationSettings& s) {
  d.required("amplitude", s.amplitude, Any{}, "largest displacement along x, y, z (length)");
  d.required("period", s.period, Positive{}, "time");
}

struct MovingSettings {
  double timestep = 0.005;
  std::vector<Json> velocity;
  std::optional<OscillationSettings> oscillation;
};

template <class D>
void describe(D& d, MovingSettings& s) {
  d.required("timestep", s.timestep, Positive{}, "time step (time); that of the other integrators");
  d.example("{\"timestep\": 0.005, \"velocity\": [\"0.2*sin(3*t)\", 0, 0]}");
  d.required("velocity", s.velocity, Any{},
             "velocity along x, y, z (length/time): numbers, or formulas of the time t since the "
             "stage began; perrin help formula");
  d.optional("oscillation", s.oscillation, Any{},
             "displacement amplitude sin(2 pi t / period) in addition; t: since the stage began");
}

/// x(t) = x(0) + integral of the velocity + amplitude sin(2 pi t / period), whatever the forces
/// are; the integral of a formula over a step is taken by Simpson's rule. The work that this does
/// is -sum of F · v dt over these particles, by the trapezoidal rule.
class Moving : public Integrator {
 public:
  Moving(const MovingSettings& settings, formula::VectorOfTime velocity)
      : settings_(settings), velocity_(std::move(velocity)) {}

  void begin(StageContext& context) override;
  void end() override { work_ = {}, context_ = nullptr; }
  void steps(StepContext& context, int n) override;
  double timestep() const override { return settings_.timestep; }
  Motion motion() const override;
  bool prescribes_motion() const override { return true; }
  std::string needs_fixed_group() const override {
    return "prescribes velocities, so that the kinetic energy of particles would be lost";
  }
  GroupMask thermal() const override { return {nobody_.data(), 1}; }
  void measure_work(StepContext& context, double* work) override;
  void state(Archive& archive) override;

 private:
  void take_velocity();
  struct Path path(const std::array<formula::ProgramView, 3>& formula) const;

  MovingSettings settings_;
  formula::VectorOfTime velocity_;
  std::array<Buffer<formula::Instruction>, 3> code_;  // of its formulas
  StepContext* context_ = nullptr;                    // that it began in, …
  GroupMask group_;                                   // … to move these
  // Step at which the stage began (-1: not yet), or the last of those with another time step; and
  // the time since the stage began that it was then.
  std::int64_t start_ = -1;
  double before_ = 0;
  ParticleArray<double> work_;  // by place
  Buffer<double> scratch_;
  Buffer<std::uint8_t> nobody_;  // [id]: 0
};

}  // namespace perrin
