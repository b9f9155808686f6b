#include "neighbor/validity/list_forecast.h"

#include "engine/device/parallel.h"

namespace perrin {
namespace {

#ifdef __CUDACC__
/// At the beginning of a recording; also if this device is halted, of which others may not know.
__global__ void begin_recording_kernel(ListForecast::Words* words, const Condition warned) {
  for (std::uint32_t& built : words->built) built = 0;
  if (words->warned) warned.raise();
}
#endif

}  // namespace

ListForecast::ListForecast(const Device& device) : device_(device) {
  if (decomposition_of(device).may_overlap()) words_ = {device, 1};
}

Real ListForecast::early2(Real limit) const {
  const Real early = Real(part_) * limit;
  return early * early;
}

void ListForecast::expect() {
  const std::uint32_t one = 1;
  if (exists()) device_.memory().copy_in(&words_.data()->warned, &one, sizeof one);
}

void ListForecast::join(Votes& votes) const {
  auto* const words = const_cast<Words*>(words_.data());
  votes.warning = &words->soon;
  votes.warned = &words->warned;
}

ListForecast::Step ListForecast::begin_step() {
  Words* const words = words_.data();
  if (slot_ < 0 || warned_.handle == 0) {
    slot_ = 0;
    warned_ = device_.queue().condition(&words->unused);
#ifdef __CUDACC__
    launch(device_, "what is expected", dim3(1), dim3(1), 0, begin_recording_kernel, words,
           warned_);
#endif
  }
  return {&words->built[slot_], warned_};
}

Condition ListForecast::end_step(bool is_last) {
  std::uint32_t* const unused = &words_.data()->unused;
  const bool ends = is_last || slot_ + 1 == Words::slots;
  warned_ = ends ? Condition{unused, 0} : device_.queue().condition(unused);
  slot_ = warned_.handle == 0 ? -1 : slot_ + 1;
  return warned_;
}

}  // namespace perrin
