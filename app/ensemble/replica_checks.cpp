#include "app/ensemble/replica_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/components/no_potential.h"
#include "engine/dynamics/group_integrators.h"

namespace perrin {

void ReplicaChecks::report(const std::string& path, const std::string& what) {
  if (problems_.admit(path, what)) problems_.add(file_->problem(path, what));
}

void ReplicaChecks::look(std::int64_t system, Job& job) {
  const auto& exchange = variations_.settings().exchange;
  const Configuration* const configuration = job.context().configuration;
  if (!exchange || exchange->is_gibbs() || configuration == nullptr) return;
  problems_ = {};
  file_.emplace(variations_.job(system));
  const RunParts parts = job.take_parts();
  const Json forces = file_->value().value("forces", Json::array());
  std::vector<ForceOnGroup> all;
  for (std::size_t k = 0; parts.simulation && k < forces.size(); ++k)
    all.push_back({parts.simulation->forces().at(k).get(), forces[k].value("on", "all")});
  for (std::size_t k = 0; k < all.size(); ++k)
    check_force(all, k, forces[k].value("type", ""), *configuration);
  check_stages(parts);
  problems_.throw_if_any();
}

void ReplicaChecks::check_force(std::span<const ForceOnGroup> forces, std::size_t k,
                                const std::string& type, const Configuration& c) {
  const std::string path = join_path("forces", k);
  if (dynamic_cast<const NoPotential*>(forces[k].force))
    report(path, fmt::format("{} has no potential, and energies decide on exchanges: expected "
                             "forces that have one",
                             type));
  const auto round = drives_round(forces, k, c.box, c.types.size());
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (round[axis])
      report(path, fmt::format("{} along {}, a periodic axis, has no potential there, and "
                               "energies decide on exchanges: expected a wall across that axis",
                               type, "xyz"[axis]));
  const std::string& on = forces[k].on;
  const auto group = std::ranges::find(c.groups, on, &Group::name);
  if (group != c.groups.end() && group->changes())
    report(path + ".on",
           fmt::format("the particles of \"{}\" are chosen anew while the job runs, and systems "
                       "that exchange all particles have members of their own: expected a group "
                       "that stays the same",
                       on));
}

void ReplicaChecks::check_stages(const RunParts& parts) {
  const std::vector<std::string>& wanted = variations_.settings().exchange->stages;
  for (std::size_t k = 0; k < parts.stages.size() && k < parts.stage_names.size(); ++k) {
    const auto is = [&](const std::string& name) {
      return name == parts.stage_names[k] || name == parts.stage_types[k];
    };
    if (!wanted.empty() && std::ranges::none_of(wanted, is)) continue;
    const Integrator* const integrator = parts.stages[k]->integrator();
    if (integrator && works_without_potential(*integrator))
      report(join_path("stages", k),
             "drives particles by no potential, and energies decide on exchanges: expected "
             "\"brownian\", \"langevin\" or another heat bath, or the names of other stages in "
             "ensemble.exchange.stages");
  }
}

}  // namespace perrin
