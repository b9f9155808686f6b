// Runs the steps of an integrator: on the CPU a few at a time, on a GPU recorded once and replayed,
// and looks for halts and faults between them.
#pragma once

#include <cstdint>

#include "engine/core/device.h"

namespace perrin {

class Integrator;
class Simulation;

class Stepper {
 public:
  explicit Stepper(Simulation& simulation) : s_(simulation) {}

  /// n steps; throws RunError if one went wrong. With neighbors.traversal "auto" they are timed,
  /// and the way in which pairs are found may change.
  void advance(Integrator& integrator, std::int64_t n);
  /// Recorded steps are void.
  void forget() { recorded_for_ = nullptr; }
  /// The step has been set from outside (a checkpoint).
  void restart();

 private:
  void run(Integrator& integrator, std::int64_t n);
  void run_on_cpu(Integrator& integrator, std::uint64_t target);
  void run_on_gpu(Integrator& integrator, std::uint64_t target);
  void replay(Integrator& integrator, std::int64_t n);
  void recover(Integrator& integrator);
  void launch(Integrator& integrator, int n);
  void set_device_step();
  Recording& recorded(Integrator& integrator, int n);

  Simulation& s_;
  Recording one_step_, many_steps_;  // RunningStep::most of them
  const Integrator* recorded_for_ = nullptr;
  std::int64_t recorded_version_ = 0;

  /// Of "auto": steps under the same settings.
  struct {
    double seconds = 0;
    std::int64_t steps = 0;
  } window_;
};

}  // namespace perrin
