// A Stage is one part of a job: "md" runs an integrator; a plug-in may bring a whole run of another
// kind.
#pragma once

#include "engine/system/archive.h"

namespace perrin {

struct Instant;
class Integrator;
class Run;

class Stage {
 public:
  virtual ~Stage() = default;
  /// Before run(), and before state() restores it where the run is resumed.
  virtual void begin(Run&, bool /*resumed*/) {}
  /// Runs to its end, or until run.stop_requested(). Returns true when it has reached its end.
  virtual bool run(Run& run) = 0;
  /// After run(), when its state has been saved, or after a failure: begin() may follow again.
  virtual void end(Run&) {}
  /// True: the stage needs the job's system (particles and forces).
  virtual bool needs_system() const { return true; }
  /// The totals of an instant, of its steps, are known, since observers looked at them.
  virtual void totals_are_known(Run&, const Instant&) {}
  /// What moves the particles, for initial velocities and to judge overlaps at the start; nullptr:
  /// none.
  virtual const Integrator* integrator() const { return nullptr; }
  /// True: several processes share its work. Else each of them does the whole of it: that is right,
  /// and no faster than one.
  virtual bool shares_work() const { return false; }
  /// State to keep in checkpoints: at least how far run() has come.
  virtual void state(Archive&) {}
};

}  // namespace perrin
