#include "restraint.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/components/registry.h"
#include "engine/dynamics/observation.h"
#include "forces/group_restraint.h"
#include "io/file_units.h"

namespace perrin::analysis {
namespace {

/// Restraints among the forces of the job; reports where there is none.
std::size_t restraints_of(Setup& setup) {
  const Json job = Json::parse(setup.record()->job, nullptr, false);
  std::size_t count = 0;
  if (job.is_object())
    for (const Json& force : job.value("forces", Json::array()))
      count += force.value("type", "") == "group_restraint" ? 1 : 0;
  if (count == 0)
    setup.error("type", "the job has no force \"group_restraint\" that could be measured");
  return count;
}

std::vector<io::ObservableColumn> columns(Setup& setup) {
  const hsize_t n = restraints_of(setup);
  const Units& u = setup.units();
  const io::FileUnit length = io::file_length(u), force = io::file_force(u);
  return {{"distance", {n}, length.name, length.factor},
          {"length", {n}, length.name, length.factor},
          {"force", {n}, force.name, force.factor},
          {"work", {n}, u.energy}};
}

}  // namespace

Restraint::Restraint(const RestraintSettings& settings, Setup& setup)
    : settings_(settings), file_(setup.output_file(settings.file, "file"), columns(setup), setup) {}

void Restraint::begin(const Observation& seen, bool resumed) {
  springs_.clear();
  for (const Force* const force : seen.forces())
    if (const auto* const spring = dynamic_cast<const GroupRestraint*>(force))
      springs_.push_back(spring);
  file_.begin(seen, resumed);
}

void Restraint::observe(const Observation& seen) {
  std::vector<RestraintReading> readings;
  for (const GroupRestraint* spring : springs_) readings.push_back(spring->reading());
  std::vector<double> row;
  for (const auto value : {&RestraintReading::distance, &RestraintReading::length,
                           &RestraintReading::force, &RestraintReading::work})
    for (const RestraintReading& reading : readings) row.push_back(reading.*value);
  file_.append(std::int64_t(seen.step()), seen.time(), std::move(row));
}

void register_restraint(Registry& registry) {
  registry.add<Observer, RestraintSettings>(
      "restraint", "distance, force and work of the springs between groups",
      [](const RestraintSettings& s, Setup& setup) {
        return std::make_unique<Restraint>(s, setup);
      });
}

}  // namespace perrin::analysis
