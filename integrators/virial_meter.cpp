#include "integrators/virial_meter.h"

#include <fmt/format.h>

#include "engine/core/parallel.h"

namespace perrin {
namespace {

struct AddVirial {
  const Real4* work;   // nullptr: no force has that
  const Real* virial;  // nullptr: all have it
  std::int64_t n;
  PERRIN_HD AxisSums operator()(std::int64_t i) const {
    const Real4 a = work ? work[i] : Real4{};
    AxisSums s{{double(a.x), double(a.y), double(a.z)}};
    if (virial)
      for (int k = 0; k < 3; ++k) s.of[k] += double(virial[k * n + i]);
    return s;
  }
};

}  // namespace

void VirialMeter::begin(Simulation& s, const std::string& what) {
  const std::int64_t n = s.particles.size();
  if (work_.size() == 0) work_ = {s.device(), n};
  if (scratch_.size() == 0) scratch_ = {s.device(), sum_chunks};
  bool all_have_work = true;
  tail_ = 0;
  // Corrections go with 1/volume: of one volume for all resumed runs, to the last bit.
  const Box now = s.particles.box;
  s.particles.box = s.particles.given_box();
  for (std::size_t k = 0; k < s.forces.size(); ++k) {
    Force& force = *s.forces[k];
    if (!force.follows_box())
      throw UserError(
          fmt::format("forces[{}] cannot be in a job with {}: that is for forces between "
                      "particles that follow from an energy",
                      k, what));
    if (!force.compute_box_work(s, {})) all_have_work = false;
    tail_ += force.correction(s).virial * s.particles.box.volume();
  }
  s.particles.box = now;
  if (!all_have_work && force_.size() == 0) force_ = {s.device(), n}, virial_ = {s.device(), 6 * n};
}

void VirialMeter::measure(Simulation& s, AxisSums* sums) {
  BoxWork work;
  work.of = work_.data();
  bool others = false;
  for (const auto& force : s.forces) {
    if (force->compute_box_work(s, work)) {
      work.add = true;
    } else {
      force->compute(s, {force_.data(), virial_.data(), others, true});
      others = true;
    }
  }
  sum<AxisSums>(s.device(), "virial", s.particles.size(),
                AddVirial{work.add ? work_.data() : nullptr, others ? virial_.data() : nullptr,
                          s.particles.size()},
                scratch_, sums);
}

}  // namespace perrin
