#include "python/src/python_force.h"

#include <fmt/format.h>
#include <nanobind/ndarray.h>

#include "engine/components/step_context.h"
#include "python/src/captured_force.h"
#include "python/src/state.h"

namespace perrin::python {
namespace {

using Array = nb::ndarray<nb::ro>;

std::uint64_t number_on_device(const Device& device, const std::uint64_t* where) {
  std::uint64_t number = 0;
  device.memory().copy_out(&number, where, sizeof number);
  return number;
}

Array array_of(nb::handle forces, std::int64_t n) {
  Array array;
  if (!nb::try_cast(forces, array))
    throw UserError(
        "a PythonForce must return an array of forces, or a tuple that begins with one");
  const bool real = array.dtype() == nb::dtype<float>() || array.dtype() == nb::dtype<double>();
  if (array.ndim() == 2 && array.shape(0) == std::size_t(n) && array.shape(1) == 3 && real)
    return array;
  throw UserError(fmt::format(
      "a PythonForce must return forces of shape ({}, 3) in float32 or float64, got {} dimensions "
      "of length {}, {}",
      n, array.ndim(), array.ndim() > 0 ? array.shape(0) : 0,
      array.ndim() > 1 ? array.shape(1) : 0));
}

double number_at(const Array& array, std::int64_t k) {
  return array.dtype() == nb::dtype<double>() ? static_cast<const double*>(array.data())[k]
                                              : double(static_cast<const float*>(array.data())[k]);
}

std::vector<double> six_numbers(nb::handle virial) {
  if (nb::len(virial) != 6)
    throw UserError(fmt::format("a PythonForce must return six numbers as the virial, got {}",
                                nb::len(virial)));
  std::vector<double> numbers;
  for (std::size_t c = 0; c < 6; ++c)
    numbers.push_back(nb::cast<double>(nb::float_(nb::object(virial[c]))));
  return numbers;
}

/// Work of others on the device that is not in the stream of the simulation.
void wait_for_all(const Device& device) {
#ifdef PERRIN_CUDA
  if (device.is_cuda()) check_cuda(cudaDeviceSynchronize(), "waiting for the device");
#endif
  (void)device;
}

}  // namespace

PythonForce::PythonForce(const PythonForceSettings& settings, Functions functions, Setup& setup)
    : KeptForce(settings, std::move(functions), setup) {
  traits_.waits = true;
  if (setup.device().is_cuda())
    setup.warn("",
               "steps with a PythonForce are not recorded: the host launches every kernel, at "
               "about 5 us each");
}

void PythonForce::compute(StepContext& s, const ForceOutput& output) {
  if (s.device().halt().skipping()) return;
  const std::uint64_t instant = number_on_device(s.device(), s.device_step()) + s.instant();
  const bool due = instant % std::uint64_t(settings_.stride) == 0 || instant_ == never;
  if (due && instant != instant_) {
    call(s, instant);
    instant_ = instant;
  }
  put_kept(s, kept_, virial_, output);
}

void PythonForce::call(StepContext& s, std::uint64_t instant) {
  s.device().synchronize();
  const nb::gil_scoped_acquire gil;
  const nb::object state =
      nb::cast(new State(s, present_, functions_->owner, instant), nb::rv_policy::take_ownership);
  struct Closing {
    State& state;
    ~Closing() { state.close(); }
  } const closing{nb::cast<State&>(state)};
  const nb::object result = function().attr("call")(state);
  nb::object forces = result, energy = nb::float_(0.0);
  std::vector<double> virial(6);
  if (nb::isinstance<nb::tuple>(result)) {
    const std::size_t parts = nb::len(result);
    if (parts < 1 || parts > 3)
      throw UserError(
          fmt::format("a PythonForce must return forces, energy and virial, got {} values", parts));
    forces = result[0];
    if (parts > 1) energy = nb::float_(nb::object(result[1]));
    if (parts > 2) virial = six_numbers(nb::object(result[2]));
  }
  const double share = nb::cast<double>(energy) / double(s.particles().size());
  select(s.device());  // the function may have chosen another one
  wait_for_all(s.device());
  virial_.assign(virial);
  keep(s, forces, Real(share));
}

void PythonForce::keep(StepContext& s, nb::handle forces, Real share) {
  const std::int64_t n = s.particles().size();
  const Array array = array_of(forces, n);
  if (array.device_type() != nb::device::cpu::value) {
    if (!s.device().is_cuda() || !settings_.memory_order)
      throw UserError(
          "a PythonForce may return GPU arrays only if the simulation runs on that GPU, in memory "
          "order (local=True)");
    const ForeignRows rows{array.data(), array.dtype() == nb::dtype<double>(), array.stride(0),
                           array.stride(1), s.particles().box().dimension == 2};
    keep_rows(s, rows, share, kept_);
    return s.device().synchronize();  // the array may go now
  }
  const auto ids = s.particles().id().to_host();
  std::vector<Real4> words(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::int64_t k = std::int64_t(i) * array.stride(0), step = array.stride(1);
    if (const double z = number_at(array, k + 2 * step);
        s.particles().box().dimension == 2 && z != 0)
      throw UserError(
          fmt::format("a PythonForce must return forces without a z component in two "
                      "dimensions, got {} for particle {}",
                      z, settings_.memory_order ? ids[i] : i));
    words[settings_.memory_order ? ids[i] : i] = {Real(number_at(array, k)),
                                                  Real(number_at(array, k + step)),
                                                  Real(number_at(array, k + 2 * step)), share};
  }
  kept_.assign(words);
}

void register_python_force(Registry& registry, const Functions& functions) {
  registry.add<Force, PythonForceSettings>(
      "python", "a function of the Python program that runs the job",
      [functions](const PythonForceSettings& s, Setup& setup) -> std::unique_ptr<Force> {
#ifdef PERRIN_CUDA
        if (s.captured && setup.device().is_cuda())
          return std::make_unique<CapturedForce>(s, functions, setup);
#endif
        return std::make_unique<PythonForce>(s, functions, setup);
      });
}

}  // namespace perrin::python
