// Temperatures and pressures that change linearly with the steps: one form for all of them.
//
// In a job, beside "temperature" or "pressure": the keys "final_temperature" or "final_pressure",
// and "ramp_steps". The ramp begins where the stage begins; the step of that is in checkpoints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/components/setup.h"
#include "engine/settings/settings.h"
#include "engine/system/archive.h"

namespace perrin {

/// `from` at step `start`, then linearly to `to`, where it is 1 / inverse_steps steps later, and
/// stays (0: it is there at once).
struct Ramp {
  double from = 0, to = 0, inverse_steps = 0;
  std::int64_t start = 0;

  /// What it is at the end of the step that follows `step` (StepContext::device_step()).
  PERRIN_HD double at(std::uint64_t step) const {
    const double done = double(std::int64_t(step) + 1 - start) * inverse_steps;
    return from + (to - from) * (done < 1 ? done : 1.0);
  }
  /// Its value after this number of steps of the job.
  double after(std::uint64_t steps) const { return at(steps - 1); }
  PERRIN_HD bool constant() const { return inverse_steps == 0; }
};

/// What a job says of it: both, or neither.
struct RampSettings {
  std::optional<double> to;
  std::int64_t steps = 0;

  /// Of a quantity that a job gives in units of `unit`.
  Ramp ramp(double from, double unit, std::int64_t start) const {
    return {unit * from, unit * to.value_or(from), steps > 0 ? 1.0 / double(steps) : 0.0, start};
  }
};

/// The keys of a ramp of "temperature" or "pressure".
template <class D>
void describe_ramp(D& d, RampSettings& s, const std::string& quantity, Check check) {
  d.optional("final_" + quantity, s.to, check,
             quantity + " at the end of a linear ramp over ramp_steps; constant afterwards");
  d.optional("ramp_steps", s.steps, NonNegative{},
             "number of steps of the ramp from " + quantity + " to final_" + quantity);
}

/// Reports a ramp that lacks one of its keys; `prefix`: of the keys, such as "barostat.".
inline void check_ramp(const RampSettings& s, const std::string& quantity, Setup& setup,
                       const std::string& prefix = "") {
  if (s.to.has_value() == (s.steps > 0)) return;
  setup.error(prefix + (s.steps > 0 ? "final_" + quantity : "ramp_steps"),
              "a ramp needs both final_" + quantity + " and ramp_steps");
}

/// Of a ramp's integrator, after its begin(): there `start` is the present step.
inline void archive_ramp_start(Archive& archive, std::int64_t& start) {
  const std::int64_t now = start;
  archive("ramp_start", start);
  archive.require(start >= 0 && start <= now, "ramp_start", "a step that the run has made");
}

}  // namespace perrin
