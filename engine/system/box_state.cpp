#include "engine/system/box_state.h"

#include "engine/device/parallel.h"
#include "engine/system/configuration_archive.h"

namespace perrin {
namespace {

struct FindMetric {
  const Box* box;
  Metric* metric;
  PERRIN_HD void operator()(std::int64_t) const { *metric = detail::metric_of(*box); }
};

}  // namespace

BoxState::BoxState(const Device& device, const Box& box) : device_(device), given_(box) {
  if (device.is_cuda()) kept_ = {device, 1}, metric_ = {device, 1};
  set(box);
}

void BoxState::set(const Box& box) {
  host_ = box;
  if (device_.is_cuda()) device_.memory().copy_in(kept_.data(), &host_, sizeof host_);
  changed();
}

/// On a GPU one function makes all metrics: a restored box must have the bits of the changed one.
void BoxState::changed() {
  if (!device_.is_cuda()) return;
  for_each(device_, "metric of the box", 1, FindMetric{kept_.data(), metric_.data()});
}

void BoxState::download() {
  if (moves_ && device_.is_cuda()) host_ = kept_.to_host(0);
}

void BoxState::state_of_given(Archive& archive) {
  if (archive.has("given_box")) archive_box(archive, "given_box", given_);
}

}  // namespace perrin
