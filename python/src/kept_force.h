// What forces of Python have in common: the function, and the values that it has returned.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/components/force.h"
#include "engine/components/registry.h"
#include "engine/dynamics/present_attributes.h"
#include "python/src/kept_forces.h"

namespace perrin::python {

namespace nb = nanobind;

/// The PythonForce objects of a job, by their number in its settings.
struct JobFunctions {
  std::vector<nb::object> list;  // emptied when Python collects them
  nb::handle owner;              // of the simulation, for views
};
using Functions = std::shared_ptr<JobFunctions>;

struct PythonForceSettings {
  std::int64_t function = 0, stride = 1;
  bool memory_order = false, captured = false, conserves_momentum = false;
};
template <class D>
void describe(D& d, PythonForceSettings& s) {
  d.required("function", s.function, NonNegative{},
             "index of the function in the list that came with the job");
  d.optional("stride", s.stride, Positive{},
             "interval of calls (steps); forces are constant in between");
  d.optional("memory_order", s.memory_order, Any{},
             "the function returns forces in memory order, not by id");
  d.optional("captured", s.captured, Any{},
             "on a GPU, the function is recorded once and replayed in every step");
  d.optional("conserves_momentum", s.conserves_momentum, Any{}, "the sum of its forces is 0");
}

/// A force whose latest values stay until the function is called again: once for an instant,
/// however often the engine asks.
class KeptForce : public Force {
 public:
  KeptForce(const PythonForceSettings& settings, Functions functions, Setup& setup);
  MomentumChange momentum_change(std::span<const std::int64_t> particles) const override;
  void state(Archive& archive) override;
  /// Particles were changed: what is kept is void.
  void forget() { set_kept_instant(never); }

 protected:
  /// That forces are kept of.
  virtual std::uint64_t kept_instant() const = 0;
  virtual void set_kept_instant(std::uint64_t instant) = 0;
  nb::object function() const { return functions_->list.at(std::size_t(settings_.function)); }

  PythonForceSettings settings_;
  Functions functions_;
  PresentAttributes present_;
  Buffer<Real4> kept_;     // by id; w: the share of the energy
  Buffer<double> virial_;  // six numbers
};

}  // namespace perrin::python
