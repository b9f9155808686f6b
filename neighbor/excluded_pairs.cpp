#include "neighbor/excluded_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "engine/system/bond_graph.h"

namespace perrin {
namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Of all with the same number, but for `none`.
Pairs within(const std::vector<std::uint32_t>& number, std::optional<std::uint32_t> none = {}) {
  Pairs pairs;
  std::map<std::uint32_t, std::vector<std::uint32_t>> members;  // numbers may be any
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (none && number[i] == *none) continue;
    auto& others = members[number[i]];
    for (const std::uint32_t other : others) pairs.emplace_back(std::uint32_t(i), other);
    others.push_back(std::uint32_t(i));
  }
  return pairs;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

const std::string listed = " listed", along = " along bonds";

std::size_t number_of(Pairs pairs) {
  for (auto& [a, b] : pairs)
    if (a > b) std::swap(a, b);
  std::sort(pairs.begin(), pairs.end());
  return std::size_t(std::unique(pairs.begin(), pairs.end()) - pairs.begin());
}

}  // namespace

Pairs excluded_pairs(std::size_t particles, const Topology& topology, const std::string& kind) {
  if (kind == "molecules") return within(topology.molecule);
  if (kind == "bodies") return within(topology.body, Topology::no_body);
  Pairs pairs;
  if (kind == "constraints")
    for (const auto& constraint : topology.constraints)
      pairs.emplace_back(constraint.a, constraint.b);
  if (kind == "bonds")
    for (const auto& bond : topology.bonds) pairs.emplace_back(bond.a, bond.b);
  const bool angles = kind.starts_with("angles"), dihedrals = kind.starts_with("dihedrals");
  if ((angles || dihedrals) && !kind.ends_with(listed) && !topology.bonds.empty())
    pairs = BondGraph(particles, topology.bonds).pairs_apart(angles ? 2 : 3);
  if (angles && !kind.ends_with(along))
    for (const auto& angle : topology.angles) pairs.emplace_back(angle.a, angle.c);
  if (dihedrals && !kind.ends_with(along))
    for (const auto& dihedral : topology.dihedrals) pairs.emplace_back(dihedral.a, dihedral.d);
  return pairs;
}

std::vector<std::string> kinds_without(const std::vector<std::string>& kinds,
                                       const std::vector<std::string>& ignored) {
  std::vector<std::string> left;
  for (const auto& kind : kinds) {
    const bool itself = contains(ignored, kind), bonds = contains(ignored, "bonds");
    if (kind == "molecules" || kind == "bodies" || kind == "constraints" || (!itself && !bonds))
      left.push_back(kind);
    else if (kind != "bonds" && !(itself && bonds))
      left.push_back(kind + (itself ? along : listed));
  }
  return left;
}

std::string excluded_text(std::size_t particles, const Topology& topology,
                          const std::vector<std::string>& kinds) {
  std::string text;
  for (const auto& kind : kinds) {
    const std::size_t count = number_of(excluded_pairs(particles, topology, kind));
    if (count == 0) continue;
    const char* what = kind == "bonds"              ? "bonded (1-2)"
                       : kind == "molecules"        ? "within molecules"
                       : kind == "bodies"           ? "within rigid bodies"
                       : kind == "constraints"      ? "constrained"
                       : kind.starts_with("angles") ? "of angles (1-3)"
                                                    : "of dihedrals (1-4)";
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  }
  return text;
}

}  // namespace perrin
