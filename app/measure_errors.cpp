#include "app/measure_errors.h"

#include <fmt/format.h>

#include "engine/base/error.h"
#include "engine/communicator/communicator.h"
#include "engine/dynamics/simulation.h"
#include "forces/charges/measured_error.h"

namespace perrin {

std::string measured_errors(Job& job, const Json& json, const std::string& file) {
  if (Communicator::world().count() > 1) throw UserError("--measure: is for one process");
  const RunParts parts = job.take_parts();
  std::string text;
  for (std::size_t k = 0; parts.simulation && k < parts.simulation->forces().size(); ++k) {
    Simulation& simulation = *parts.simulation;
    auto* const force = dynamic_cast<HasMeasuredError*>(simulation.forces()[k].get());
    if (force == nullptr) continue;
    const std::string name = fmt::format("forces[{}]", k);
    simulation.totals();  // with it neighbours are found
    try {
      const MeasuredError e = force->measure_error(simulation);
      text += fmt::format(
          "{}, {}: measured error of forces {:.2g} (rms of {} particles at the start; predicted "
          "{:.2g}), accuracy {:.2g}\n",
          name, json["forces"][k]["type"].get<std::string>(), e.measured, e.particles, e.predicted,
          e.measured / e.constant);
    } catch (const UserError& e) {
      throw UserError(fmt::format("{}: {}: --measure: {}", file, name, e.what()));
    }
  }
  if (text.empty())
    throw UserError(fmt::format(
        "{}: --measure: no force of the job predicts an error: expected ewald or dipole_ewald",
        file));
  return text;
}

}  // namespace perrin
