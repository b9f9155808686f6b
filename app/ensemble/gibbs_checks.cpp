#include "app/ensemble/gibbs_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/components/box_user.h"
#include "engine/components/gibbs_box.h"
#include "engine/components/integrator.h"
#include "engine/dynamics/reservoir.h"

namespace perrin {
namespace {

bool is_gibbs(const Variations& variations) {
  const auto& exchange = variations.settings().exchange;
  return exchange && exchange->is_gibbs();
}

}  // namespace

JobOptions for_exchange(const Variations& variations, JobOptions options) {
  if (!is_gibbs(variations)) return options;
  const Json job = variations.file().value().value("device", Json("auto"));
  if (options.device.empty() && job.is_string()) options.device = job.get<std::string>();
  if (options.device.starts_with("cuda"))
    throw UserError(
        variations.file()
            .problem("device", fmt::format("must be \"cpu\" where ensemble.exchange has the type "
                                           "\"gibbs\", got \"{}\"",
                                           options.device))
            .text());
  if (options.device == "auto") options.device = "cpu";
  return options;
}

void GibbsChecks::report(const std::string& path, const std::string& what) {
  if (problems_.admit(path, what)) problems_.add(file_->problem(path, what));
}

void GibbsChecks::look(std::int64_t system, Job& job) {
  if (!is_gibbs(variations_)) return;
  problems_ = {};
  file_.emplace(variations_.job(system));
  const Configuration* const configuration = job.context().configuration;
  if (configuration == nullptr) {
    report("system", "is missing: the Gibbs ensemble exchanges the particles of systems");
  } else {
    check_system(*configuration);
    const RunParts parts = job.take_parts();
    check_stages(parts, has_absent(*configuration));
    check_observers(parts);
    Card card = card_of(system, *configuration);
    if (system % 2 == 1 && first_ && first_->system == system - 1) compare(*first_, card);
    first_ = std::move(card);
  }
  problems_.throw_if_any();
}

void GibbsChecks::check_system(const Configuration& c) {
  if (!has_absent(c))
    report("reservoir",
           "is missing, so that no particle could come: expected the particles of each type that "
           "the other system of the pair has, as {\"A\": 256}");
  const Topology& t = c.topology;
  if (!t.bonds.empty() || !t.angles.empty() || !t.dihedrals.empty() || !t.impropers.empty())
    report("system",
           fmt::format("has {} bonds, and the Gibbs ensemble exchanges single particles and rigid "
                       "bodies: expected particles without",
                       t.bonds.size()));
  for (int axis = 0; axis < c.box.dimension; ++axis)
    if (!c.box.periodic[std::size_t(axis)])
      report("system", fmt::format("must be periodic along all axes to exchange particles, and {} "
                                   "is not",
                                   "xyz"[axis]));
}

void GibbsChecks::check_stages(const RunParts& parts, bool has_room) {
  const std::vector<std::string>& wanted = variations_.settings().exchange->stages;
  bool some = false;
  for (std::size_t k = 0; k < parts.stages.size() && k < parts.stage_names.size(); ++k) {
    const std::string& type = parts.stage_types[k];
    const auto is = [&](const std::string& name) {
      return name == parts.stage_names[k] || name == type;
    };
    if (!wanted.empty() && std::ranges::none_of(wanted, is)) continue;
    some = true;
    const std::string path = fmt::format("stages[{}]", k);
    const auto* const stage = dynamic_cast<const GibbsStage*>(parts.stages[k]->integrator());
    if (stage == nullptr)
      report(path + ".type",
             fmt::format("is \"{}\", which exchanges no particles: expected \"monte_carlo\", or "
                         "the names of the stages that do in ensemble.exchange.stages",
                         type));
    else if (const std::string why = stage->gibbs_objection(); has_room && !why.empty())
      report(path, "cannot exchange particles: it " + why);
  }
  if (!some)
    report("stages",
           "has none of those that ensemble.exchange.stages names: expected a stage "
           "\"monte_carlo\" among them");
}

void GibbsChecks::check_observers(const RunParts& parts) {
  if (!variations_.settings().exchange->volume) return;
  for (std::size_t k = 0; k < parts.observers.size(); ++k) {
    const auto* const user = dynamic_cast<const BoxUser*>(parts.observers[k].get());
    if (user == nullptr || user->follows_box()) continue;
    report(fmt::format("observers[{}]", k),
           "is not measured in a box that changes, and ensemble.exchange.volume changes it: leave "
           "it out");
  }
}

GibbsChecks::Card GibbsChecks::card_of(std::int64_t system, const Configuration& c) {
  Card card;
  card.system = system, card.types = c.types, card.dimension = c.box.dimension;
  for (std::uint32_t type = 0; type < c.types.size(); ++type) {
    const auto absent = absent_type(c, type);
    if (!absent) continue;
    const std::string& name = c.types[type];
    // Sites come and go with their bodies.
    const auto one = std::size_t(std::ranges::find(c.type, *absent) - c.type.begin());
    if (one < c.type.size() && c.topology.is_site(one)) continue;
    card.here[name] = std::ranges::count(c.type, type);
    card.room[name] = std::ranges::count(c.type, *absent);
    // All of them are alike (take_away()).
    const auto id = std::size_t(std::ranges::find(c.type, *absent) - c.type.begin());
    const auto take = [&](const std::string& what, const std::vector<double>& values) {
      if (id < values.size()) card.like[name][what] = values[id];
    };
    take("mass", c.mass), take("charge", c.charge), take("diameter", c.diameter);
    for (const auto& [attribute, values] : c.attributes) take(attribute, values);
  }
  return card;
}

/// All particles of both may be in one box.
void GibbsChecks::check_room(const Card& in, const Card& of) {
  for (const auto& [type, count] : of.here) {
    const auto room = in.room.find(type);
    if (room == in.room.end() || room->second >= count) continue;
    report(
        "reservoir." + type,
        fmt::format("must be at least {}, so that system {} has room for all particles of "
                    "system {}, got {}",
                    count, variations_.name(in.system), variations_.name(of.system), room->second));
  }
}

void GibbsChecks::compare(const Card& first, const Card& second) {
  const std::string pair =
      fmt::format("systems {} and {} exchange particles", variations_.name(first.system),
                  variations_.name(second.system));
  if (first.types != second.types)
    report("system", pair +
                         ", and have different types of particles: expected the same, in the "
                         "same order, also in \"reservoir\"");
  if (first.dimension != second.dimension)
    report("system", pair + ", and have different dimensions");
  if (first.types == second.types && first.like != second.like)
    report("system", pair + ", and particles of a type differ in mass, charge or attributes");
  check_room(first, second), check_room(second, first);
}

}  // namespace perrin
