#include "acceptance.h"

#include <array>
#include <limits>

#include "engine/components/registry.h"
#include "engine/dynamics/simulation.h"
#include "io/file_units.h"

namespace perrin::monte_carlo {
namespace {

/// Of all kinds; the last one has the barostat's.
constexpr std::array kinds = {"translation", "rotation",  "molecule", "pivot",
                              "crankshaft",  "reptation", "swap",     "cluster",
                              "insertion",   "hybrid",    "barostat"};

std::vector<io::ObservableColumn> columns(const Setup& setup) {
  std::vector<io::ObservableColumn> all;
  for (const std::string kind : kinds) {
    all.push_back({kind, {}, ""});
    all.push_back({kind + "_trials", {}, ""});
  }
  const io::FileUnit length = io::file_length(setup.units());
  all.push_back({"displacement", {}, length.name, length.factor});
  return all;
}

}  // namespace

Acceptance::Acceptance(const AcceptanceSettings& settings, Setup& setup)
    : settings_(settings), file_(setup.output_file(settings.file, "file"), columns(setup), setup) {}

void Acceptance::begin(Simulation& simulation, bool resumed) {
  if (!resumed) last_.clear();
  file_.begin(simulation, resumed);
}

void Acceptance::observe(Simulation& simulation) {
  const auto* const stage = dynamic_cast<const MonteCarlo*>(simulation.bath());
  if (!stage) return;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::map<std::string, TrialCounts> now;
  double displacement = none;
  for (const auto& move : stage->moves()) {
    now[move->name().starts_with("insertion") ? "insertion" : move->name()] += move->counts();
    if (move->name() == "translation") displacement = move->size();
  }
  if (stage->barostat())
    now["barostat"] = {stage->barostat()->tried(), stage->barostat()->accepted()};
  std::vector<double> row;
  for (const std::string kind : kinds) {
    const auto found = now.find(kind);
    const TrialCounts before = last_[kind];
    const double tried = found == now.end() ? none : double(found->second.tried - before.tried);
    row.push_back(tried > 0 ? double(found->second.accepted - before.accepted) / tried : none);
    row.push_back(tried);
  }
  row.push_back(displacement);
  last_ = std::move(now);
  file_.append(std::int64_t(simulation.step()), simulation.time(), std::move(row));
}

void Acceptance::state(Archive& archive) {
  for (const std::string kind : kinds) {
    const Archive::Scope scope(archive, kind);
    archive_counts(archive, last_[kind]);
  }
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
