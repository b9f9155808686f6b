// What a step sees of a simulation: its particles, pairs and forces, the running step, and the
// calls that a step makes. Forces, integrators and box movers are given it in place of the whole.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/components/clock.h"
#include "engine/components/degrees_of_freedom.h"
#include "engine/components/force.h"
#include "engine/components/running_step.h"
#include "engine/components/slow_forces.h"
#include "engine/components/step_meetings.h"
#include "engine/components/timings.h"
#include "engine/system/group.h"
#include "engine/system/particles.h"
#include "neighbor/move_check.h"

namespace perrin {

class BoxMover;
class Constraints;
class Integrator;
class RigidBodies;
struct Flow;
class Neighbors;

class StepContext {
 public:
  StepContext(const StepContext&) = delete;
  StepContext& operator=(const StepContext&) = delete;

  /// Halted by this simulation alone (Device::apart()).
  const Device& device() const { return particles_.device(); }
  Particles& particles() { return particles_; }
  const Particles& particles() const { return particles_; }
  const std::vector<std::unique_ptr<Force>>& forces() { return forces_; }
  std::vector<const Force*> forces() const;
  /// nullptr where no force has a range.
  Neighbors* neighbors() { return neighbors_.get(); }
  const Neighbors* neighbors() const { return neighbors_.get(); }
  /// nullptr: there are none.
  RigidBodies* bodies() { return bodies_.get(); }
  const RigidBodies* bodies() const { return bodies_.get(); }
  Constraints* constraints() { return constraints_.get(); }  // likewise
  const Constraints* constraints() const { return constraints_.get(); }
  std::uint64_t seed() const { return seed_; }
  Timings& timings() { return timings_; }
  const Timings& timings() const { return timings_; }

  /// Of the integrator that Simulation::prepare() was given, or of the one that runs (group()).
  const DegreesOfFreedom& degrees_of_freedom() const { return degrees_of_freedom_; }
  /// Counts them anew, of these particles, before any force is known: some have come or gone.
  void count_degrees_of_freedom(const Configuration& now);
  /// Of all integrators together, whichever runs.
  const DegreesOfFreedom& degrees_of_freedom_of_all() const {
    return exchanged_ ? exchanged_->degrees_of_freedom : degrees_of_freedom_;
  }

  /// Completed steps and the simulated time they took, since the beginning of the job.
  std::uint64_t step() const { return clock_.step(); }
  double time() const { return clock_.time(); }
  /// A particle that moves further than this in one step is a fault (length).
  double max_displacement() const { return max_displacement_; }
  /// Of the integrator that Simulation::prepare() was given; 0: none yet, or a minimiser.
  double timestep() const { return timestep_; }
  /// Energy per unit of temperature, in the job's units.
  double k_boltzmann() const { return k_boltzmann_; }
  /// Longest range of the forces.
  double range() const { return ranges_.longest(); }

  /// What the running integrator moves: all particles but the sites of rigid bodies, unless its
  /// stage has several integrators.
  /// Passes of integrators/particle_steps.h leave out all others; other loops of an integrator
  /// must.
  const GroupMask& group() const { return group_; }
  /// Particles whose velocities count in kinetic energy, momentum and pressure.
  GroupMask thermal() const;

  // What a step calls; device work only. integrators/particle_steps.h does it for most integrators.
  /// For the kernel that moves the particles: it passes this to drift(). Where nobody asks for it,
  /// update_neighbors() looks at the positions itself.
  MoveCheck check_moves();
  /// With `may_exchange` views and addresses of particle arrays taken before are void: where
  /// particles are sorted in every step, that saves a copy of everything.
  void update_neighbors(bool may_exchange = false);
  /// The same, and lists are built whatever has moved: the order in memory is then that of the
  /// positions alone. Not in recorded steps.
  void renew_neighbors();
  /// Slow parts as the running step has them (slow_forces()).
  void compute_forces();
  /// Between these two: what the integrator, or the stage, changes of the box.
  void move_box();
  /// Before the particles move (BoxMover::turn_box()).
  void turn_box();
  /// The next of several steps begins; device_step() moves on.
  void next_step();

  /// What the box's flow does to particles (BoxMover::flow()); nullptr: there is none.
  const Flow* flow() const;
  /// Does the box change in the steps that are about to be made?
  bool moves_box() const { return box_mover_ != nullptr; }
  /// The box changes in steps whose number is a multiple of this (BoxMover::stride()).
  std::int64_t box_stride() const;
  /// In which steps of the stage slow parts of forces act.
  const SlowForces& slow_forces() const { return slow_; }

  /// For a BoxMover, when it has changed the box. Device work.
  void follow_box();

  /// Where kernels report what must not happen.
  FaultSink fault_sink() {
    return {running_.fault.data() + (of_trial_ ? 1 : 0), device_step(),
            of_trial_ ? nullptr : device().halt().word()};
  }
  /// From here on faults are noted and end nothing, for steps that can be taken back. Not in
  /// recorded steps.
  void begin_trial();
  /// They end the run again. Was one noted, in whichever process? Waits.
  bool end_trial();
  /// Throws RunError naming step, particle and quantity if a kernel reported a fault, in whichever
  /// process.
  void check_faults();

  /// The number of the running step, readable by kernels: recorded steps must not capture step().
  const std::uint64_t* device_step() const { return running_.number.data() + running_.index; }
  /// In a recorded step, after the forces: no kernel that may still run on the GPU writes ids or
  /// device_step(). There is no search for neighbours in the step, or the condition under which
  /// lists are built comes before the forces, and whatever is recorded after it waits for it.
  bool order_stands() const;
  /// *device_step() plus this is the number of the instant that Force::compute() is asked for: a
  /// running step computes the forces at its end. For keys of noise; recorded steps may capture it.
  std::uint64_t instant() const { return running_.inside() ? 1 : 0; }
  /// The time of that instant, for forces that depend on it.
  DeviceTime device_time() const { return clock_.device_time(device_step(), instant()); }

  // Several integrators in one stage (engine/dynamics/group_integrators.h).
  /// What of this is the own of one of them while it runs.
  struct OfIntegrator {
    GroupMask group;
    DegreesOfFreedom degrees_of_freedom;
    std::int64_t step_of_recording = 0;
  };
  void exchange(OfIntegrator& own);
  /// Launches a pass of the running integrator, perhaps together with another's.
  void run(const GroupPass& pass) {
    meetings_ != nullptr ? meetings_->meet(pass) : pass.run(*this, pass, nullptr);
  }
  /// Steps begin in which integrators wait for each other there; nullptr: they have ended.
  void set_meetings(StepMeetings* meetings);

  /// Of the running stage: whose heat is among the totals, and what deforms its box; or nullptr.
  Integrator* bath() const { return bath_; }
  BoxMover* deformation() const { return deformation_; }
  /// Where the integrator moves no velocities: k_B T of what stands in for them, after this
  /// number of steps.
  double kt_without_velocities(std::uint64_t steps) const;

 protected:
  /// Axes that are not periodic are padded for the longest range of the forces and this skin.
  StepContext(const Device& device, Configuration configuration,
              std::vector<std::unique_ptr<Force>> forces, std::uint64_t seed, double skin);
  ~StepContext();

  DegreesOfFreedom degrees_of_freedom_;
  Particles particles_;
  std::vector<std::unique_ptr<Force>> forces_;
  std::unique_ptr<Neighbors> neighbors_;
  std::unique_ptr<RigidBodies> bodies_;
  std::unique_ptr<Constraints> constraints_;
  const std::uint64_t seed_;
  Timings timings_;

  Clock clock_;
  RunningStep running_;
  Ranges ranges_;
  double max_displacement_ = 0;
  double timestep_ = 0, k_boltzmann_ = 1;
  const Integrator* integrator_ = nullptr;  // that Simulation::prepare() was given
  BoxMover* box_mover_ = nullptr;           // deformation(), or the integrator's
  Integrator* bath_ = nullptr;
  BoxMover* deformation_ = nullptr;
  SlowForces slow_;
  bool slow_in_full_ = false;  // for who looks at the forces

 private:
  bool of_trial_ = false;  // begin_trial()

  bool is_done_by_another(StepMeeting meeting) {
    return meetings_ != nullptr && !meetings_->meet(meeting);
  }
  bool box_is_due() const;
  Real slow_weight() const;
  template <class F>
  void timed(double& seconds, F&& work);

  GroupMask group_;
  OfIntegrator* exchanged_ = nullptr;  // while one of several runs: has what is of all
  StepMeetings* meetings_ = nullptr;
  MoveCheck check_;                 // of all integrators …
  std::int64_t checked_step_ = -1;  // … in this step of a recording
};

}  // namespace perrin
