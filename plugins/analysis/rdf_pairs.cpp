#include "rdf_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace perrin::analysis {

RdfPairs::RdfPairs(const RdfSettings& settings, Setup& setup) {
  find_groups(settings, setup);
  choose(settings, setup);
  exclude(settings.exclude, setup);
}

void RdfPairs::find_groups(const RdfSettings& settings, Setup& setup) {
  std::array<const Group*, 2> group{};
  if (settings.groups.empty()) {
    if (settings.group == "all") return;
    group[0] = group[1] = setup.fixed_group(settings.group, "group");
    groups_ = "group " + settings.group;
  } else {
    if (settings.group != "all")
      setup.error("groups",
                  "cannot stand beside \"group\": pairs are those within one group, or "
                  "those between two");
    if (settings.groups.size() != 2)
      return setup.error("groups",
                         fmt::format("must be two names, got {}", settings.groups.size()));
    for (std::size_t k = 0; k < 2; ++k)
      group[k] = setup.fixed_group(settings.groups[k], fmt::format("groups[{}]", k));
    groups_ = fmt::format("groups {} {}", settings.groups[0], settings.groups[1]);
  }
  if (!group[0] || !group[1]) return;
  member_.resize(setup.configuration().type.size());
  for (std::size_t id = 0; id < member_.size(); ++id)
    member_[id] = std::uint8_t((group[0]->has(id) ? 1 : 0) + (group[1]->has(id) ? 2 : 0));
  in_ = {setup.device(), std::span<const std::uint8_t>(member_)};
}

double RdfPairs::number_of_pairs(const Numbers& n, std::uint32_t a, std::uint32_t b) {
  double pairs = 0;
  for (std::uint32_t x = 1; x < 4; ++x)
    for (std::uint32_t y = 1; y < 4; ++y) {
      if (!PairsOfGroups::has(x, y)) continue;
      if (a != b)
        pairs += n[a][x] * n[b][y];
      else
        pairs += n[a][x] * (n[a][y] - (x == y ? 1 : 0)) / 2;
    }
  return pairs;
}

void RdfPairs::choose(const RdfSettings& settings, Setup& setup) {
  const Configuration& c = setup.configuration();
  const auto types = std::uint32_t(c.types.size());
  Numbers n(types);
  for (std::size_t id = 0; id < c.type.size(); ++id) ++n[c.type[id]][in(id)];
  std::vector<std::int32_t> kind_of(types * types, -1);
  const auto add = [&](std::uint32_t a, std::uint32_t b) {
    kind_of[a * types + b] = kind_of[b * types + a] = std::int32_t(kinds_.size());
    kinds_.push_back({{a, b}, c.types[a] + "-" + c.types[b], number_of_pairs(n, a, b)});
  };
  for (std::size_t k = 0; k < settings.pairs.size(); ++k) {
    const std::string key = fmt::format("pairs[{}]", k);
    std::uint32_t a = setup.type_index(settings.pairs[k][0], key + "[0]"),
                  b = setup.type_index(settings.pairs[k][1], key + "[1]");
    if (b < a) std::swap(a, b);
    if (kind_of[a * types + b] >= 0) setup.error(key, "is given twice");
    add(a, b);
    if (!member_.empty() && kinds_.back().number == 0)
      setup.error(key, fmt::format("no pair {} is in the {}", kinds_.back().name, groups_));
  }
  for (std::uint32_t a = 0; a < types && settings.pairs.empty(); ++a)
    for (std::uint32_t b = a; b < types; ++b)
      if (member_.empty() || number_of_pairs(n, a, b) > 0) add(a, b);
  if (kinds_.empty())
    setup.error(settings.groups.empty() ? "group" : "groups",
                fmt::format("no pair of particles is in the {}", groups_));
  kind_of_ = {setup.device(), std::span<const std::int32_t>(kind_of)};
}

void RdfPairs::exclude(const std::string& kind, Setup& setup) {
  const Configuration& c = setup.configuration();
  const Topology& t = c.topology;
  if (kind == "bonds") {
    std::set<std::array<std::uint32_t, 2>> bonds;
    for (const auto& bond : t.bonds)
      if (PairsOfGroups::has(in(bond.a), in(bond.b)))
        bonds.insert({std::min(bond.a, bond.b), std::max(bond.a, bond.b)});
    std::vector<std::uint32_t> ids;
    for (const auto& [a, b] : bonds) {
      ids.insert(ids.end(), {a, b});
      const std::array<std::uint32_t, 2> types{std::min(c.type[a], c.type[b]),
                                               std::max(c.type[a], c.type[b])};
      for (Kind& k : kinds_)
        if (k.types == types) k.number -= 1;
    }
    bonds_ = {setup.device(), std::span<const std::uint32_t>(ids)};
  }
  if (kind != "molecules") return;
  if (t.molecule.empty()) return setup.error("exclude", "the system has no molecules");
  molecule_ = {setup.device(), std::span<const std::uint32_t>(t.molecule)};
  std::map<std::uint32_t, Numbers> inside;  // each molecule
  for (std::size_t id = 0; id < t.molecule.size(); ++id) {
    Numbers& n = inside[t.molecule[id]];
    n.resize(c.types.size());
    ++n[c.type[id]][in(id)];
  }
  for (const auto& [molecule, n] : inside)
    for (Kind& k : kinds_) k.number -= number_of_pairs(n, k.types[0], k.types[1]);
}

}  // namespace perrin::analysis
