// What a job asks for against the system and the stages that it has: parts and strides without use,
// ranges, bonds, exclusions, charges.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "engine/components/acts_between_all.h"
#include "engine/components/acts_by_coulomb.h"
#include "engine/components/acts_in_place_of.h"
#include "engine/components/decides_by_energies.h"
#include "engine/components/endless_potential.h"
#include "engine/components/heat_bath_user.h"
#include "engine/dynamics/group_integrators.h"
#include "engine/dynamics/velocity_checks.h"
#include "engine/job/job.h"
#include "engine/run/md_stage.h"
#include "engine/settings/settings_parse.h"
#include "engine/settings/settings_schema.h"
#include "engine/system/checks.h"
#include "neighbor/choices.h"
#include "neighbor/excluded_pairs.h"

namespace perrin {
namespace {

/// Two dimensions are a word of the source's.
std::string flat_hint(const Box& box) {
  const auto h = box.heights();
  if (box.dimension == 2 || !(h.z < 0.2 * std::min(h.x, h.y))) return "";
  return "; if the system is two-dimensional, add \"dimension\": 2 to \"system\"";
}

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Those of the pairs that no kind of exclusion leaves out.
Pairs not_excluded(const Pairs& pairs, const Configuration& c,
                   const std::vector<std::string>& kinds) {
  if (pairs.empty()) return {};
  std::set<Pairs::value_type> left(pairs.begin(), pairs.end());
  for (const std::string& kind : kinds)
    for (const auto& [a, b] : excluded_pairs(c.position.size(), c.topology, kind))
      left.erase({std::min(a, b), std::max(a, b)});
  return {left.begin(), left.end()};
}

using Forces = std::vector<std::unique_ptr<Force>>;

/// The number of the force between all charges; none: that of forces.
std::size_t between_charges(const Forces& forces) {
  return std::size_t(std::ranges::find_if(forces,
                                          [](const auto& force) {
                                            return dynamic_cast<const ActsBetweenAll*>(
                                                       force.get()) &&
                                                   dynamic_cast<const ActsByCoulomb*>(force.get());
                                          }) -
                     forces.begin());
}

/// Charges act by one constant. `parts`: of the job, as `forces`.
template <class Parts, class Warn>
void check_coulomb(const Forces& forces, const Parts& parts, const Warn& warn) {
  const std::size_t first = between_charges(forces);
  if (first == forces.size()) return;
  const auto& there = parts[first];
  const double b = dynamic_cast<const ActsByCoulomb&>(*forces[first]).coulomb_constant();
  for (std::size_t k = 0; k < forces.size(); ++k) {
    const auto* const one = dynamic_cast<const ActsByCoulomb*>(forces[k].get());
    const double a = one ? one->coulomb_constant() : b;
    if (std::abs(a - b) > 1e-3 * b)
      warn(parts[k].path, fmt::format("{} has {:.6g} for Coulomb's constant, and {} ({}) {:.6g}: "
                                      "expected the same \"coulomb\" for both",
                                      parts[k].type(), a, there.type(), there.path, b));
  }
}

/// How many of the pairs this force acts on.
std::size_t acts_on(const Force& force, const Pairs& pairs, const Configuration& c) {
  const Ranges& ranges = force.traits().ranges;
  return std::size_t(std::ranges::count_if(pairs, [&](const auto& pair) {
    return ranges(c.type[pair.first], c.type[pair.second]) > 0;
  }));
}

/// Pairs that have a force of their own act by that alone: of charges in place of that between all
/// of them, others in place of the first pair force. `kinds`: of pairs that are excluded.
template <class Parts, class Warn>
void check_in_place_of(const Forces& forces, const Parts& parts, const Configuration& c,
                       const std::vector<std::string>& kinds, const Warn& warn) {
  for (std::size_t k = 0; k < forces.size(); ++k) {
    const auto* const one = dynamic_cast<const ActsInPlaceOf*>(forces[k].get());
    if (!one) continue;
    const Pairs pairs = one->in_place_of(), left = not_excluded(pairs, c, kinds);
    std::size_t other = forces.size(), twice = left.size();
    if (dynamic_cast<const ActsByCoulomb*>(forces[k].get())) {
      other = between_charges(forces);
    } else {
      for (other = 0; other < forces.size(); ++other)
        if (forces[other] && !dynamic_cast<const ActsByCoulomb*>(forces[other].get()) &&
            (twice = acts_on(*forces[other], left, c)) > 0)
          break;
    }
    if (other == forces.size() || twice == 0) continue;
    warn(parts[k].path,
         fmt::format("{} of the {} pairs of {} act in {} ({}) as well: expected them among the "
                     "\"exclusions\" of \"neighbors\", unless that is intended",
                     twice, pairs.size(), parts[k].type(), parts[other].type(), parts[other].path));
  }
}

/// Where an observer's schedule is said, and its steps: in "stride" or in "schedule".
std::array<std::string, 2> schedule_places(Json job, const std::string& observer) {
  const std::string stride = join_path(observer, "stride");
  const Json* const given = at_path(job, stride);
  if (given != nullptr && given->is_array()) return {stride, stride};
  const bool short_for_it = given != nullptr && given->is_object();
  const std::string place = short_for_it ? stride : join_path(observer, "schedule");
  return {place, join_path(place, "steps")};
}

/// Where stages begin and the last one ends, as far as it is known.
using Begins = std::vector<std::optional<std::int64_t>>;

bool acts_in(const std::vector<bool>& stages, std::size_t k) { return stages.empty() || stages[k]; }

/// Whether no multiple of the stride is in any of these stages (none: in all).
bool is_never_due(std::int64_t stride, const Begins& begins, const std::vector<bool>& stages,
                  bool at_zero) {
  if (stride <= 0) return false;  // not at all, or a mistake that is told
  bool somewhere = false;
  for (std::size_t k = 0; k + 1 < begins.size(); ++k) {
    if (!acts_in(stages, k)) continue;
    if (!begins[k + 1]) return false;
    somewhere = true;
    const std::int64_t begin = *begins[k], behind = begin % stride;
    if (behind == 0 && (begin > 0 || at_zero)) return false;
    if (stride - behind <= *begins[k + 1] - begin) return false;
  }
  return somewhere;
}

/// What is wrong with a list of steps that goes beyond the end of every stage.
std::string never_reached(const Json& observer, const Begins& begins,
                          const std::vector<bool>& stages) {
  const auto steps = observer.at("schedule").value("steps", std::vector<std::int64_t>{});
  std::int64_t longest = 0;
  for (std::size_t k = 0; k + 1 < begins.size(); ++k) {
    if (!acts_in(stages, k)) continue;
    if (!begins[k + 1]) return {};
    longest = std::max(longest, *begins[k + 1] - *begins[k]);
  }
  const auto late = std::ranges::upper_bound(steps, longest);
  if (late == steps.end()) return {};
  return fmt::format("step {} is never reached: no stage in which it is called has more than {}",
                     *late, longest);
}

/// Ramps among settings of a stage, be they of its integrators or of their barostats, that are
/// longer than the stage: what is said of each, by its path.
void find_long_ramps(const Json& settings, const std::string& path, std::int64_t steps,
                     const std::function<void(const std::string&, const std::string&)>& warn) {
  if (settings.is_array())
    for (std::size_t k = 0; k < settings.size(); ++k)
      find_long_ramps(settings[k], join_path(path, k), steps, warn);
  if (!settings.is_object()) return;
  for (const auto& [key, value] : settings.items())
    find_long_ramps(value, join_path(path, key), steps, warn);
  const auto ramp = settings.find("ramp_steps");
  if (ramp == settings.end() || !ramp->is_number_integer() || ramp->get<std::int64_t>() <= steps)
    return;
  const double part = double(steps) / ramp->get<double>();
  std::string ends;
  for (const char* const quantity : {"temperature", "pressure"}) {
    const Json from = settings.value(quantity, Json()),
               to = settings.value(std::string("final_") + quantity, Json());
    if (!from.is_number() || !to.is_number()) continue;
    ends += fmt::format("{}at {} {:.6g}, not {:.6g}", ends.empty() ? "" : ", ", quantity,
                        from.get<double>() + part * (to.get<double>() - from.get<double>()),
                        to.get<double>());
  }
  warn(join_path(path, "ramp_steps"),
       fmt::format("is more than the stage has, {}: the ramp ends with the stage{}; got {}", steps,
                   ends.empty() ? "" : ", " + ends, ramp->get<std::int64_t>()));
}

/// Ramps of the stage that is running whose numbers are others than in the checkpoint, or that are
/// new: the path of each. What is said of one that is not there: null.
void find_changed_ramps(const Json& before, const Json& after, const std::string& path,
                        const std::function<void(const std::string&)>& changed) {
  const auto part = [](const Json& of, const auto& key) {
    return of.is_object() ? of.value(key, Json()) : Json();
  };
  if (before.is_array() && after.is_array())
    for (std::size_t k = 0; k < std::min(before.size(), after.size()); ++k)
      find_changed_ramps(before[k], after[k], join_path(path, k), changed);
  if (!after.is_object()) return;
  for (const auto& [key, value] : after.items())
    if (value.is_structured())
      find_changed_ramps(part(before, key), value, join_path(path, key), changed);
  if (part(before, "ramp_steps").is_null() && part(after, "ramp_steps").is_null()) return;
  const bool other = std::ranges::any_of(
      std::array{"temperature", "final_temperature", "pressure", "final_pressure", "ramp_steps"},
      [&](const char* key) { return part(before, key) != part(after, key); });
  if (other) changed(path);
}

}  // namespace

void Job::check_ramps() {
  if (!options_.continued_job.empty()) {
    const std::string path = join_path("stages", options_.complete_stages);
    Json before = Json::parse(options_.continued_job, nullptr, true, true), after = file_.value();
    const Json *was = at_path(before, path), *now = at_path(after, path);
    if (was && now)
      find_changed_ramps(*was, *now, path, [this](const std::string& where) {
        warn(where,
             "the ramp is that of a stage which has begun: it takes its new numbers from the "
             "beginning of the stage on, and jumps to where it would be by now; to go on from "
             "the present value, end this stage (steps) and add one with its own ramp");
      });
  }
  for (std::size_t k = 0; k < settings_.stages.size(); ++k) {
    const Json stage = record_component(settings_.stages[k]);
    if (!stage.is_object()) continue;  // it was wrong, which has been said
    for (const char* const unit : {"steps", "sweeps"})
      if (const Json steps = stage.value(unit, Json()); steps.is_number_integer())
        find_long_ramps(stage, settings_.stages[k].path, steps.get<std::int64_t>(),
                        [this](const auto& path, const auto& what) { warn(path, what); });
  }
}

void Job::check_use() {
  std::string names;  // of the stages that have no use for the job's particles
  bool used = false;
  for (std::size_t k = 0; k < parts_.stages.size(); ++k) {
    if (!parts_.stages[k] || parts_.stages[k]->needs_system()) {
      used = true;
      continue;
    }
    const std::string type = settings_.stages[k].type();
    if (names.find(type) == std::string::npos) names += (names.empty() ? "" : ", ") + type;
    if (settings_.system && parts_.stages.size() > 1)
      warn(settings_.stages[k].path,
           fmt::format("the stage {} takes its system from its own settings; it ignores the "
                       "system, forces and velocity of the job",
                       type));
  }
  if (used || names.empty()) return;  // no stages: that is told already
  const auto unused = [&](const char* key, bool is_there) {
    if (!is_there) return;
    const std::string what = fmt::format(
        "has no effect: {} takes its system from its own settings (perrin help {}); remove \"{}\", "
        "or use a stage that moves the job's particles, such as md",
        names, names.substr(0, names.find(',')), key);
    if (context_.resuming)
      warn(key, what);
    else
      report(key, what);
  };
  unused("system", bool(settings_.system));
  unused("velocity", settings_.velocity.has_value());
  unused("dynamic_bonds", settings_.dynamic_bonds.has_value());
  unused("ignore", !settings_.ignore.empty());
  unused("forces", !settings_.forces.empty());
  unused("neighbors", perrin::record(settings_.neighbors) != perrin::record(NeighborSettings{}));
}

/// Of observers that are called at other steps than every multiple of their strides.
void Job::make_schedules() {
  parts_.calls.resize(parts_.observers.size());
  for (std::size_t i = 0; i < parts_.observers.size(); ++i) {
    if (!parts_.observers[i]) continue;
    const Json json = record_component(settings_.observers[i]).value("schedule", Json());
    if (!json.is_object()) continue;
    const auto [path, place_of_steps] = schedule_places(file_.value(), settings_.observers[i].path);
    const Json log = json.value("log", Json()), when = json.value("when", Json());
    auto steps = json.value("steps", std::vector<std::int64_t>{});
    if (log.is_null() && when.is_null() && steps.empty())
      report(path, "must have one of log, steps and when");
    if (!log.is_null() && !steps.empty()) report(path, "must have only one of log and steps");
    if (parts_.observers[i]->needs_even_steps())
      report(path, fmt::format("{} takes averages over all multiples of its stride; leave this out",
                               settings_.observers[i].type()));
    for (std::size_t k = 1; k < steps.size(); ++k)
      if (steps[k] <= steps[k - 1])
        report(join_path(place_of_steps, k),
               fmt::format("must be greater than the step before, {}, got {}", steps[k - 1],
                           steps[k]));
    auto& call = parts_.calls[i];
    if (!steps.empty())
      call.schedule = Schedule::of(std::move(steps));
    else if (log.is_number())
      call.schedule = Schedule::logarithmic(parts_.observers[i]->stride(), log.get<int>());
    if (!when.is_string()) continue;
    try {
      call.event.emplace(when.get<std::string>());
    } catch (const UserError& e) {
      report(join_path(path, "when"), e.what());
    }
  }
}

void Job::check_strides() {
  if (parts_.stage_names.size() < parts_.stages.size()) return;  // a stage is refused as it is
  // Where stages begin: not known behind one that may end by itself.
  Begins begins{0};
  for (std::size_t k = 0; k < parts_.stages.size(); ++k) {
    if (!parts_.stages[k]) return;
    const Integrator* const integrator = parts_.stages[k]->integrator();
    const Json steps = record_component(settings_.stages[k]).value("steps", Json());
    constexpr std::int64_t most = std::int64_t(1) << 53;  // more is not counted
    if (!begins[k] || !integrator || integrator->finish_stride() > 0 || !steps.is_number_integer())
      begins.emplace_back();
    else
      begins.push_back(*begins[k] + std::clamp<std::int64_t>(steps.get<std::int64_t>(), 0, most));
  }
  for (std::size_t i = 0; i < parts_.observers.size(); ++i) {
    if (!parts_.observers[i]) continue;
    const std::string& path = settings_.observers[i].path;
    const auto& called = parts_.observer_stages.at(i);
    if (parts_.calls[i].schedule) {
      const std::string late =
          never_reached(record_component(settings_.observers[i]), begins, called);
      if (!late.empty()) warn(schedule_places(file_.value(), path)[0], late);
      continue;
    }
    const std::int64_t stride = parts_.observers[i]->stride();
    if (is_never_due(stride, begins, called, true))
      warn(path, fmt::format("is never called: its stages contain no multiple of its stride {}; "
                             "choose another stride or other stages",
                             stride));
  }
  const auto warn_of = [&](const std::string& path, const char* what, std::int64_t stride,
                           const std::vector<bool>& stages) {
    if (is_never_due(stride, begins, stages, false))
      warn(path, fmt::format("has no effect: the stages in which it acts contain no multiple of "
                             "{} {}",
                             what, stride));
  };
  for (const AttributeRule& rule : attribute_rules_)
    warn_of(fmt::format("attributes.{}.updates", rule.name), "every", rule.every, rule.stages);
  if (!bond_rules_) return;
  for (std::size_t k = 0; k < bond_rules_->form.size(); ++k)
    warn_of(fmt::format("dynamic_bonds.form[{}]", k), "the stride", bond_rules_->stride,
            bond_rules_->form[k].stages);
  for (std::size_t k = 0; k < bond_rules_->broken.size(); ++k)
    warn_of(fmt::format("dynamic_bonds.break[{}]", k), "the stride", bond_rules_->stride,
            bond_rules_->broken[k].stages);
}

void Job::check_heat_baths() {
  for (std::size_t i = 0; i < parts_.observers.size(); ++i) {
    const auto* const user = dynamic_cast<const HeatBathUser*>(parts_.observers[i].get());
    if (!user || i >= parts_.observer_stages.size()) continue;
    for (std::size_t k = 0; k < parts_.stages.size(); ++k) {
      const Integrator* const integrator =
          parts_.stages[k] ? parts_.stages[k]->integrator() : nullptr;
      if (!integrator || !acts_in(parts_.observer_stages[i], k) ||
          !works_without_potential(*integrator))
        continue;
      warn(settings_.observers[i].path,
           fmt::format("in stage \"{}\" particles are driven by no potential, and energies do not "
                       "say how likely they are: what it measures is no chemical potential",
                       parts_.stage_names.at(k)));
      break;
    }
    if (user->missing_temperature().empty()) continue;
    for (std::size_t k = 0; k < parts_.stages.size(); ++k) {
      const Integrator* const integrator =
          parts_.stages[k] ? parts_.stages[k]->integrator() : nullptr;
      if (!integrator || !acts_in(parts_.observer_stages[i], k) || integrator->bath_kt(0)) continue;
      report(join_path(settings_.observers[i].path, user->missing_temperature()),
             fmt::format("is missing, and stage \"{}\" has no heat bath whose temperature it could "
                         "take: give it, or other \"stages\"",
                         parts_.stage_names.at(k)));
      break;
    }
  }
}

void Job::check_velocities() {
  for (std::size_t i = 0; i < parts_.observers.size(); ++i) {
    if (!parts_.observers[i] || i >= parts_.observer_stages.size()) continue;
    const std::string what = without_velocities(*parts_.observers[i], parts_.observer_stages[i],
                                                parts_.stages, parts_.stage_names);
    if (what.empty()) continue;
    if (parts_.observers[i]->takes_kept_velocities())
      warn(settings_.observers[i].path,
           what + "; its frames hold the velocities that the particles keep for other stages");
    else
      report(settings_.observers[i].path, what);
  }
  const auto there = [](const auto& part) { return part != nullptr; };
  if (!std::ranges::all_of(forces_, there)) return;
  for (std::size_t k = 0; k < parts_.stages.size(); ++k)
    if (parts_.stages[k])
      if (const auto what = drives_the_whole(*parts_.stages[k], configuration_, forces_);
          !what.empty())
        warn(settings_.stages[k].path, what);
  for (std::size_t i = 0; i < forces_.size(); ++i)
    if (const auto what = without_velocities(*forces_[i], parts_.stages, parts_.stage_names);
        !what.empty())
      report(settings_.forces[i].path, what);
}

void Job::check_topology() {
  const Topology& t = configuration_.topology;
  Handled all;
  for (const auto& force : forces_) {
    if (!force) return;  // what it would handle is not known
    const Handled& one = force->traits().handled;
    const auto join = [](std::vector<bool>& a, const std::vector<bool>& b) {
      a.resize(std::max(a.size(), b.size()), false);
      for (std::size_t k = 0; k < b.size(); ++k) a[k] = a[k] || b[k];
    };
    join(all.bond_types, one.bond_types);
    join(all.angle_types, one.angle_types);
    join(all.dihedral_types, one.dihedral_types);
    join(all.improper_types, one.improper_types);
    all.charges = all.charges || one.charges;
  }
  const auto take = [](std::vector<bool>& handled, const std::vector<std::string>& names,
                       const std::map<std::string, double>& constrained) {
    handled.resize(std::max(handled.size(), names.size()), false);
    for (std::size_t k = 0; k < names.size(); ++k)
      if (constrained.contains(names[k])) handled[k] = true;
  };
  if (settings_.constraints) {
    take(all.bond_types, t.bond_types, settings_.constraints->bonds);
    take(all.angle_types, t.angle_types, settings_.constraints->angles);
  }
  // Of types that "dynamic_bonds" makes there may be none yet.
  std::vector<bool> new_bonds(t.bond_types.size()), new_angles(t.angle_types.size());
  if (bond_rules_)
    for (const BondRules::Form& rule : bond_rules_->form) {
      new_bonds[rule.bond] = true;
      if (rule.angle) new_angles[*rule.angle] = true;
    }
  const auto refuse = [&](const std::string& which, std::int64_t count, const std::string& kind) {
    report("forces",
           fmt::format(
               "no force acts on the system's {} {}; if this is intended, add \"ignore\": [\"{}\"]",
               count, which, kind));
  };
  const auto look = [&](const auto& members, const auto& names, const std::vector<bool>& handled,
                        const char* kind, const std::vector<bool>& made = {}) {
    if (ignores(kind)) return;
    std::vector<std::int64_t> count(names.size(), 0);
    for (const auto& m : members) ++count.at(m.type);
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (k < handled.size() && handled[k]) continue;
      if (count[k] > 0)
        refuse(fmt::format("{} of type \"{}\"", kind, names[k]), count[k], kind);
      else if (k < made.size() && made[k])
        report("forces", fmt::format("no force acts on the {} of type \"{}\" that dynamic_bonds "
                                     "makes; if this is intended, add \"ignore\": [\"{}\"]",
                                     kind, names[k], kind));
    }
  };
  look(t.bonds, t.bond_types, all.bond_types, "bonds", new_bonds);
  look(t.angles, t.angle_types, all.angle_types, "angles", new_angles);
  look(t.dihedrals, t.dihedral_types, all.dihedral_types, "dihedrals");
  look(t.impropers, t.improper_types, all.improper_types, "impropers");
  for (const auto& [kind, count] : configuration_.left_out)
    if (count > 0 && !ignores(kind))
      report(
          "forces",
          fmt::format(
              "the file's {} {} are not read; {} add \"ignore\": [\"{}\"]", count, kind,
              kind == "pairs"
                  ? "if a force acts on them, list them in special_pairs (\"from\": \"list\"), and"
                  : "if no force acts on them,",
              kind));
  check_charges(all.charges);
  check_acts_once();
}

/// Forces that each act between all charges, or all dipoles, beside each other.
void Job::check_acts_once() {
  std::map<std::string, std::size_t> first;
  for (std::size_t k = 0; k < forces_.size(); ++k) {
    const auto* const one = dynamic_cast<const ActsBetweenAll*>(forces_[k].get());
    if (!one) continue;
    const auto [other, is_first] = first.try_emplace(one->between(), k);
    if (is_first) continue;
    const auto& here = settings_.forces[k];
    const auto& there = settings_.forces[other->second];
    warn(here.path, fmt::format("{0} acts between all {1}, and so does {2} ({3}): the energies of "
                                "both are added; expected one of them, unless that is intended",
                                here.type(), one->between(), there.type(), there.path));
  }
}

/// Charges that no force reads, and charges beside dipoles that do not feel them.
void Job::check_charges(bool handled) {
  const auto charged = std::count_if(configuration_.charge.begin(), configuration_.charge.end(),
                                     [](double q) { return q != 0; });
  if (charged > 0 && !handled && !ignores("charges"))
    warn("forces", fmt::format("{} particles carry charges, but no force acts on them; if this is "
                               "intended, add \"ignore\": [\"charges\"]",
                               charged));
  const bool charges_act =
      handled && (charged > 0 || configuration_.attribute_changes.contains("charge") ||
                  configuration_.attribute_between.contains("charge"));
  if (!charges_act || ignores("charge_dipole")) return;
  for (const auto& force : settings_.forces)
    if (force.type() == "dipole" || force.type() == "dipole_ewald")
      report(force.path,
             fmt::format("{} acts between dipoles alone, and no force acts between the system's "
                         "charges and them, expected a system without charges; if this is "
                         "intended, add \"ignore\": [\"charge_dipole\"]",
                         force.type()));
}

/// Kinds that the job names and that leave nothing out, though the default does so in silence.
void Job::check_exclusions() {
  const Topology& t = configuration_.topology;
  const std::size_t n = configuration_.position.size();
  exclusions_ = kinds_without(settings_.neighbors.exclusions, settings_.ignore);
  if (!t.body.empty()) exclusions_.emplace_back("bodies");
  if (!t.constraints.empty()) exclusions_.emplace_back("constraints");
  const auto warn_of = [this](const auto& path, const auto& what) { warn(path, what); };
  check_coulomb(forces_, settings_.forces, warn_of);
  check_in_place_of(forces_, settings_.forces, configuration_, exclusions_, warn_of);
  const bool pairs = std::any_of(forces_.begin(), forces_.end(), [](const auto& force) {
    return force && force->traits().range() > 0;
  });
  if (!pairs) return;
  excluded_ = excluded_text(n, t, exclusions_);
  for (const std::string& kind : settings_.neighbors.exclusions) {
    if (kind == "bonds" || (bond_rules_ && kind != "molecules") ||
        !excluded_text(n, t, kinds_without({kind}, settings_.ignore)).empty())
      continue;
    std::string why = "the system has no molecules of several particles";
    if (kind != "molecules")
      why = fmt::format("no two particles are {} bonds apart, and the system has no {}",
                        kind == "angles" ? "two" : "three", kind);
    warn("neighbors.exclusions", fmt::format("\"{}\" excludes no pair: {}", kind, why));
  }
}

bool Job::ignores(const std::string& kind) const {
  return std::find(settings_.ignore.begin(), settings_.ignore.end(), kind) !=
         settings_.ignore.end();
}

void Job::check_ranges() {
  const Box& box = context_.configuration->box;
  const double largest = largest_range(box);
  constexpr double shortest_range = 1e-8;
  double longest = 0;
  for (std::size_t i = 0; i < forces_.size(); ++i) {
    if (!forces_[i]) continue;
    const double range = forces_[i]->traits().range();
    longest = std::max(longest, range);
    const std::string path = settings_.forces[i].path;
    const bool has_cutoff = file_.value()["forces"][i].contains("cutoff");
    // Kernels keep distances from falling below 10^-12; of this range that must be nothing.
    if (range > 0 && range < shortest_range)
      report(has_cutoff ? join_path(path, "cutoff") : path,
             fmt::format("must be at least {:g} in the units of this job, got {:.6g}: choose a "
                         "unit of length of the size of particles, such as nm",
                         shortest_range, range));
    if (range <= largest) continue;
    report(
        has_cutoff ? join_path(path, "cutoff") : path,
        fmt::format(
            "must be at most {:.6g}, half the shortest distance between opposite faces of the box, "
            "got {:.6g}: only nearest images interact. Use a larger box or a shorter cut-off{}",
            largest, range, flat_hint(box)));
  }
  if (const auto wrong = wrong_setting(settings_.neighbors, for_gpu()); wrong && longest > 0)
    report("neighbors." + wrong->key, wrong->what);
  const double skin = settings_.neighbors.skin;
  if (longest > 0 && longest <= largest && longest + skin > largest)
    report(
        "neighbors.skin",
        fmt::format("the longest cut-off ({:.6g}) plus the skin must be at most {:.6g}, half the "
                    "shortest distance between opposite faces of the box, got a skin of {:.6g}",
                    longest, largest, skin));
}

/// Of integrators and observers against forces.
void Job::check_bodies() {
  if (configuration_.topology.body.empty()) return;
  if (settings_.dynamic_bonds) report("dynamic_bonds", "cannot be combined with rigid bodies");
  bool box_changes = false;
  for (std::size_t k = 0; k < parts_.stages.size(); ++k) {
    const Stage* const stage = parts_.stages[k].get();
    const Integrator* const integrator = stage ? stage->integrator() : nullptr;
    if (!integrator) continue;
    const Json settings = record_component(settings_.stages[k]);
    const auto given = [&](const char* key) {
      return settings.contains(key) && !settings.at(key).is_null();
    };
    if (!integrator->turns_particles())
      report(settings_.stages[k].path,
             dynamic_cast<const DecidesByEnergies*>(integrator)
                 ? "must have a move that moves and turns rigid bodies: expected \"molecule\""
                 : "must have an integrator that moves and turns rigid bodies: velocity_verlet, "
                   "bussi, nose_hoover, fire, langevin, brownian, active_brownian or "
                   "run_and_tumble");
    box_changes |= integrator->box_mover() != nullptr || given("shear") || given("deform");
  }
  // Sites move in units of the edges after cells have been filled.
  if (box_changes) require_lists("rigid bodies");
}

void Job::require_lists(const char* what) {
  const std::string& traversal = settings_.neighbors.traversal;
  if (traversal == "cells" || traversal == "auto")
    report("neighbors.traversal",
           fmt::format("must keep lists where the box of {} changes, expected another than cells "
                       "and auto, got {}",
                       what, traversal));
}

void Job::check_orientations() {
  if (configuration_.orientation.empty()) {
    for (std::size_t k = 0; k < forces_.size(); ++k)
      if (forces_[k] && forces_[k]->traits().torques)
        report(settings_.forces[k].path,
               fmt::format("{} depends on the orientations of particles, which the system does not "
                           "have: add \"orientations\" to the job",
                           settings_.forces[k].type()));
    return;
  }
  for (std::size_t k = 0; k < parts_.stages.size(); ++k) {
    const Integrator* const integrator =
        parts_.stages[k] ? parts_.stages[k]->integrator() : nullptr;
    if (integrator && !integrator->turns_particles())
      warn(settings_.stages[k].path,
           "its integrator does not turn particles: their orientations stay as they are; "
           "velocity_verlet, bussi, nose_hoover, fire, langevin, brownian, active_brownian and "
           "run_and_tumble do, and the move \"rotation\" of monte_carlo");
    if (!integrator) continue;
    const Json settings = record_component(settings_.stages[k]);
    const std::string type = settings.value(Json::json_pointer("/integrator/type"), "");
    if (settings.contains("shear") && !settings.at("shear").is_null() &&
        (type == "bussi" || type == "nose_hoover"))
      warn(join_path(settings_.stages[k].path, "shear"),
           fmt::format("turns particles by their torques, and the thermostat of {} takes all of "
                       "their rotation for heat; langevin takes that relative to the flow",
                       type));
  }
}

void Job::check_slow_forces() {
  const bool any =
      std::ranges::any_of(forces_, [](const auto& f) { return f && f->traits().slow_part; });
  for (std::size_t k = 0; k < parts_.stages.size(); ++k) {
    const auto* const md = dynamic_cast<const MdStage*>(parts_.stages[k].get());
    if (md && md->slow_force_stride() > 1 && !any)
      report(join_path(settings_.stages[k].path, "slow_force_stride"),
             fmt::format("must be 1 where no force has a slow part, as ewald has, got {}",
                         md->slow_force_stride()));
  }
}

void Job::check_objections() {
  std::vector<ForceOnGroup> all;
  for (std::size_t i = 0; i < forces_.size(); ++i) {
    const Json settings = forces_[i] ? record_component(settings_.forces[i]) : Json::object();
    all.push_back({forces_[i].get(), settings.value("on", "all")});
  }
  const auto fall = [&](std::size_t i, const std::string& what) {
    const auto round = drives_round(all, i, configuration_.box, configuration_.types.size());
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (round[axis])
        warn(settings_.forces[i].path,
             fmt::format("{} drives particles round the box along {}, a periodic axis without a "
                         "wall: there is no equilibrium of which {} could tell",
                         settings_.forces[i].type(), "xyz"[axis], what));
  };
  const auto check = [&](const auto* component, const std::string& what) {
    const bool decides = dynamic_cast<const DecidesByEnergies*>(component) != nullptr;
    for (std::size_t i = 0; component && i < forces_.size(); ++i) {
      if (!forces_[i]) continue;
      std::string objection = component->objection(*forces_[i]);
      const std::string& on = all[i].on;
      const auto group = std::ranges::find(configuration_.groups, on, &Group::name);
      if (decides && group != configuration_.groups.end() && group->changes())
        objection = fmt::format(
            "acts on the group \"{}\", which is chosen anew, and trials ask for energies of "
            "particles elsewhere: expected a group that stays the same, or an external_formula "
            "that has the region in its energy",
            on);
      if (!objection.empty())
        report(settings_.forces[i].path,
               fmt::format("cannot be combined with {}: {}", what, objection));
      else if (decides)
        fall(i, what);
    }
  };
  for (std::size_t k = 0; k < parts_.observers.size(); ++k)
    check(parts_.observers[k].get(), settings_.observers[k].path);
  if (parts_.stage_names.size() < parts_.stages.size()) return;  // a stage is refused as it is
  for (std::size_t k = 0; k < parts_.stages.size(); ++k)
    check(parts_.stages[k] ? parts_.stages[k]->integrator() : nullptr,
          "the stage \"" + parts_.stage_names.at(k) + "\"");
}

}  // namespace perrin
