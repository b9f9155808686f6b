// The log of a run from Python: perrin.log beside its outputs, as the program keeps it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "app/job_files.h"
#include "engine/job/job.h"
#include "engine/run/run.h"
#include "engine/run/run_log.h"

namespace perrin::python {

class SessionLog {
 public:
  /// `command`: what the log says was called. `without_outputs`: a job that writes no files has a
  /// log, too.
  SessionLog(const Job& job, std::string command, bool without_outputs);
  SessionLog(const SessionLog&) = delete;

  /// For RunParts; nullptr: there is none.
  RunLog* lines() { return kept_ ? &lines_ : nullptr; }
  /// Before the first step of this session. Throws UserError where the file cannot be opened: the
  /// run may go on without it.
  void begin(Run& run);
  /// The time of the run is that from begin_steps() to end_steps(): what Python does between is
  /// none of it.
  void begin_steps() { since_ = Clock::now(); }
  void end_steps();
  /// For checkpoints: the times up to now.
  MoreFacts facts(Run& run);

  void failed(const std::string& what);
  /// What comes last: the times of the parts, and where a run that is not complete has stopped.
  /// `goes_on`: with other settings (Simulation.set).
  void end(Run& run, bool complete, bool goes_on);

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const;
  std::uint64_t steps(Run& run) const { return run.simulation().step() - first_step_; }

  const Job& job_;
  std::string command_;
  bool kept_;
  RunLog lines_;
  std::uint64_t first_step_ = 0;
  double seconds_ = 0;  // of the calls that have ended
  Clock::time_point since_ = Clock::time_point::max();
};

}  // namespace perrin::python
