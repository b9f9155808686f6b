// "dynamic_bonds" of a job, against its system, forces, observers and stages; and in which of
// these attributes are written.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/components/force.h"
#include "engine/components/integrator.h"
#include "engine/components/observer.h"
#include "engine/components/topology_user.h"
#include "engine/job/job.h"
#include "engine/settings/settings_schema.h"

namespace perrin {
namespace {

/// Rules of "dynamic_bonds" that do nothing, or twice the same: paths, and what is to be said.
std::vector<std::pair<std::string, std::string>> doubtful_rules(
    const DynamicBondsSettings& settings) {
  std::vector<std::pair<std::string, std::string>> found;
  const auto look = [&](auto rules, const std::string& list) {
    std::vector<Json> seen;
    for (std::size_t k = 0; k < rules.size(); ++k) {
      const std::string path = join_path(list, k);
      if (rules[k].probability == 0)
        found.emplace_back(join_path(path, "probability"),
                           "is 0, so that the rule has no effect: leave the rule out");
      if constexpr (requires { rules[k].types; }) std::ranges::sort(rules[k].types);
      const Json rule = record(rules[k]);
      if (const auto same = std::ranges::find(seen, rule); same != seen.end())
        found.emplace_back(
            path, fmt::format("is the same rule as {}: both act, each with its probability",
                              join_path(list, std::size_t(same - seen.begin()))));
      seen.push_back(rule);
    }
  };
  look(settings.form, "dynamic_bonds.form");
  look(settings.broken, "dynamic_bonds.break");
  return found;
}

}  // namespace

void Job::resolve_bonds() {
  if (!settings_.dynamic_bonds || parts_.stage_names.size() < settings_.stages.size()) return;
  bond_rules_ = resolve_dynamic_bonds(
      *settings_.dynamic_bonds, configuration_,
      [this](const auto& names, const auto& path) { return stages_named(names, path); },
      [this](const auto& path, const auto& what) { report(path, what); });
  if (!bond_rules_) return;
  if (start_) start_->topology = configuration_.topology;  // the types that it has made
  context_.dynamic_bonds = most_bonded(*bond_rules_, configuration_);
}

/// Of the stages in which something acts, those with an equation of motion; reports at `path` where
/// others are named, since `why`, and where none is left.
void Job::keep_stages_with_motion(std::vector<bool>& stages, const std::vector<std::string>& names,
                                  const std::string& path, const std::string& why) {
  const auto can = [this](std::size_t stage) {
    if (!parts_.stages[stage]) return true;  // what it is has been told
    const Integrator* const integrator = parts_.stages[stage]->integrator();
    return integrator != nullptr && integrator->timestep() > 0;
  };
  if (!names.empty() && std::ranges::find(stages, true) == stages.end()) return;  // told already
  bool any = false;
  for (std::size_t k = 0; k < stages.size(); ++k) {
    if (stages[k] && !can(k) && !names.empty())
      report(path + ".stages",
             fmt::format("the stage \"{}\" has no integrator of equations of motion: {}",
                         parts_.stage_names[k], why));
    stages[k] = stages[k] && can(k);
    any = any || stages[k];
  }
  if (!any) report(path, "has no effect: no stage has an integrator of equations of motion");
}

void Job::check_attribute_updates() {
  for (AttributeRule& rule : attribute_rules_)
    keep_stages_with_motion(rule.stages, settings_.attributes.at(rule.name).updates->stages,
                            fmt::format("attributes.{}.updates", rule.name),
                            "attributes are written in time");
}

void Job::check_dynamic_bonds() {
  if (!bond_rules_) return;
  for (std::size_t k = 0; k < forces_.size(); ++k)
    if (forces_[k] && !forces_[k]->follows_topology())
      report(
          settings_.forces[k].path,
          fmt::format("{} cannot be combined with dynamic_bonds: it acts on the bonded particles "
                      "of the start",
                      settings_.forces[k].type()));
  for (std::size_t k = 0; k < parts_.observers.size(); ++k)
    if (const auto* const user = dynamic_cast<const TopologyUser*>(parts_.observers[k].get());
        user && !user->follows_topology())
      report(
          settings_.observers[k].path,
          fmt::format("{} as it is set cannot be combined with dynamic_bonds: it takes bonds from "
                      "the start",
                      settings_.observers[k].type()));
  for (const auto& [path, what] : doubtful_rules(*settings_.dynamic_bonds)) warn(path, what);
  for (std::size_t k = 0; k < bond_rules_->form.size(); ++k)
    keep_stages_with_motion(bond_rules_->form[k].stages, settings_.dynamic_bonds->form[k].stages,
                            fmt::format("dynamic_bonds.form[{}]", k),
                            "bonds are made and broken in time");
  for (std::size_t k = 0; k < bond_rules_->broken.size(); ++k) {
    const BondRules::Break& rule = bond_rules_->broken[k];
    for (std::size_t i = 0; rule.force > 0 && i < forces_.size(); ++i) {
      if (!forces_[i] || forces_[i]->traits().bond_forces) continue;
      const std::vector<bool>& types = forces_[i]->traits().handled.bond_types;
      if (rule.bond < types.size() && types[rule.bond])
        report(fmt::format("dynamic_bonds.break[{}].force", k),
               fmt::format("{} does not tell the force along its bonds \"{}\": use \"length\"",
                           settings_.forces[i].type(), settings_.dynamic_bonds->broken[k].bond));
    }
    keep_stages_with_motion(
        bond_rules_->broken[k].stages, settings_.dynamic_bonds->broken[k].stages,
        fmt::format("dynamic_bonds.break[{}]", k), "bonds are made and broken in time");
  }
}

}  // namespace perrin
