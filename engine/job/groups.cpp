#include "engine/job/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "engine/base/error.h"
#include "engine/formula/particle_formula.h"
#include "engine/settings/json_file.h"
#include "engine/settings/problems.h"
#include "engine/settings/settings_schema.h"
#include "engine/system/bond_graph.h"

namespace perrin {
namespace {

using Report = std::function<void(const std::string&, const std::string&)>;
using Members = std::vector<std::uint8_t>;  // [id]

class Resolver {
 public:
  /// `step`: groups that are due there are chosen anew. Groups that change may come to have no
  /// particles, also those of a checkpoint.
  Resolver(const std::map<std::string, GroupSettings>& settings, Configuration& configuration,
           const Report& report, const std::function<bool(const std::string&)>& has_mistake,
           std::optional<std::uint64_t> step = {})
      : settings_(settings),
        c_(configuration),
        report_(report),
        has_mistake_(has_mistake),
        step_(step) {
    std::swap(saved_, c_.groups);
  }

  void resolve_all() {
    for (const auto& [name, s] : settings_) resolve(name);
  }

 private:
  const Group* known(const std::vector<Group>& groups, const std::string& name) const {
    const auto found =
        std::ranges::find_if(groups, [&](const Group& g) { return g.name() == name; });
    return found == groups.end() ? nullptr : &*found;
  }

  /// nullptr after a mistake.
  const Group* resolve(const std::string& name) {
    if (has_mistake_(name)) return nullptr;  // reported
    if (const Group* const done = known(c_.groups, name)) return done;
    const std::string path = join_path("groups", name);
    if (name == "all" || !is_name(name))
      return report_(path, "must have a name of letters, digits, _ and -, which is not \"all\""),
             nullptr;
    if (std::ranges::find(open_, name) != open_.end())
      return report_(path, "is defined by itself"), nullptr;
    const GroupSettings& s = settings_.at(name);
    const Group* const saved = known(saved_, name);
    const bool of_places = !s.box.empty() || s.formula;
    if (s.every && !of_places)
      return report_(join_path(path, "every"), "is for a group with a box or a formula"), nullptr;
    const bool is_due = step_ && s.every && *step_ % std::uint64_t(*s.every) == 0;
    if (saved && of_places && !is_due)
      return &c_.groups.emplace_back(name, saved->members(), s.every.value_or(0));
    if (s.types.empty() && s.ids.empty() && s.molecules.empty() && s.box.empty() && !s.formula &&
        s.all_of.empty() && s.any_of.empty() && s.none_of.empty())
      return report_(path,
                     "must have at least one of types, ids, molecules, box, formula, and, or, not"),
             nullptr;
    Members members(c_.position.size(), 1);
    open_.push_back(name);
    const bool good = keep_types(s, path, members) && keep_ids(s, path, members) &&
                      keep_molecules(s, path, members) && keep_box(s, path, members) &&
                      keep_formula(s, path, members) && keep_groups(s, path, members);
    open_.pop_back();
    if (!good) return nullptr;
    if (of_places && !s.every && every_of(s) > 0)
      return report_(path,
                     "is made of groups that are chosen anew: give its box or formula "
                     "\"every\", too"),
             nullptr;
    Group group(name, std::move(members), every_of(s));
    const bool may_be_empty = step_ || (saved != nullptr && group.changes());
    if (group.count() == 0 && !may_be_empty) return report_(path, "has no particles"), nullptr;
    return &c_.groups.emplace_back(std::move(group));
  }

  /// Groups change with those that they are made of, which are resolved.
  std::int64_t every_of(const GroupSettings& s) const {
    std::int64_t every = s.every.value_or(0);
    for (const auto* list : {&s.all_of, &s.any_of, &s.none_of})
      for (const std::string& other : *list)
        if (const Group* const group = known(c_.groups, other))
          every = std::gcd(every, group->every());
    return every;
  }

  static bool is_name(const std::string& name) {
    return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
      return std::isalnum(c) || c == '_' || c == '-';
    });
  }

  template <class Keep>
  static bool keep(Members& members, const Keep& keep) {
    for (std::size_t id = 0; id < members.size(); ++id) members[id] &= keep(id) ? 1 : 0;
    return true;
  }

  bool keep_types(const GroupSettings& s, const std::string& path, Members& members) {
    if (s.types.empty()) return true;
    std::vector<bool> chosen(c_.types.size(), false);
    for (std::size_t k = 0; k < s.types.size(); ++k) {
      const auto at = std::ranges::find(c_.types, s.types[k]);
      if (at == c_.types.end())
        return report_(join_path(join_path(path, "types"), k),
                       fmt::format("unknown particle type \"{}\"; {}", s.types[k],
                                   suggest(s.types[k], c_.types))),
               false;
      chosen[std::size_t(at - c_.types.begin())] = true;
    }
    return keep(members, [&](std::size_t id) { return chosen[c_.type[id]]; });
  }

  /// Numbers and ranges as pairs of first and last, below `end`.
  bool ranges(const std::vector<Json>& list, const std::string& path, std::uint64_t end,
              const char* what, std::vector<std::pair<std::uint64_t, std::uint64_t>>& found) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      const Json& entry = list[k];
      const auto number = [](const Json& j) { return j.is_number_unsigned(); };
      const bool pair = entry.is_array() && entry.size() == 2 && number(entry[0]) &&
                        number(entry[1]) && entry[0] <= entry[1];
      if (!pair && !number(entry))
        return report_(join_path(path, k),
                       fmt::format("must be a number of at least 0 or a range [first, last] of "
                                   "them, got {}",
                                   shown(entry))),
               false;
      const auto first = (pair ? entry[0] : entry).get<std::uint64_t>(),
                 last = (pair ? entry[1] : entry).get<std::uint64_t>();
      if (last >= end)
        return report_(join_path(path, k), fmt::format("the system has {} {}, numbered from 0, got "
                                                       "{}",
                                                       end, what, last)),
               false;
      found.emplace_back(first, last);
    }
    return true;
  }

  bool keep_ids(const GroupSettings& s, const std::string& path, Members& members) {
    if (s.ids.empty()) return true;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> list;
    if (!ranges(s.ids, join_path(path, "ids"), members.size(), "particles", list)) return false;
    Members chosen(members.size(), 0);
    for (const auto& [first, last] : list)
      std::fill(chosen.begin() + std::ptrdiff_t(first), chosen.begin() + std::ptrdiff_t(last) + 1,
                std::uint8_t(1));
    return keep(members, [&](std::size_t id) { return chosen[id]; });
  }

  bool keep_molecules(const GroupSettings& s, const std::string& path, Members& members) {
    if (s.molecules.empty()) return true;
    std::vector<std::uint32_t> molecule = c_.topology.molecule;
    if (molecule.empty()) {
      Topology topology = c_.topology;
      complete_molecules(topology, members.size());
      molecule = topology.molecule;
    }
    if (molecule.empty())
      return report_(join_path(path, "molecules"), "the system has neither molecules nor bonds"),
             false;
    const std::uint64_t end = std::uint64_t(*std::ranges::max_element(molecule)) + 1;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> list;
    if (!ranges(s.molecules, join_path(path, "molecules"), end, "molecules", list)) return false;
    return keep(members, [&](std::size_t id) {
      return std::ranges::any_of(list, [&](const auto& range) {
        return range.first <= molecule[id] && molecule[id] <= range.second;
      });
    });
  }

  bool keep_box(const GroupSettings& s, const std::string& path, Members& members) {
    if (s.box.empty()) return true;
    const auto dimension = std::size_t(c_.box.dimension);
    const auto is_corner = [&](const auto& corner) {
      return corner.size() == 3 || corner.size() == dimension;
    };
    const std::string key = join_path(path, "box");
    if (s.box.size() != 2 || !std::ranges::all_of(s.box, is_corner))
      return report_(key, fmt::format("must be two corners [[x, y{0}], [x, y{0}]], numbers or null",
                                      dimension == 3 ? ", z" : "")),
             false;
    for (std::size_t axis = 0; axis < s.box[0].size(); ++axis)
      if (s.box[0][axis] && s.box[1][axis] && !(*s.box[0][axis] < *s.box[1][axis]))
        return report_(key,
                       fmt::format("the lower corner must be below the upper one along {}, got "
                                   "{} and {}",
                                   "xyz"[axis], *s.box[0][axis], *s.box[1][axis])),
               false;
    return keep(members, [&](std::size_t id) {
      for (std::size_t axis = 0; axis < s.box[0].size(); ++axis) {
        const double x = c_.position[id][int(axis)];
        if (s.box[0][axis] && x < *s.box[0][axis]) return false;
        if (s.box[1][axis] && !(x < *s.box[1][axis])) return false;
      }
      return true;
    });
  }

  bool keep_formula(const GroupSettings& s, const std::string& path, Members& members) {
    if (!s.formula) return true;
    try {
      const std::vector<double> value = ParticleFormula(*s.formula).values(c_);
      return keep(members,
                  [&](std::size_t id) { return value[id] != 0 && !std::isnan(value[id]); });
    } catch (const UserError& e) {
      return report_(join_path(path, "formula"), e.what()), false;
    }
  }

  /// The members of other groups; false after a mistake. A copy: `c_.groups` may grow.
  bool find(const std::vector<std::string>& names, const std::string& path,
            std::vector<Members>& found) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (names[k] == "all") {
        found.emplace_back(c_.position.size(), std::uint8_t(1));
        continue;
      }
      if (!settings_.contains(names[k])) {
        std::vector<std::string> all{"all"};
        for (const auto& [name, s] : settings_) all.push_back(name);
        return report_(join_path(path, k),
                       fmt::format("unknown group \"{}\"; {}", names[k], suggest(names[k], all))),
               false;
      }
      const Group* const group = resolve(names[k]);
      if (!group) return false;
      found.push_back(group->members());
    }
    return true;
  }

  bool keep_groups(const GroupSettings& s, const std::string& path, Members& members) {
    std::vector<Members> all, any, none;
    if (!find(s.all_of, join_path(path, "and"), all) ||
        !find(s.any_of, join_path(path, "or"), any) ||
        !find(s.none_of, join_path(path, "not"), none))
      return false;
    const auto has = [](std::size_t id) { return [id](const Members& m) { return m[id] != 0; }; };
    return keep(members, [&](std::size_t id) {
      return std::ranges::all_of(all, has(id)) && std::ranges::none_of(none, has(id)) &&
             (any.empty() || std::ranges::any_of(any, has(id)));
    });
  }

  const std::map<std::string, GroupSettings>& settings_;
  Configuration& c_;
  const Report& report_;
  const std::function<bool(const std::string&)> has_mistake_;
  const std::optional<std::uint64_t> step_;
  std::vector<Group> saved_;       // of a checkpoint
  std::vector<std::string> open_;  // groups that are being resolved
};

}  // namespace

void resolve_groups(const std::map<std::string, GroupSettings>& settings,
                    Configuration& configuration, const Report& report,
                    const std::function<bool(const std::string&)>& has_mistake) {
  Resolver(settings, configuration, report, has_mistake).resolve_all();
}

void choose_groups(const std::map<std::string, GroupSettings>& settings, Configuration now,
                   std::uint64_t step, std::vector<Group>& groups) {
  const Report refuse = [](const std::string& path, const std::string& what) {
    throw UserError(fmt::format("{}: {}", path, what));
  };
  const auto none = [](const std::string&) { return false; };
  Resolver(settings, now, refuse, none, step).resolve_all();
  for (Group& group : groups) {
    if (!group.changes()) continue;
    const auto at = std::ranges::find(now.groups, group.name(), &Group::name);
    if (at != now.groups.end() && at->members() != group.members()) group.choose(at->members());
  }
}

}  // namespace perrin
