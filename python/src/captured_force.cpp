#include "python/src/captured_force.h"

#ifdef PERRIN_CUDA

#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "engine/components/step_context.h"
#include "engine/device/record_node.h"
#include "python/src/state.h"

namespace perrin::python {
namespace {

using Tensor = nb::ndarray<nb::ro, nb::device::cuda>;

template <class T>
nb::object on_gpu(Buffer<T>& buffer, std::initializer_list<std::size_t> shape, nb::handle owner) {
  return nb::cast(nb::ndarray<nb::array_api>(buffer.data(), shape.size(), shape.begin(), owner,
                                             nullptr, nb::dtype<T>(), nb::device::cuda::value,
                                             cuda_index(buffer.device())));
}

/// float64, `count` numbers in a row; nullptr for None.
const double* numbers(nb::handle object, std::size_t count, const char* what) {
  if (object.is_none()) return nullptr;
  const auto tensor = nb::cast<Tensor>(object);
  if (tensor.dtype() == nb::dtype<double>() && tensor.size() == count)
    return static_cast<const double*>(tensor.data());
  throw UserError(fmt::format("a PythonForce must return {}, got {} numbers", what, tensor.size()));
}

}  // namespace

ShownArrays::ShownArrays(StepContext& context) : context_(&context), step_(context.device(), 1) {}

nb::object ShownArrays::array(const std::string& name, nb::handle owner) {
  if (!context_) throw RunError("these arrays are valid only within their call");
  const Device& device = context_->device();
  const std::int64_t n = context_->particles().size();
  if (name == "step") return on_gpu(step_, {1}, owner);
  Buffer<double>& wanted = name == "positions"   ? positions_
                           : name == "unwrapped" ? unwrapped_
                                                 : velocities_;
  if (wanted.size() == 0) wanted = Buffer<double>(device, 3 * n);
  show(*context_);
  device.synchronize();
  return on_gpu(wanted, {std::size_t(n), 3}, owner);
}

void ShownArrays::show(StepContext& s) {
  show_particles(s, {positions_.data(), unwrapped_.data(), velocities_.data(), step_.data()});
}

CapturedForce::CapturedForce(const PythonForceSettings& settings, Functions functions, Setup& setup)
    : KeptForce(settings, std::move(functions), setup),
      instant_(setup.device(), 1),
      due_(setup.device(), 1) {
  forget();
}

CapturedForce::~CapturedForce() {
  if (executable_) cudaGraphExecDestroy(executable_);
  if (!captured_.is_valid()) return;
  const nb::gil_scoped_acquire gil;
  captured_.reset();
}

void CapturedForce::compute(StepContext& s, const ForceOutput& output) {
  const Device& device = s.device();
  if (device.halt().skipping()) return;
  if (!graph_) capture(s);
  const Condition due = device.queue().condition(due_.data());
  raise_if_due(s, settings_.stride, instant_.data(), due);
  device.queue().when(due, [&] {
    arrays_->show(s);
    replay(device);
    keep_returned(s, returned_, {kept_.data(), virial_.data(), instant_.data()});
  });
  put_kept(s, kept_, virial_, output);
}

void CapturedForce::capture(StepContext& s) {
  PERRIN_ASSERT(!s.device().queue().recording());
  const std::int64_t n = s.particles().size();
  arrays_ = std::make_shared<ShownArrays>(s);
  arrays_->show(s);
  s.device().synchronize();
  const nb::gil_scoped_acquire gil;
  const nb::object state =
      nb::cast(new State(s, present_, functions_->owner, s.step() + s.instant()),
               nb::rv_policy::take_ownership);
  struct Closing {
    State& state;
    ShownArrays& arrays;
    ~Closing() { state.close(), arrays.close(); }
  } const closing{nb::cast<State&>(state), *arrays_};
  captured_ = function().attr("capture")(state, nb::cast(arrays_));
  select(s.device());  // the function may have chosen another one
  const auto forces = nb::cast<Tensor>(captured_[1]);
  const bool is_double = forces.dtype() == nb::dtype<double>();
  if (forces.ndim() != 2 || forces.shape(0) != std::size_t(n) || forces.shape(1) != 3 ||
      (!is_double && forces.dtype() != nb::dtype<float>()))
    throw UserError(fmt::format(
        "a PythonForce must return forces of shape ({}, 3) in float32 or float64, got {} "
        "dimensions of length {}, {}",
        n, forces.ndim(), forces.ndim() > 0 ? forces.shape(0) : 0,
        forces.ndim() > 1 ? forces.shape(1) : 0));
  const bool flat = s.particles().box().dimension == 2;
  returned_ = {{forces.data(), is_double, forces.stride(0), forces.stride(1), flat},
               numbers(captured_[2], 1, "one number as the energy"),
               numbers(captured_[3], 6, "six numbers as the virial")};
  graph_ = reinterpret_cast<cudaGraph_t>(nb::cast<std::uintptr_t>(captured_[0]));
  check_cuda(cudaGraphInstantiate(&executable_, graph_, 0), "preparing the graph of a PythonForce");
}

void CapturedForce::replay(const Device& device) const {
  if (device.queue().recording()) {
    cudaGraphNodeParams node{};
    node.type = cudaGraphNodeTypeGraph;
    node.graph.graph = graph_;
    record_node(device.queue().stream(), node);
  } else {
    check_cuda(cudaGraphLaunch(executable_, device.queue().stream()), "a captured PythonForce");
  }
  device.queue().begin_anew();
}

void bind_captured_force(nb::module_& m) {
  nb::class_<ShownArrays>(m, "ShownArrays", "What a captured function reads.")
      .def(
          "array",
          [](nb::handle self, const std::string& name) {
            return nb::cast<ShownArrays&>(self).array(name, self);
          },
          nb::arg("name"), "on the GPU, by id, at a constant address");
}

}  // namespace perrin::python

#endif
