// A Stage is one part of a job: "md" runs an integrator; a plug-in may bring a whole run of another kind.
#pragma once

#include "engine/archive.h"

namespace perrin {

class Run;

class Stage {
 public:
  virtual ~Stage() = default;
  /// Runs to its end, or until run.stop_requested(). Returns true when it has reached its end.
  virtual bool run(Run& run) = 0;
  /// True: the stage needs the job's system (particles and forces).
  virtual bool needs_system() const { return true; }
  /// Units of progress, for the progress line: done of total.
  virtual void state(Archive&) {}
};

}  // namespace perrin
