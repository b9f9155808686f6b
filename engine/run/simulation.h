// The state of a running simulation, and the calls that a step makes.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/particles.h"
#include "engine/run/clock.h"
#include "engine/run/degrees_of_freedom.h"
#include "engine/run/force.h"
#include "engine/run/integrator.h"
#include "engine/run/running_step.h"
#include "engine/run/sampling.h"
#include "engine/run/timings.h"
#include "engine/run/totals_meter.h"
#include "neighbor/move_check.h"

namespace perrin {

class BoxMover;
class Deformation;
struct Flow;
class Neighbors;
class NeighborTuner;
class Stepper;
struct NeighborSettings;
struct NeighborChoices;

class Simulation {
 public:
  /// The forces decide the range of the neighbour list and the padding of non-periodic axes.
  /// Throws UserError where the box is too small for them.
  Simulation(const Device& device, Configuration configuration,
             std::vector<std::unique_ptr<Force>> forces, std::uint64_t seed,
             const NeighborSettings& neighbor_settings);
  Simulation(const Device& device, Configuration configuration,
             std::vector<std::unique_ptr<Force>> forces, std::uint64_t seed = 0);
  ~Simulation();

  /// The device given, but halted by this simulation alone (Device::apart()).
  const Device& device() const { return particles.device(); }
  DegreesOfFreedom degrees_of_freedom;  // of the integrator that prepare() was given
  Particles particles;
  std::vector<std::unique_ptr<Force>> forces;
  std::unique_ptr<Neighbors> neighbors;  // nullptr where no force has a range
  const std::uint64_t seed;
  double k_boltzmann = 1;                  // energy per unit of temperature in the job's units
  std::vector<std::int64_t> stage_steps;   // at which each stage of the job began; -1: not yet
  std::vector<std::string> stage_remarks;  // what each has warned of at its end; empty: nothing
  Timings timings;
  Deformation* deformation = nullptr;  // of the running stage's box
  Integrator* bath = nullptr;  // whose heat is among the totals: the running stage's; or none

  /// Completed steps and the simulated time they took, since the beginning of the job (begin_at()).
  std::uint64_t step() const { return clock_.step(); }
  double time() const { return clock_.time(); }
  /// The time after so many steps, with the time step of the present ones.
  double time_after(std::uint64_t steps) const { return clock_.time_after(steps); }
  /// Before the first step: they are counted from here.
  void begin_at(std::uint64_t step, double time);
  /// A particle that moves further than this in one step is a fault (length).
  double max_displacement() const { return max_displacement_; }
  /// Before integrator.begin() and by advance(): which integrator is about to act. The degrees of
  /// freedom are counted for it. Forces computed for another time step are void.
  void prepare(const Integrator& integrator);
  /// Time step of the integrator that prepare() was given; 0: none yet, or a minimiser.
  double timestep() const { return timestep_; }

  // What a step calls; device work only. integrators/particle_steps.h does it for most integrators.
  /// For the kernel that moves the particles: it passes this to drift(). Where nobody asks for it,
  /// update_neighbors() looks at the positions itself.
  MoveCheck check_moves();
  /// With `may_exchange` views and addresses of particle arrays taken before are void: where
  /// particles are sorted in every step, that saves a copy of everything.
  void update_neighbors(bool may_exchange = false);
  void compute_forces();
  /// Between these two: what the integrator that prepare() was given, or the stage, changes of the
  /// box.
  void move_box();
  /// Before the particles move (BoxMover::turn_box()).
  void turn_box();
  /// What the box's flow does to particles (BoxMover::flow()); nullptr: there is none.
  const Flow* flow() const;
  /// Does the box change in the steps that are about to be made?
  bool moves_box() const { return box_mover_ != nullptr; }
  /// For a BoxMover, when it has changed the box. Device work.
  void follow_box();
  /// Longest range of the forces.
  double range() const { return ranges_.longest(); }
  /// The next of several steps begins; device_step() moves on.
  void next_step();
  /// Where kernels report what must not happen.
  FaultSink fault_sink() { return {running_.fault.data(), device_step(), device().halt_word()}; }

  /// The number of the running step, readable by kernels: recorded steps must not capture step().
  const std::uint64_t* device_step() const { return running_.number.data() + running_.index; }
  /// In a recorded step, after the forces: no kernel that may still run on the GPU writes ids or
  /// device_step(). There is no search for neighbours in the step, or the condition under which
  /// lists are built comes before the forces, and whatever is recorded after it waits for it.
  bool order_stands() const;
  /// *device_step() plus this is the number of the instant that Force::compute() is asked for: a
  /// running step computes the forces at its end. For keys of noise; recorded steps may capture it.
  std::uint64_t instant() const { return running_.inside ? 1 : 0; }
  /// The time of that instant, for forces that depend on it.
  DeviceTime device_time() const { return clock_.device_time(device_step(), instant()); }

  /// Forces at the current positions, computed if they are not there yet. For begin(); may wait.
  void ensure_forces();
  /// Runs n steps and throws RunError if one went wrong. Totals are sampled as `sampling` says, and
  /// told when the device is waited for, also before an error is thrown.
  void advance(Integrator& integrator, std::int64_t n, const Sampling& sampling = {});
  /// After steps with Sampling::unseen: the particles of all processes are here. All of them call
  /// it.
  void complete();
  /// After changing particles from the host, or when another integrator takes over.
  void invalidate();
  /// Throws RunError naming step, particle and quantity if a kernel reported a fault, in whichever
  /// process.
  void check_faults();

  /// How pairs are found, and why so; empty without a neighbour list.
  std::string neighbor_report() const;
  /// Energies, virial, momentum of the current state (cached until the next step). Does not touch
  /// the forces that the integrator uses.
  const Totals& totals() { return totals_.measure(*this); }
  /// Each particle's share of the virial of the current state, in memory order, as in ForceOutput:
  /// together totals().virial less tail corrections. Valid until the next step.
  const Buffer<Real>& particle_virials() {
    totals();
    return totals_.complete_virials();
  }
  /// Of the kinetic energy, in the job's units, without that of a centre of mass whose velocity
  /// nothing changes; in overdamped motion that of the bath, in a minimisation 0.
  double temperature();
  /// The same of totals after so many steps.
  double temperature_of(const Totals& totals, std::uint64_t steps) const;
  /// This moment, for observers of totals.
  Instant now() { return totals_.now(*this); }
  /// Where the integrator moves no velocities: k_B T of what stands in for them, after this
  /// number of steps.
  double kt_without_velocities(std::uint64_t steps) const;
  /// Pressure tensor xx yy zz xy xz yz, and its mean diagonal.
  std::array<double, 6> pressure_tensor() {
    return perrin::pressure_tensor(totals(), particles.box);
  }
  double pressure() { return perrin::pressure(totals(), particles.box); }

  /// Restored are the same bits. Where the settings that lists depend on, or the device, are
  /// others, lists begin anew with every particle where it was, and forces are computed afresh.
  void state(Archive& archive);

 private:
  friend class Stepper;
  void find_partners();
  void use_neighbors(const NeighborSettings& settings, const NeighborChoices* choices = nullptr);
  void state_of_neighbors(Archive& archive);
  bool box_is_due() const;
  template <class F>
  void timed(double& seconds, F&& work);

  Clock clock_;
  RunningStep running_;
  TotalsMeter totals_;
  std::unique_ptr<Stepper> stepper_;
  double max_displacement_ = 0, longest_displacement_ = 0;  // the latter: the box allows it
  double timestep_ = 0;
  bool forces_valid_ = false;
  BoxMover* box_mover_ = nullptr;
  const Integrator* integrator_ = nullptr;  // that prepare() was given
  double box_reserve_ = 0;

  Ranges ranges_;
  std::unique_ptr<const NeighborSettings> neighbor_settings_;  // those of the job
  std::unique_ptr<NeighborTuner> tuner_;                       // neighbors.traversal "auto"
};

}  // namespace perrin
