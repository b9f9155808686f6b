// An Observer is called when due, and writes or measures.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/error.h"
#include "engine/system/archive.h"

namespace perrin {

class Force;
class Observation;
struct Instant;

class Observer {
 public:
  virtual ~Observer() = default;
  /// Called at every step that is a multiple of this (0: never by step).
  virtual std::int64_t stride() const = 0;
  /// Whether what it measures supposes that it is called at every multiple of its stride: a job
  /// may then say nothing else.
  virtual bool needs_even_steps() const { return false; }
  /// Whether it looks at nothing but what an Instant has (step, time, box, totals and what follows
  /// from them): then observe_totals() is called in place of observe().
  virtual bool only_totals() const { return false; }
  /// What of velocities it measures or writes, in the user's words: "velocity" of frames, say.
  /// Overdamped motion has none: a job is refused where it would be called in such a stage.
  virtual std::string needs_velocities() const { return {}; }
  /// True: it goes on with those that particles keep for other stages, and the user is warned.
  virtual bool takes_kept_velocities() const { return false; }
  /// Why it cannot measure with this force: "has no …". Empty: it can.
  virtual std::string objection(const Force&) const { return {}; }
  /// When a stage begins (also after a resume; `resumed` says so): open files. begin() and end()
  /// come with every stage, observe() only in those that the job's "stages" of the observer names.
  virtual void begin(const Observation&, bool /*resumed*/) {}
  /// The particles stand at Observation::step().
  virtual void observe(const Observation&) {
    throw BugError("an observer of particles needs observe()");
  }
  /// With what was measured at the step, maybe later, when the particles have moved on: a GPU does
  /// not wait for the host meanwhile. In order of the steps, and before checkpoints, errors and the
  /// end of the stage.
  virtual void observe_totals(const Instant&) {
    throw BugError("an observer that says only_totals() needs observe_totals()");
  }
  /// When a stage ends.
  virtual void end(const Observation&) {}
  virtual void state(Archive&) {}
};

}  // namespace perrin
