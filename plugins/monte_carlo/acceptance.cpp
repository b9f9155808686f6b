#include "acceptance.h"

#include <array>
#include <limits>

#include "engine/components/registry.h"
#include "engine/dynamics/observation.h"
#include "io/file_units.h"

namespace perrin::monte_carlo {
namespace {

/// Of all kinds; the last one has the barostat's.
constexpr std::array kinds = {"translation", "rotation",  "molecule", "pivot",
                              "crankshaft",  "reptation", "swap",     "cluster",
                              "insertion",   "hybrid",    "barostat"};

/// What moves are tuned to (Move::sizes()).
struct Size {
  const char* column;
  enum { length, angle, time } of;
};
constexpr std::array<Size, 8> sizes = {{{"displacement", Size::length},
                                        {"rotation_angle", Size::angle},
                                        {"molecule_displacement", Size::length},
                                        {"molecule_angle", Size::angle},
                                        {"pivot_angle", Size::angle},
                                        {"crankshaft_angle", Size::angle},
                                        {"cluster_displacement", Size::length},
                                        {"hybrid_timestep", Size::time}}};

std::vector<io::ObservableColumn> columns(const Setup& setup) {
  std::vector<io::ObservableColumn> all;
  for (const std::string kind : kinds) {
    all.push_back({kind, {}, ""});
    all.push_back({kind + "_trials", {}, ""});
  }
  const io::FileUnit length = io::file_length(setup.units()), time = io::file_time(setup.units());
  for (const Size& size : sizes) {
    const io::FileUnit unit = size.of == Size::length ? length
                              : size.of == Size::time ? time
                                                      : io::FileUnit{};
    all.push_back({size.column, {}, unit.name, unit.factor});
  }
  return all;
}

}  // namespace

Acceptance::Acceptance(const AcceptanceSettings& settings, Setup& setup)
    : settings_(settings), file_(setup.output_file(settings.file, "file"), columns(setup), setup) {}

void Acceptance::begin(const Observation& seen, bool resumed) {
  if (!resumed) last_.clear();
  file_.begin(seen, resumed);
}

void Acceptance::observe(const Observation& seen) {
  const auto* const stage = dynamic_cast<const MonteCarlo*>(seen.integrator());
  if (!stage) return;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::map<std::string, TrialCounts> now;
  std::map<std::string, double> tuned;
  for (const auto& move : stage->moves()) {
    now[move->name().starts_with("insertion") ? "insertion" : move->name()] += move->counts();
    for (const MoveSize& size : move->sizes()) tuned[size.column] = size.value;
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
  for (const Size& size : sizes) {
    const auto found = tuned.find(size.column);
    row.push_back(found == tuned.end() ? none : found->second);
  }
  last_ = std::move(now);
  file_.append(std::int64_t(seen.step()), seen.time(), std::move(row));
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
