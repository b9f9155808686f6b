// An Integrator moves the particles one step.
#pragma once

#include <string>

#include "engine/core/archive.h"
#include "engine/core/momentum.h"

namespace perrin {

class Simulation;

class Integrator {
 public:
  virtual ~Integrator() = default;
  /// Before the first step of a stage (also after a resume): sizes of buffers, forces at the start.
  virtual void begin(Simulation&) {}
  /// One step. Device work only (no allocation, no waiting): on CUDA it is recorded once and
  /// replayed.
  virtual void step(Simulation&) = 0;
  /// n steps, for a recording; by default one after the other. An integrator may join the end of a
  /// step to the beginning of the next one, with the same bits; it calls Simulation::next_step()
  /// between them.
  virtual void steps(Simulation&, int n);
  virtual double timestep() const = 0;
  /// How far a particle typically goes along an axis in one step (length, root mean square); 0: not
  /// known. By default what the present velocities say. Waits for the device.
  virtual double typical_displacement(const Simulation&) const;
  /// False: step() is called from the host every time (a minimiser that looks at its result).
  virtual bool recordable() const { return true; }
  /// True when nothing is left to do (a minimiser that has converged): the stage ends. Asked
  /// whenever finish_stride() steps of the stage are done, and at no other moment, so that the same
  /// job ends at the same step; steps from there to the next such moment should change nothing.
  virtual bool finished(Simulation&) { return false; }
  /// 0: finished() is never asked. On CUDA the host waits every time.
  virtual std::int64_t finish_stride() const { return 0; }
  /// For the console, when the stage has ended: "converged (…)". Empty: nothing to say.
  virtual std::string report(Simulation&) { return {}; }
  /// Which velocities it moves, for the count of the degrees of freedom.
  virtual Motion motion() const { return {}; }
  /// Energy given to the particles by a heat bath since the stage began; total energy minus this
  /// is the conserved quantity.
  virtual double heat(Simulation&) { return 0; }
  virtual void state(Archive&) {}
  /// True: step() applies the friction and noise of pair thermostats itself; such forces then leave
  /// them out of compute() (Simulation::friction_in_forces).
  virtual bool applies_pair_friction() const { return false; }
};

}  // namespace perrin
