// "reservoir" of a job, against what knows nothing of particles that are not there.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/components/force.h"
#include "engine/components/observer.h"
#include "engine/dynamics/counted_tail.h"
#include "engine/job/job.h"
#include "engine/settings/problems.h"
#include "engine/settings/settings_schema.h"

namespace perrin {

/// They follow the number of particles, where these come and go.
void Job::count_tails() {
  if (!has_absent(*context_.configuration)) return;
  for (std::size_t k = 0; k < forces_.size(); ++k) {
    const auto& part = settings_.forces[k];
    if (!forces_[k] || !record_component(part).value("tail", false)) continue;
    forces_[k] = with_counted_tail(std::move(forces_[k]), context_, [&](SetupContext& other) {
      Setup setup(other, part.path);
      return std::unique_ptr<Force>(
          static_cast<Force*>(part.row->make(part.settings.get(), setup)));
    });
  }
}

void Job::check_reservoir() {
  if (settings_.reservoir.empty() && !has_absent(configuration_)) return;
  const auto refuse = [this](const std::string& path, bool given, const char* why) {
    if (given)
      report(path, fmt::format("cannot be combined with a \"reservoir\", whose particles {}", why));
  };
  refuse("groups", !settings_.groups.empty(), "come and go: only the group \"all\" follows them");
  refuse("orientations", settings_.orientations.has_value() && settings_.bodies.empty(),
         "have no orientations but those of rigid bodies");
  for (const auto& [type, body] : settings_.bodies)
    for (std::size_t k = 0; k < body.sites.size(); ++k)
      if (settings_.reservoir.contains(body.sites[k].type))
        report(join_path("reservoir", body.sites[k].type),
               fmt::format("is the type of a site of the bodies of type \"{0}\": expected room for "
                           "bodies, as {{\"{0}\": 100}}, or for particles of another type",
                           type));
  refuse("dynamic_bonds", settings_.dynamic_bonds.has_value(), "make no bonds");
  refuse("attributes", !configuration_.attribute_changes.empty() || !attribute_rules_.empty(),
         "have attributes that stay the same");
  for (std::size_t k = 0; k < forces_.size(); ++k) {
    if (!forces_[k]) continue;
    const ForceTraits& traits = forces_[k]->traits();
    const std::string& path = settings_.forces[k].path;
    refuse(path, traits.range() == 0 && traits.reads != ForceTraits::Reads::bonded,
           "no external force must act on: expected forces between pairs, and on bonds");
    refuse(path, traits.handled.charges, "have no charges");
  }
  constexpr std::array knowing = {"checkpoint", "acceptance"};
  constexpr std::array counting = {"structure_factor"};  // whom it has found at the start
  for (std::size_t i = 0; i < parts_.observers.size(); ++i) {
    if (!parts_.observers[i]) continue;
    const Json record = record_component(settings_.observers[i]);
    const std::string& path = settings_.observers[i].path;
    refuse(path + ".groups",
           record.contains("groups") && parts_.observers[i]->only_totals() &&
               !record["groups"].empty(),
           "come and go");
    const std::string type = settings_.observers[i].type();
    const bool follows = record.contains("group") || parts_.observers[i]->only_totals() ||
                         std::ranges::count(knowing, type) > 0;
    refuse(path, !follows || std::ranges::count(counting, type) > 0,
           "this observer would miscount");
  }
}

}  // namespace perrin
