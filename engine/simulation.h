// The state of a running simulation and the step loop over it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/faults.h"
#include "engine/force.h"
#include "engine/integrator.h"
#include "engine/particles.h"

namespace perrin {

class Neighbors;

/// Sums over all particles at one instant. Virial and kinetic tensors: xx yy zz xy xz yz.
struct Totals {
  double potential = 0;            // with tail corrections
  double kinetic = 0;              // 1/2 sum m v²
  std::array<double, 6> virial{};  // sum of r ⊗ f, tail correction included on the diagonal
  std::array<double, 6> kinetic_tensor{};  // sum of m v ⊗ v
  Vec3<double> momentum{};
};

/// Wall-clock seconds per part of the work, for the table at the end of a run.
struct Timings {
  double neighbors = 0, forces = 0, integration = 0, output = 0;
};

class Simulation {
 public:
  /// `forces` decide the range of the neighbour list and the padding of non-periodic axes.
  Simulation(const Device& device, Configuration configuration,
             std::vector<std::unique_ptr<Force>> forces, std::uint64_t seed, double skin = 0);
  ~Simulation();

  const Device& device() const { return particles.device(); }
  Particles particles;
  std::unique_ptr<Neighbors> neighbors;
  std::vector<std::unique_ptr<Force>> forces;
  const std::uint64_t seed;
  int degrees_of_freedom = 0;  // dimension · (N - 1) unless a component says otherwise
  double k_boltzmann = 1;      // energy per unit of temperature in the job's units
  Timings timings;

  /// Completed steps since the beginning of the job, and the time they took.
  std::uint64_t step() const { return step_; }
  double time() const { return time_; }
  /// The number of the running step, readable by kernels: recorded steps must not capture step().
  const std::uint64_t* device_step() const { return device_step_.data(); }
  FaultSink fault_sink() { return {fault_.data(), device_step_.data()}; }

  // For integrators, in the order in which a step calls them; device work only.
  void update_neighbors();
  void compute_forces();
  /// Both of the above.
  void update_forces() {
    update_neighbors();
    compute_forces();
  }

  /// Runs n steps and throws RunError if one went wrong.
  void advance(Integrator& integrator, std::int64_t n);
  /// Energies, virial, momentum of the current state (cached until the next step). Does not
  /// touch the forces that the integrator uses.
  const Totals& totals();
  double temperature() { return 2 * totals().kinetic / (degrees_of_freedom * k_boltzmann); }
  /// Pressure tensor xx yy zz xy xz yz, and its mean diagonal.
  std::array<double, 6> pressure_tensor();
  double pressure();
  /// After changing particles from the host (a restart, a new stage).
  void invalidate();

  /// Throws RunError naming step, particle and quantity if a kernel reported a fault.
  void check_faults();
  void state(Archive& archive);

 private:
  void run_step(Integrator& integrator);
  std::uint64_t step_ = 0;
  double time_ = 0;
  Buffer<std::uint64_t> device_step_;
  Buffer<Fault> fault_;
  Buffer<Real4> measured_force_;
  Buffer<Real> measured_virial_;
  Totals totals_;
  bool totals_valid_ = false, forces_valid_ = false;
  Integrator* recorded_for_ = nullptr;
  Recording recording_;
};

}  // namespace perrin
