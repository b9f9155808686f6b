#include "engine/dynamics/bond_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "engine/system/checks.h"

namespace perrin {
namespace {

std::optional<std::uint32_t> number_of(const std::vector<std::string>& names,
                                       const std::string& name) {
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) return std::nullopt;
  return std::uint32_t(at - names.begin());
}

class BondRulesReader {
 public:
  BondRulesReader(const DynamicBondsSettings& s, Configuration& c, const StagesNamed& stages,
                  const ReportMistake& report)
      : s_(s), c_(c), stages_(stages), report_(report) {}

  std::optional<BondRules> resolve() {
    if (s_.form.empty() && s_.broken.empty())
      error("", "must have \"form\" or \"break\", got neither");
    rules_.stride = s_.stride;
    read_valences();
    for (std::size_t k = 0; k < s_.form.size(); ++k) read(s_.form[k], fmt::format("form[{}]", k));
    check_use();
    // Behind "form", whose types can break.
    for (std::size_t k = 0; k < s_.broken.size(); ++k)
      read(s_.broken[k], fmt::format("break[{}]", k));
    if (good_) check_bonds();
    if (!good_) return std::nullopt;
    return std::move(rules_);
  }

 private:
  void error(const std::string& key, const std::string& what) {
    good_ = false;
    report_(key.empty() ? "dynamic_bonds" : "dynamic_bonds." + key, what);
  }
  std::uint32_t particle_type(const std::string& name, const std::string& key) {
    if (const auto type = number_of(c_.types, name)) return *type;
    error(key, fmt::format("unknown particle type \"{}\"; the system has {}", name,
                           fmt::join(c_.types, ", ")));
    return 0;
  }

  void read_valences() {
    rules_.valence.assign(c_.types.size(), -1);
    for (const auto& [name, most] : s_.valence) {
      const std::string key = "valence." + name;
      const std::uint32_t type = particle_type(name, key);
      if (most < 1)
        error(key, fmt::format("must be at least 1, got {}", most));
      else if (good_)
        rules_.valence[type] = most;
    }
  }

  /// The number of a type, which is added where there is none of that name.
  std::uint32_t added(std::vector<std::string>& names, const std::string& name,
                      const std::string& key) {
    // Checkpoints and files have names line by line.
    if (name.empty() || name.find_first_of("\n\r") != std::string::npos)
      error(key, "must be a name of one line");
    if (const auto type = number_of(names, name)) return *type;
    names.push_back(name);
    return std::uint32_t(names.size() - 1);
  }

  void read(const FormBondSettings& s, const std::string& key) {
    BondRules::Form rule{};
    for (std::size_t k = 0; k < 2; ++k) {
      const bool before = good_;
      rule.types[k] = particle_type(s.types[k], key + ".types");
      if (good_ == before && good_ && rules_.valence[rule.types[k]] < 0)
        error("valence", fmt::format("must say how many bonds a particle of type {} can have, "
                                     "since {} makes bonds of it",
                                     s.types[k], key));
    }
    rule.bond = added(c_.topology.bond_types, s.bond, key + ".bond");
    if (!s.angle.empty()) rule.angle = added(c_.topology.angle_types, s.angle, key + ".angle");
    const double largest = largest_range(c_.box);
    if (s.distance > largest)
      error(key + ".distance",
            fmt::format("must be at most {:.6g}, half the shortest distance between opposite faces "
                        "of the box, got {:.6g}",
                        largest, s.distance));
    rule.distance = s.distance, rule.probability = s.probability;
    rule.by_valence = s.reactivity == "valence";
    rule.stages = stages_(s.stages, "dynamic_bonds." + key + ".stages");
    rules_.form.push_back(std::move(rule));
  }

  void read(const BreakBondSettings& s, const std::string& key) {
    const auto& names = c_.topology.bond_types;
    const auto type = number_of(names, s.bond);
    if (!type)
      error(key + ".bond",
            fmt::format("unknown bond type \"{}\"; {}", s.bond,
                        names.empty() ? std::string("the system has no bonds, and none are made")
                                      : fmt::format("there are {}", fmt::join(names, ", "))));
    rules_.broken.push_back({type.value_or(0), s.length, s.probability,
                             stages_(s.stages, "dynamic_bonds." + key + ".stages"),
                             s.force.value_or(0)});
  }

  void check_use() {
    for (const auto& [name, unused] : s_.valence) {
      const auto takes_part = [&name = name](const FormBondSettings& f) {
        return f.types[0] == name || f.types[1] == name;
      };
      if (number_of(c_.types, name) && std::ranges::none_of(s_.form, takes_part))
        error("valence." + name, fmt::format("has no effect: \"form\" makes no bonds of particles "
                                             "of type {}",
                                             name));
    }
  }

  /// Of the system as it is: nobody has more bonds than it can have.
  void check_bonds() {
    std::vector<std::int64_t> bonds(c_.position.size(), 0);
    for (const auto& bond : c_.topology.bonds) ++bonds[bond.a], ++bonds[bond.b];
    for (std::size_t id = 0; id < bonds.size(); ++id) {
      const std::int64_t most = rules_.valence[c_.type[id]];
      if (most < 0 || bonds[id] <= most) continue;
      return error("valence." + c_.types[c_.type[id]],
                   fmt::format("must be at least {}, the number of bonds that particle {} has, got "
                               "{}",
                               bonds[id], id, most));
    }
  }

  const DynamicBondsSettings& s_;
  Configuration& c_;
  const StagesNamed& stages_;
  const ReportMistake& report_;
  BondRules rules_;
  bool good_ = true;
};

}  // namespace

std::optional<BondRules> resolve_dynamic_bonds(const DynamicBondsSettings& settings,
                                               Configuration& configuration,
                                               const StagesNamed& stages,
                                               const ReportMistake& report) {
  return BondRulesReader(settings, configuration, stages, report).resolve();
}

BondedCounts most_bonded(const BondRules& rules, const Configuration& c) {
  const Topology& t = c.topology;
  const auto number = [](const auto& list) { return std::int64_t(list.size()); };
  // Bonds that break leave valences behind, from which others are made: of all bonds that a
  // particle can have at any time, each is shared by two.
  std::vector<std::int64_t> bonds(c.position.size(), 0);
  for (const auto& bond : t.bonds) ++bonds[bond.a], ++bonds[bond.b];
  std::int64_t ends = 0, corners = 0;
  for (std::size_t id = 0; id < bonds.size(); ++id) {
    const std::int64_t most = std::max(bonds[id], rules.valence[c.type[id]]);
    ends += most;
    corners += most * (most - 1) / 2;
  }
  const bool angles = std::ranges::any_of(rules.form, [](const auto& f) { return bool(f.angle); });
  return {rules.form.empty() ? number(t.bonds) : ends / 2,
          number(t.angles) + (angles ? corners : 0), number(t.dihedrals), number(t.impropers)};
}

}  // namespace perrin
