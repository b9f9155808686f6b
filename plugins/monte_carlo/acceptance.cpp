#include "acceptance.h"

#include <limits>

#include "engine/components/registry.h"
#include "engine/dynamics/simulation.h"
#include "io/file_units.h"

namespace perrin::monte_carlo {
namespace {

std::vector<io::ObservableColumn> columns(const Setup& setup) {
  const io::FileUnit length = io::file_length(setup.units());
  return {
      {"acceptance", {}, ""}, {"trials", {}, ""}, {"displacement", {}, length.name, length.factor}};
}

}  // namespace

Acceptance::Acceptance(const AcceptanceSettings& settings, Setup& setup)
    : settings_(settings), file_(setup.output_file(settings.file, "file"), columns(setup), setup) {}

void Acceptance::begin(Simulation& simulation, bool resumed) {
  if (!resumed) last_ = {};
  file_.begin(simulation, resumed);
}

void Acceptance::observe(Simulation& simulation) {
  const auto* const stage = dynamic_cast<const MonteCarlo*>(simulation.bath());
  if (!stage) return;
  const TrialCounts now = stage->counts();
  const auto tried = double(now.tried - last_.tried);
  const double part = tried > 0 ? double(now.accepted - last_.accepted) / tried
                                : std::numeric_limits<double>::quiet_NaN();
  last_ = now;
  file_.append(std::int64_t(simulation.step()), simulation.time(),
               {part, tried, stage->displacement()});
}

void Acceptance::state(Archive& archive) {
  archive("tried", last_.tried);
  archive("accepted", last_.accepted);
  archive.require(last_.accepted >= 0 && last_.accepted <= last_.tried, "accepted",
                  "at most as many as were tried");
  file_.state(archive);
}

void register_acceptance(Registry& registry) {
  registry.add<Observer, AcceptanceSettings>(
      "acceptance", "how many trial moves of monte_carlo are accepted, and their size",
      [](const AcceptanceSettings& s, Setup& setup) {
        return std::make_unique<Acceptance>(s, setup);
      });
}

}  // namespace perrin::monte_carlo
