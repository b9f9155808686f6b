#include "integrators/box_forces.h"

#include <fmt/format.h>

#include "engine/components/rigid_bodies.h"
#include "engine/components/step_context.h"
#include "engine/system/orientations.h"
#include "integrators/cluster_scaling.h"

namespace perrin {

void BoxForces::begin(StepContext& s, const std::array<bool, 3>& axes, const std::string& what) {
  const std::int64_t n = s.particles().size();
  if (work_.size() == 0) work_ = {s.device(), n};
  bool all_have_work = true;
  tail_ = tail_energy_ = 0;
  // Corrections go with 1/volume: of one volume for all resumed runs, to the last bit.
  const Box& box = s.particles().box_state().given();
  for (std::size_t k = 0; k < s.forces().size(); ++k) {
    Force& force = *s.forces()[k];
    if (!force.traits().follows(axes))
      throw UserError(fmt::format(
          "forces[{}] cannot be combined with {}: expected a force between particles that derives "
          "from an energy, or a wall normal to an axis that does not change",
          k, what));
    if (!force.compute_box_work(s, {})) all_have_work = false;
    const ForceCorrection correction = force.correction(box);
    tail_ += correction.virial * box.volume();
    tail_energy_ += correction.energy * box.volume();
  }
  if ((!all_have_work || s.bodies() || s.constraints()) && force_.size() == 0)
    force_ = {s.device(), n}, virial_ = {s.device(), 6 * n};
  if (s.particles().orientations() && torque_.size() == 0) torque_ = {s.device(), n};
}

BoxForceShares BoxForces::measure(StepContext& s, BoxWork work, ClusterScaling* clusters) {
  work.of = work_.data(), work.add = false;
  bool others = false, turning = false;
  for (const auto& force : s.forces()) {
    // Of bodies the forces on sites are wanted, for those on the centres; of clusters likewise.
    if (!s.bodies() && clusters == nullptr && force->compute_box_work(s, work)) {
      work.add = true;
      continue;
    }
    ForceOutput output{force_.data(), virial_.data(), others, true};
    if (force->traits().torques && torque_.size() > 0) {
      output.torque = torque_.data(), output.add_torque = turning;
      turning = true;
    }
    force->act(s, output);
    others = true;
  }
  if (s.bodies() && others) {
    s.bodies()->correct_virial(s.particles(), force_.data(), virial_.data());
    s.bodies()->take(s.particles(), force_, torque_, turning);
    turning = true;
  }
  if (clusters != nullptr && others) clusters->correct(s, force_, virial_);
  return {work.add ? work_.data() : nullptr, force_.data(), others ? virial_.data() : nullptr,
          turning ? torque_.data() : nullptr};
}

}  // namespace perrin
