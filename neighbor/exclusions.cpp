#include "neighbor/exclusions.h"

#include <algorithm>
#include <map>

namespace perrin {
namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Pairs within_molecules(const Topology& topology) {
  Pairs pairs;
  std::map<std::uint32_t, std::vector<std::uint32_t>> members;  // numbers may be any
  for (std::size_t i = 0; i < topology.molecule.size(); ++i) {
    auto& others = members[topology.molecule[i]];
    for (const std::uint32_t other : others) pairs.emplace_back(std::uint32_t(i), other);
    others.push_back(std::uint32_t(i));
  }
  return pairs;
}

Pairs pairs_of(const Topology& topology, const std::string& kind) {
  if (kind == "molecules") return within_molecules(topology);
  Pairs pairs;
  if (kind == "bonds")
    for (const auto& bond : topology.bonds) pairs.emplace_back(bond.a, bond.b);
  if (kind == "angles")
    for (const auto& angle : topology.angles) pairs.emplace_back(angle.a, angle.c);
  if (kind == "dihedrals")
    for (const auto& dihedral : topology.dihedrals) pairs.emplace_back(dihedral.a, dihedral.d);
  return pairs;
}

}  // namespace

Exclusions::Exclusions(const Device& device, std::int64_t particles, const Topology& topology,
                       const std::vector<std::string>& kinds) {
  std::vector<std::vector<std::uint32_t>> partners(static_cast<std::size_t>(particles));
  bool any = false;
  for (const auto& kind : kinds)
    for (const auto& [a, b] : pairs_of(topology, kind)) {
      partners[a].push_back(b);
      partners[b].push_back(a);
      any = true;
    }
  if (!any) return;
  std::vector<std::uint32_t> begin{0}, all;
  for (auto& list : partners) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    all.insert(all.end(), list.begin(), list.end());
    begin.push_back(std::uint32_t(all.size()));
  }
  begin_ = {device, std::span<const std::uint32_t>(begin)};
  excluded_ = {device, std::span<const std::uint32_t>(all)};
}

}  // namespace perrin
