// Completed steps and simulated time.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/base/real.h"
#include "engine/system/archive.h"

namespace perrin {

/// The time of an instant, for kernels: recorded steps must not capture time(). What it holds stays
/// true as long as the time step does.
struct DeviceTime {
  const std::uint64_t* step;  // StepContext::device_step()
  std::uint64_t instant, origin_step;
  double origin_time, timestep;
  PERRIN_HD double operator()() const {
    return origin_time + double(*step + instant - origin_step) * timestep;
  }
};

/// Time is counted from where the time step last changed: its bits must not depend on how a run is
/// cut into calls.
class Clock {
 public:
  std::uint64_t step() const { return step_; }
  double time() const { return time_; }
  /// Before the first step: where steps and time are counted from.
  void begin(std::uint64_t step, double time) {
    step_ = step, time_ = time;
    origin_ = {step, time, 0};
  }
  /// Of the steps from here on; 0 for those that take no time.
  void set_timestep(double timestep) {
    if (timestep != origin_.timestep) origin_ = {step_, time_, timestep};
  }
  void set_step(std::uint64_t step) {
    step_ = step;
    time_ = time_after(step);
  }
  /// After this number of steps, the present time step being theirs.
  double time_after(std::uint64_t step) const {
    return origin_.time + double(step - origin_.step) * origin_.timestep;
  }
  DeviceTime device_time(const std::uint64_t* step, std::uint64_t instant) const {
    return {step, instant, origin_.step, origin_.time, origin_.timestep};
  }
  void state(Archive& archive) {
    archive("step", step_);
    // Steps are counted in signed numbers elsewhere, and must stay exact in a double.
    archive.require(step_ < std::uint64_t(1) << 53, "step", "below 2^53");
    archive("time", time_);
    archive("clock", origin_);
    archive.require(
        origin_.step <= step_ && std::isfinite(origin_.time) && std::isfinite(origin_.timestep),
        "clock", "of this step or an earlier one, with finite times");
  }

 private:
  std::uint64_t step_ = 0;
  double time_ = 0;
  struct {
    std::uint64_t step = 0;
    double time = 0, timestep = 0;
  } origin_;  // where the present time step began
};

}  // namespace perrin
