// Integrator "moving": particles whose motion is prescribed, as those of a sliding or shaken wall,
// a piston or a probe.
#pragma once

#include <optional>

#include "engine/components/integrator.h"
#include "engine/device/buffer.h"
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
  Vec3<double> velocity{0, 0, 0};
  std::optional<OscillationSettings> oscillation;
};

template <class D>
void describe(D& d, MovingSettings& s) {
  d.required("timestep", s.timestep, Positive{}, "time step (time); that of the other integrators");
  d.required("velocity", s.velocity, Any{}, "velocity along x, y, z (length/time)");
  d.optional("oscillation", s.oscillation, Any{},
             "displacement amplitude sin(2 pi t / period) in addition; t: since the stage began");
}

/// x(t) = x(0) + velocity t + amplitude sin(2 pi t / period), whatever the forces are. The work
/// that this does is -sum of F · v dt over these particles, by the trapezoidal rule.
class Moving : public Integrator {
 public:
  explicit Moving(const MovingSettings& settings) : settings_(settings) {}

  void begin(Simulation& simulation) override;
  void end() override { work_ = {}, context_ = nullptr; }
  void steps(StepContext& context, int n) override;
  double timestep() const override { return settings_.timestep; }
  Motion motion() const override;
  bool prescribes_motion() const override { return true; }
  GroupMask thermal() const override { return {nobody_.data(), 1}; }
  void measure_work(StepContext& context, double* work) override;
  void state(Archive& archive) override;

 private:
  void take_velocity();

  MovingSettings settings_;
  StepContext* context_ = nullptr;  // that it began in, …
  GroupMask group_;                 // … to move these
  std::int64_t start_ = -1;         // step at which the stage began; -1: not yet
  ParticleArray<double> work_;      // by place
  Buffer<double> scratch_;
  Buffer<std::uint8_t> nobody_;  // [id]: 0
};

}  // namespace perrin
