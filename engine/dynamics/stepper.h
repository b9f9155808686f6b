// Runs the steps of an integrator: on the CPU a few at a time, on a GPU recorded once and replayed,
// and looks for halts and faults between them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/components/sampling.h"
#include "engine/components/step_plan.h"
#include "engine/components/timings.h"
#include "engine/device/device.h"
#include "engine/device/host_status.h"

namespace perrin {

class Clock;
class Integrator;
class StepContext;
class Decomposition;
class TotalsMeter;
struct RunningStep;

class Stepper {
 public:
  /// Moves the clock and the words of the running step on.
  Stepper(StepContext& context, Clock& clock, RunningStep& running, TotalsMeter& totals);
  ~Stepper();

  /// n steps are about to be run, at once or in portions; `sampling` lives as long.
  void expect(std::int64_t n, const Sampling& sampling);
  /// Outside of steps, in a member of a batch (engine/device/batch.h): forces of the particles as
  /// they are now, by one launch for all members that want theirs. False: this cannot be done, and
  /// forces are still to be computed. Throws RunError if it went wrong.
  bool compute_forces_in_batch();
  /// n of them; throws RunError if one went wrong. The forces are there (ensure_forces()).
  void run(Integrator& integrator, std::int64_t n);
  /// What Sampling::unseen left out.
  void complete();
  /// Recorded steps are void.
  void forget() { recorded_for_ = nullptr; }
  /// The step has been set from outside (a checkpoint).
  void restart();

 private:
  void run_on_cpu(Integrator& integrator, std::uint64_t target);
  void run_on_gpu(Integrator& integrator, std::uint64_t target);
  void rebalance();
  void step_unrecorded(Integrator& integrator);
  bool can_be_recorded(const Integrator& integrator) const;
  bool forces_can_be_recorded() const;
  void replay(Integrator& integrator, std::uint64_t target);
  void recover(Integrator& integrator);
  /// Of `count` steps after so many.
  StepPlan plan_of(std::uint64_t at, int count) const;
  void launch(Integrator& integrator, const StepPlan& plan);
  int steps_of_a_recording() const;
  void set_device_step();
  bool recordings_hold(const Integrator& integrator) const;
  /// Recorded steps that are alike but for their number.
  struct Portion {
    StepPlan plan;
    int times;
  };
  Portion next_portion(std::uint64_t at, std::uint64_t end, bool sampled) const;
  const Recording& recording(Integrator& integrator, const StepPlan& plan);
  bool samples_ahead() const;
  void settle();
  void sample(std::uint64_t step);
  void note_sample(std::uint64_t step);
  void tell();
  HostStatus::Seen look();
  void check();
  std::int64_t version() const;
  bool shares_are_old() const;
  Decomposition& decomposition() const;

  StepContext& s_;
  Clock& clock_;
  RunningStep& running_;
  TotalsMeter& totals_;
  std::unique_ptr<HostStatus> host_status_;  // of a GPU
  /// Of a step and of `several_`. Not of more counts: a graph that runs now and then takes longer
  /// to start than the steps that it saves. A step in which the box is due (BoxMover::stride()) is
  /// one by itself. Where slow parts of forces act in every n-th step, several are whole cycles.
  std::vector<std::pair<StepPlan, Recording>> recordings_;
  Recording forces_;  // compute_forces_in_batch(); holds as long as those
  int several_ = 0;
  const Integrator* recorded_for_ = nullptr;
  std::int64_t recorded_version_ = 0;

  const Sampling* sampling_ = nullptr;  // of expect()
  bool complete_ = true;                // all processes have all particles
  Integrator* unsettled_ = nullptr;     // that has made steps since it was asked to settle()
  std::int64_t asked_ = 0;              // steps of the last expect()
  std::int64_t stops_ = 0;  // as many were asked for twice: where recordings end; 0: anywhere
  std::uint64_t sampled_step_ = 0;   // the last one
  bool sampled_unrecorded_ = false;  // as recordings want it: see step_unrecorded()

  /// On a GPU: the shares of the parts, as they were when a step last ran unrecorded, and how long
  /// that is ago.
  struct {
    double neighbors = 0, forces = 0;
    WallClock age;
  } shares_;
  std::uint64_t shares_step_ = 0;
  std::uint64_t looked_step_ = 0;  // at how long GPUs work
};

}  // namespace perrin
