// What an observer sees of a simulation between two steps.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/components/degrees_of_freedom.h"
#include "engine/components/instant.h"
#include "engine/components/stage_log.h"
#include "engine/system/group.h"
#include "engine/system/particles.h"

namespace perrin {

class DynamicBonds;
class Force;
class Integrator;
class RigidBodies;
class Simulation;
class StepContext;

/// A view: it may be copied and kept as long as the simulation lives, and shows the present.
class Observation {
 public:
  explicit Observation(Simulation& simulation);

  /// Of all processes, where observe() is called. In memory order, which anything that measures
  /// may change (now(), particle_virials(), ask_forces()).
  const Particles& particles() const;
  const Device& device() const { return particles().device(); }

  /// Completed steps and the simulated time they took, since the beginning of the job.
  std::uint64_t step() const;
  double time() const;
  /// This moment with its totals, temperature and pressure. May wait.
  Instant now() const;
  /// Each particle's share of the virial, in memory order, as in ForceOutput: together the virial
  /// of now() less tail corrections. Valid until the next step. May wait.
  const Buffer<Real>& particle_virials() const;

  /// Of the job, in its order.
  std::vector<const Force*> forces() const;
  /// Calls this while Particles::force() and torques have the whole forces, of which slow parts act
  /// in some steps alone. May wait.
  void with_whole_forces(const std::function<void()>& look) const;
  /// Calls this with what forces are given, for who asks them for more than totals, such as
  /// energies of trials (engine/components/trial_moves.h). It puts back what it changes.
  void ask_forces(const std::function<void(StepContext&)>& ask) const;

  /// Of the running stage; nullptr: it has none.
  const Integrator* integrator() const;
  const DegreesOfFreedom& degrees_of_freedom() const;
  /// Particles whose velocities count in kinetic energy, momentum and pressure.
  GroupMask thermal() const;
  /// Where the integrator moves no velocities: k_B T of what stands in for them.
  double kt_without_velocities() const;
  /// Energy per unit of temperature, in the job's units.
  double k_boltzmann() const;
  /// Whether the stage deforms the box ("deform", "shear"). Particles::box_state() says whether it
  /// moves at all.
  bool box_deforms() const;

  const RigidBodies* bodies() const;          // nullptr: there are none
  const DynamicBonds* dynamic_bonds() const;  // nullptr: bonds stay as they are
  const StageLog& stages() const;             // of the job
  /// How pairs are found, and why so; empty without a neighbour list.
  std::string neighbor_report() const;

 private:
  Simulation* simulation_;
};

}  // namespace perrin
