#include "integrators/virial_meter.h"

#include "engine/domain/reduction.h"

namespace perrin {
namespace {

struct AddVirial {
  BoxForceShares shares;
  std::int64_t n;
  PERRIN_HD AxisSums operator()(std::int64_t i) const {
    const Real4 a = shares.work ? shares.work[i] : Real4{};
    AxisSums s{{double(a.x), double(a.y), double(a.z)}};
    if (shares.virial)
      for (int k = 0; k < 3; ++k) s.of[k] += double(shares.virial[k * n + i]);
    return s;
  }
};

}  // namespace

void VirialMeter::begin(StepContext& s, const std::array<bool, 3>& axes, const std::string& what) {
  if (scratch_.size() == 0) scratch_ = {s.device(), sum_chunks};
  forces_.begin(s, axes, what);
}

void VirialMeter::measure(StepContext& s, AxisSums* sums) {
  sum<AxisSums>(s.device(), "virial", s.particles().size(),
                AddVirial{forces_.measure(s, {}), s.particles().size()}, scratch_, sums);
}

}  // namespace perrin
