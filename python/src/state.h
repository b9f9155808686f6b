// What Python sees of a simulation: copies by id in double precision, and views of the engine's own
// arrays in memory order.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "engine/dynamics/present_attributes.h"
#include "engine/dynamics/simulation.h"
#include "engine/system/orientations.h"

namespace perrin::python {

namespace nb = nanobind;

/// Three numbers of each particle, from Python: any strides, converted to double.
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;

/// Who may use a session: one thread of the process that made it, while it runs.
class Use {
 public:
  void begin();
  void end() { running_ = false; }
  bool running() const { return running_; }
  bool of_this_process() const;
  /// Throws RunError for another thread while it runs, and for a child of the process: it has
  /// neither the threads nor the GPU of its parent.
  void check() const;

 private:
  const int process_ = this_process();
  static int this_process();
  std::atomic<bool> running_{false};
  std::thread::id runner_;
};

/// 1 of "cuda:1".
int cuda_index(const Device& device);
/// Of the CUDA devices that of this simulation is the calling thread's from here on.
void select(const Device& device);

/// A simulation at rest: between two steps, or in the call of a PythonForce, after which it is
/// closed and refuses everything.
class State {
 public:
  /// `owner` keeps the simulation alive, for views; `present` outlives the state.
  State(Simulation& simulation, const PresentAttributes& present, nb::handle owner, const Use& use)
      : context_(&simulation),
        simulation_(&simulation),
        present_(&present),
        owner_(owner),
        use_(&use) {}
  /// Of the call of a force, after this number of steps.
  State(StepContext& context, const PresentAttributes& present, nb::handle owner,
        std::uint64_t instant)
      : context_(&context), present_(&present), owner_(owner), instant_(instant) {}
  void close() { context_ = nullptr, simulation_ = nullptr; }
  bool within_call() const { return !use_; }
  /// Throws RunError where it is closed.
  StepContext& context() const;

  std::uint64_t step() const;
  double time() const;
  nb::object positions(bool wrapped) const;  // [particle, xyz] by id
  nb::object velocities() const;
  nb::object forces() const;
  nb::object images() const;  // int32
  nb::object types() const;   // index into type_names
  nb::object masses() const;
  nb::object charges() const;  // empty: the job has none
  nb::object diameters() const;
  // Empty: particles have no orientations.
  nb::object orientations() const;  // [particle, w x y z]
  nb::object angular_momenta() const;
  nb::object moments_of_inertia() const;
  nb::object torques() const;
  nb::dict attributes() const;
  /// Bonds, angles, …: lists of ids with their types and the names of these; molecules, bodies and
  /// constraints. Empty arrays: there are none.
  nb::dict topology() const;
  nb::dict box() const;
  nb::dict totals() const;
  std::string neighbors() const;  // how pairs are found

  /// A view of an array in memory order, without a copy: "position", "velocity", "force", "image",
  /// "id", "index"; of particles that have orientations "orientation", "angular_momentum",
  /// "moment_of_inertia", "torque". The device has been waited for.
  nb::object array(const std::string& name) const;
  nb::tuple address(const std::string& name) const;
  /// Changes with the order of particles in memory: list builds, and steps without lists.
  std::tuple<std::int64_t, std::int64_t, std::int64_t> order() const;
  /// The CUDA stream as a number; 0 on the CPU.
  std::uintptr_t stream() const;

  /// By id, or in memory order; what is outside a periodic axis is wrapped. Relative to the image
  /// that a particle is in: one that is moved across a face has crossed it; `unwrapped`: relative
  /// to the box itself. Throws UserError for what cannot be a position.
  void set_positions(const Rows& rows, bool by_id, bool unwrapped) const;
  void set_velocities(const Rows& rows, bool by_id) const;
  /// Rows of w, x, y, z, which get length 1; angular momenta in the frame of each particle.
  void set_orientations(const Rows& rows, bool by_id) const;
  void set_angular_momenta(const Rows& rows, bool by_id) const;
  /// Particles have been changed: forces and lists are computed anew, and the integrator begins
  /// from what is there.
  void changed() const;

  std::vector<std::uint32_t> ids() const { return context().particles().id().to_host(); }

 private:
  struct Raw {
    void* data;
    std::vector<std::size_t> shape;
    nb::dlpack::dtype type;
    const char* text;  // as numpy writes it
  };
  Raw raw(const std::string& name) const;
  /// Throws UserError where particles have none.
  Orientations& turning(Particles& particles) const;
  /// Where forces are being computed they cannot be asked for, nor particles be changed.
  Simulation& at_rest(const char* what) const;
  /// The present numbers of an attribute that changes, or those of the start.
  std::vector<double> now(const std::string& name, const std::vector<double>& at_start) const;
  StepContext* context_;
  Simulation* simulation_ = nullptr;  // at rest
  const PresentAttributes* present_;
  nb::handle owner_;
  const Use* use_ = nullptr;
  std::uint64_t instant_ = 0;
};

void bind_state(nb::module_& m);

}  // namespace perrin::python
