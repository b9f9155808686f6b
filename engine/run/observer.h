// An Observer is called when due, and writes or measures.
#pragma once

#include <cstdint>
#include <string>

#include "engine/core/archive.h"

namespace perrin {

class Simulation;

class Observer {
 public:
  virtual ~Observer() = default;
  /// Called at every step that is a multiple of this (0: never by step).
  virtual std::int64_t stride() const = 0;
  /// Whether observe() looks at nothing but the simulation's step(), time(), box, totals() and what
  /// follows from them (temperature(), pressure()): then it may be called later, when the particles
  /// have moved on, with what was measured at the step. A GPU does not wait for the host meanwhile.
  /// It is called before checkpoints, errors and the end of the stage.
  virtual bool only_totals() const { return false; }
  /// What of velocities it measures or writes, in the user's words: "velocity" of frames, say.
  /// Overdamped motion has none: a job is refused where it would be called in such a stage.
  virtual std::string needs_velocities() const { return {}; }
  /// True: it goes on with those that particles keep for other stages, and the user is warned.
  virtual bool takes_kept_velocities() const { return false; }
  /// When a stage begins (also after a resume; `resumed` says so): open files. begin() and end()
  /// come with every stage, observe() only in those that the job's "stages" of the observer names.
  virtual void begin(Simulation&, bool /*resumed*/) {}
  /// The particles stand at simulation.step(). Must not change them.
  virtual void observe(Simulation&) = 0;
  /// When a stage ends.
  virtual void end(Simulation&) {}
  virtual void state(Archive&) {}
};

}  // namespace perrin
