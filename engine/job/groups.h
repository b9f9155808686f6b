// The "groups" of a job: which particles they name.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/settings/settings.h"
#include "engine/system/configuration.h"

namespace perrin {

/// Conditions that all members fulfil.
struct GroupSettings {
  std::vector<std::string> types;
  std::vector<Json> ids, molecules;
  std::vector<std::vector<std::optional<double>>> box;
  std::optional<std::string> formula;
  std::string when = "start";
  std::optional<std::int64_t> every;
  std::vector<std::string> all_of, any_of, none_of;
};

template <class D>
void describe(D& d, GroupSettings& s) {
  d.example("{\"types\": [\"W\"], \"box\": [[null, null, -5], [null, null, 5]]}");
  d.optional("types", s.types, Any{}, "particle types");
  d.optional("ids", s.ids, Any{}, "particle ids, and ranges [first, last] of them");
  d.optional("molecules", s.molecules, Any{},
             "numbers of molecules, and ranges [first, last] of them; those of the input or, if it "
             "has none, of particles connected by bonds, in the order of their first particles");
  d.optional("box", s.box, Any{},
             "lower and upper corner of a region of the initial configuration: lower <= x < upper; "
             "null: no limit");
  d.optional("formula", s.formula, Any{},
             "of x, y, z (the initial position), charge, diameter, mass and attributes: true for "
             "members, as in \"x^2 + y^2 < 9\"; perrin help formula");
  d.optional("when", s.when, OneOf{"start"},
             "when a region or a formula is looked at, unless \"every\" says otherwise");
  d.optional("every", s.every, Positive{},
             "the region or formula is looked at anew, with the present positions, at the "
             "beginning of steps that are multiples of this; for external forces, thermo and "
             "profiles");
  d.optional("and", s.all_of, Any{}, "groups that have the particle all together");
  d.optional("or", s.any_of, Any{}, "groups of which at least one has the particle");
  d.optional("not", s.none_of, Any{}, "groups that do not have the particle");
}

/// Adds them to `configuration`. Those that depend on where particles were at the start stay what
/// they are where the configuration has them already, as that of a checkpoint does. `report` takes
/// mistakes with their keys under "groups"; `has_mistake`: some of this group are known already.
void resolve_groups(const std::map<std::string, GroupSettings>& settings,
                    Configuration& configuration,
                    const std::function<void(const std::string&, const std::string&)>& report,
                    const std::function<bool(const std::string&)>& has_mistake);

/// Chooses anew those that are due at this step. `now`: the same particles at the present
/// positions.
void choose_groups(const std::map<std::string, GroupSettings>& settings, Configuration now,
                   std::uint64_t step, std::vector<Group>& groups);

}  // namespace perrin
