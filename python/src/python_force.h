// Force "python": a function of Python computes it, on the host or with arrays of the device.
#pragma once

#include <cstdint>

#include "engine/components/registry.h"
#include "python/src/kept_force.h"

namespace perrin::python {

/// The function is given a State and returns forces [n, 3], or these with the energy, or with
/// energy and virial (xx yy zz xy xz yz). No step with it is recorded (ForceTraits::waits). What it
/// throws comes out of the run.
class PythonForce : public KeptForce {
 public:
  PythonForce(const PythonForceSettings& settings, Functions functions, Setup& setup);
  void compute(StepContext& context, const ForceOutput& output) override;

 private:
  std::uint64_t kept_instant() const override { return instant_; }
  void set_kept_instant(std::uint64_t instant) override { instant_ = instant; }
  void call(StepContext& context, std::uint64_t instant);
  void keep(StepContext& context, nb::handle forces, Real share);

  std::uint64_t instant_ = never;
};

void register_python_force(Registry& registry, const Functions& functions);

}  // namespace perrin::python
