#include "forces/special_pair_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "neighbor/excluded_pairs.h"

namespace perrin {
namespace {

SpecialPair ordered(std::uint32_t a, std::uint32_t b) { return {std::min(a, b), std::max(a, b)}; }

/// Three bonds apart, or ends of a listed dihedral, and no nearer to one another.
std::set<SpecialPair> ends_of_dihedrals(const Configuration& c) {
  std::set<SpecialPair> nearer, pairs;
  const auto collect = [&](const char* kind, std::set<SpecialPair>& into) {
    for (const auto& [a, b] : excluded_pairs(c.position.size(), c.topology, kind))
      into.insert(ordered(a, b));
  };
  collect("bonds", nearer), collect("angles", nearer), collect("dihedrals", pairs);
  for (const SpecialPair& pair : nearer) pairs.erase(pair);
  return pairs;
}

std::set<SpecialPair> listed(const SpecialPairList& s, Setup& setup) {
  std::set<SpecialPair> pairs;
  const auto n = std::int64_t(setup.configuration().position.size());
  for (std::size_t k = 0; k < s.list.size(); ++k) {
    const auto [a, b] = s.list[k];
    const std::string key = fmt::format("list[{}]", k);
    if (a >= n || b >= n)
      setup.error(key, fmt::format("must name particles from 0 to {}, got {} and {}", n - 1, a, b));
    else if (a == b)
      setup.error(key, fmt::format("must name two particles, got {} twice", a));
    else if (!pairs.insert(ordered(std::uint32_t(a), std::uint32_t(b))).second)
      setup.error(key, fmt::format("the pair {}, {} is given twice", a, b));
  }
  if (s.list.empty()) setup.error("list", "must have at least one pair, got none");
  return pairs;
}

}  // namespace

std::set<SpecialPair> special_pairs(const SpecialPairList& s, Setup& setup) {
  if (s.from == "list") return listed(s, setup);
  if (!s.list.empty()) setup.error("list", "is for \"from\": \"list\"");
  const auto pairs = ends_of_dihedrals(setup.configuration());
  if (pairs.empty())
    setup.error("from", "the system has no pair that is three bonds apart, and no dihedrals");
  return pairs;
}

bool in_topology(const std::set<SpecialPair>& pairs, const Configuration& c) {
  std::set<SpecialPair> ends;
  for (const auto& g : c.topology.dihedrals) ends.insert(ordered(g.a, g.d));
  return std::ranges::includes(ends, pairs);
}

}  // namespace perrin
