#include "engine/dynamics/velocity_checks.h"

#include <fmt/format.h>

#include "engine/components/degrees_of_freedom.h"
#include "engine/components/integrator.h"

namespace perrin {

std::string without_velocities(const Observer& observer, const std::vector<bool>& called,
                               const std::vector<std::unique_ptr<Stage>>& stages,
                               const std::vector<std::string>& names) {
  const std::string what = observer.needs_velocities();
  if (what.empty()) return {};
  std::string others;
  std::string overdamped;
  for (std::size_t k = 0; k < stages.size(); ++k) {
    if (!stages[k] || (!called.empty() && !called[k])) continue;
    const Integrator* const integrator = stages[k]->integrator();
    if (integrator && integrator->motion().velocities == VelocityRole::bath)
      overdamped = overdamped.empty() ? names[k] : overdamped;
    else
      others += fmt::format("{}\"{}\"", others.empty() ? "" : ", ", names[k]);
  }
  if (overdamped.empty()) return {};
  return fmt::format("{}: overdamped motion has no velocities (stage {}){}", what, overdamped,
                     others.empty()
                         ? std::string("; leave it out")
                         : "; restrict it to other stages: \"stages\": [" + others + "]");
}

std::string without_velocities(const Force& force,
                               const std::vector<std::unique_ptr<Stage>>& stages,
                               const std::vector<std::string>& names) {
  if (!force.traits().velocities) return {};
  for (std::size_t k = 0; k < stages.size() && k < names.size(); ++k) {
    const Integrator* const integrator = stages[k] ? stages[k]->integrator() : nullptr;
    if (integrator && integrator->motion().velocities == VelocityRole::bath &&
        integrator->objection(force).empty())  // else it says so itself
      return fmt::format(
          "its friction and noise belong to velocities that move, and overdamped "
          "motion has none (stage \"{}\"): take a force without them, as soft_dpd in "
          "place of dpd, or langevin in place of the stage's integrator",
          names[k]);
  }
  return {};
}

std::string drives_the_whole(const Stage& stage, const Configuration& configuration,
                             const std::vector<std::unique_ptr<Force>>& forces) {
  const Integrator* const integrator = stage.integrator();
  // Before it has begun; that it has a bath is enough.
  if (integrator == nullptr || !integrator->bath_kt(0)) return {};
  DegreesOfFreedom freedom(configuration);
  freedom.count(forces, integrator->motion());
  std::string axes;
  for (int axis = 0; axis < configuration.box.dimension; ++axis)
    if (freedom.driven()[std::size_t(axis)]) axes += "xyz"[axis];
  if (axes.empty()) return {};
  return fmt::format(
      "constant forces accelerate the centre of mass along {}, nothing removes the momentum, and "
      "this thermostat counts the motion of the centre of mass as heat: the thermal motion dies "
      "out. Use langevin, whose friction limits the drift, add walls or frozen particles, or apply "
      "constant_force with the opposite sign to other \"types\", so that the sum of the forces is "
      "0",
      axes);
}

}  // namespace perrin
