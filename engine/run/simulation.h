// The state of a running simulation and the step loop over it.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/faults.h"
#include "engine/core/particles.h"
#include "engine/run/degrees_of_freedom.h"
#include "engine/run/force.h"
#include "engine/run/integrator.h"
#include "neighbor/move_check.h"

namespace perrin {

class Neighbors;
class NeighborTuner;
struct NeighborSettings;
struct NeighborChoices;

/// Sums over all particles at one instant. Tensors: xx yy zz xy xz yz.
struct Totals {
  double potential = 0;                    // with tail corrections
  double kinetic = 0;                      // 1/2 sum m v²
  std::array<double, 6> virial{};          // sum of r ⊗ f, tail corrections on the diagonal
  std::array<double, 6> kinetic_tensor{};  // sum of m v ⊗ v
  Vec3<double> momentum{};
};

/// Wall-clock seconds per part of the work, for the table at the end of a run. On CUDA, sampled:
/// now and then one step runs unrecorded with the host waiting after each part.
struct Timings {
  double neighbors = 0, forces = 0, integration = 0, output = 0;
};

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

  const Device& device() const { return particles.device(); }
  DegreesOfFreedom degrees_of_freedom;  // of the integrator that prepare() was given
  Particles particles;
  std::vector<std::unique_ptr<Force>> forces;
  std::unique_ptr<Neighbors> neighbors;  // nullptr where no force has a range
  const std::uint64_t seed;
  double k_boltzmann = 1;  // energy per unit of temperature in the job's units
  Timings timings;

  /// Completed steps since the beginning of the job, and the simulated time they took.
  std::uint64_t step() const { return step_; }
  double time() const { return time_; }
  /// The number of the running step, readable by kernels: recorded steps must not capture step().
  const std::uint64_t* device_step() const { return device_step_.data() + recorded_step_; }
  FaultSink fault_sink() { return {fault_.data(), device_step(), device().halt_word()}; }
  /// Before integrator.begin() and by advance(): which integrator is about to act. The degrees of
  /// freedom are counted for it. Forces with friction or noise depend on it; forces computed for
  /// another time step are void.
  void prepare(const Integrator& integrator);
  /// Time step of the integrator that prepare() was given; 0: none yet, or a minimiser.
  double timestep() const { return timestep_; }
  /// False: the integrator applies the friction and noise of pairs by itself, forces leave them
  /// out.
  bool friction_in_forces() const { return friction_in_forces_; }
  /// *device_step() plus this is the number of the instant that compute() is asked for: a running
  /// step computes the forces at its end. For keys of noise; may be captured by a recorded step.
  std::uint64_t instant() const { return in_step_ ? 1 : 0; }
  /// A particle that moves further than this in one step is a fault (length).
  double max_displacement() const { return max_displacement_; }

  /// For Integrator::steps(): the next of several steps begins; device_step() moves on.
  void next_step();
  // For integrators, in the order in which a step calls them; device work only.
  /// For the kernel that moves the particles: it passes this to drift(). Where nobody asks for it,
  /// update_neighbors() looks at the positions itself.
  MoveCheck check_moves();
  /// With `may_exchange` views and addresses of particle arrays taken before are void: where particles
  /// are sorted in every step, that saves a copy of everything.
  void update_neighbors(bool may_exchange = false);
  void compute_forces();
  void update_forces() {
    update_neighbors();
    compute_forces();
  }
  /// Forces at the current positions, computed if they are not there yet. For begin(); may wait.
  void ensure_forces();

  /// Runs n steps and throws RunError if one went wrong.
  void advance(Integrator& integrator, std::int64_t n);
  /// How pairs are found, and why so; empty without a neighbour list.
  std::string neighbor_report() const;
  /// Energies, virial, momentum of the current state (cached until the next step). Does not touch
  /// the forces that the integrator uses.
  const Totals& totals();
  /// Of the kinetic energy, in the job's units, without that of a centre of mass whose velocity
  /// nothing changes.
  double temperature();
  /// Pressure tensor xx yy zz xy xz yz, and its mean diagonal.
  std::array<double, 6> pressure_tensor();
  double pressure();
  /// After changing particles from the host, or when another integrator takes over.
  void invalidate();

  /// Throws RunError naming step, particle and quantity if a kernel reported a fault.
  void check_faults();
  /// Restored are the same bits. Where the settings that lists depend on, or the device, are
  /// others, lists begin anew with every particle where it was, and forces are computed afresh.
  void state(Archive& archive);

 private:
  static constexpr int steps_per_recording = 8;
  void advance_steps(Integrator& integrator, std::int64_t n);
  void use_neighbors(const NeighborSettings& settings, const NeighborChoices* choices = nullptr);
  void state_of_neighbors(Archive& archive);
  void run_steps(Integrator& integrator, int n);
  Recording& recorded(Integrator& integrator, int n);
  void finish_halted_step(Integrator& integrator);
  template <class F>
  void timed(double& seconds, F&& work);

  std::uint64_t step_ = 0;
  double time_ = 0;
  struct {
    std::uint64_t step = 0;
    double time = 0, timestep = 0;
  } clock_;  // where the present time step began
  double max_displacement_ = 0;
  Buffer<std::uint64_t> device_step_;  // of every step of a recording
  std::int64_t recorded_step_ = 0;
  Buffer<std::uint32_t> progress_;  // which of them has moved the particles last
  Buffer<Fault> fault_;
  Buffer<Real4> measured_force_;
  Buffer<Real> measured_virial_;
  Totals totals_;
  bool totals_valid_ = false, forces_valid_ = false, sampling_ = false;

  Recording one_step_, many_steps_;  // steps_per_recording of them
  const Integrator* recorded_for_ = nullptr;
  std::int64_t recorded_version_ = 0;

  std::unique_ptr<const NeighborSettings> neighbor_settings_;  // those of the job
  // neighbors.traversal "auto": windows of steps are timed.
  std::unique_ptr<NeighborTuner> tuner_;
  Ranges ranges_;
  double longest_displacement_ = 0;
  struct {
    double seconds = 0;
    std::int64_t steps = 0;
  } window_;

  double timestep_ = 0;
  bool friction_in_forces_ = true, in_step_ = false;
  bool exchanges_ = false;  // the steps of this integrator leave the particle arrays exchanged
};

}  // namespace perrin
