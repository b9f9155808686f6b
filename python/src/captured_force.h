// Force "python", captured: PyTorch records on the GPU what a function does, and it becomes a part
// of the engine's recorded steps.
#pragma once

#ifdef PERRIN_CUDA

#include <nanobind/ndarray.h>

#include <string>

#include "python/src/kept_force.h"

namespace perrin::python {

/// Arrays on the GPU by id that a captured function reads: always in the same memory.
class ShownArrays {
 public:
  explicit ShownArrays(StepContext& context);
  /// "positions", "unwrapped", "velocities": float64 [n, 3]; "step": int64 [1]. From when it is
  /// first asked for they follow the particles. Waits.
  nb::object array(const std::string& name, nb::handle owner);
  void show(StepContext& context);  // device work
  /// The function has been captured.
  void close() { context_ = nullptr; }

 private:
  StepContext* context_;  // while the function is being captured
  Buffer<double> positions_, unwrapped_, velocities_;
  Buffer<std::int64_t> step_;
};

/// The object's capture(state, arrays) is called once, before steps are recorded, and returns the
/// CUDA graph of the function and the tensors that it fills.
class CapturedForce : public KeptForce {
 public:
  CapturedForce(const PythonForceSettings& settings, Functions functions, Setup& setup);
  ~CapturedForce() override;
  void compute(StepContext& context, const ForceOutput& output) override;

 private:
  std::uint64_t kept_instant() const override { return instant_.to_host(0); }
  void set_kept_instant(std::uint64_t instant) override { instant_.assign({{instant}}); }
  void capture(StepContext& context);
  void replay(const Device& device) const;

  Buffer<std::uint64_t> instant_;  // that forces are kept of
  Buffer<std::uint32_t> due_;
  std::shared_ptr<ShownArrays> arrays_;
  cudaGraph_t graph_ = nullptr;           // PyTorch's
  cudaGraphExec_t executable_ = nullptr;  // for steps that are not recorded
  Returned returned_{};
  nb::object captured_;  // keeps the graph and its memory
};

void bind_captured_force(nb::module_& m);

}  // namespace perrin::python

#endif
