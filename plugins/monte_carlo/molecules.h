// The particles of each molecule.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/system/bond_graph.h"
#include "engine/system/configuration.h"

namespace perrin::monte_carlo {

struct Molecules {
  std::vector<std::uint32_t> of;      // [id]: number of its molecule
  std::vector<std::uint32_t> begin;   // [molecule], and the end of the last one
  std::vector<std::uint32_t> member;  // ids begin[m] … begin[m + 1] - 1 of it, in order
  std::uint32_t largest = 0;          // particles of a molecule

  Molecules() = default;
  explicit Molecules(std::vector<std::uint32_t> numbers) : of(std::move(numbers)) {
    const std::uint32_t count = of.empty() ? 0 : *std::ranges::max_element(of) + 1;
    begin.assign(count + 1, 0), member.resize(of.size());
    for (const std::uint32_t m : of) ++begin[m + 1];
    largest = *std::ranges::max_element(begin);
    for (std::uint32_t m = 0; m < count; ++m) begin[m + 1] += begin[m];
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (std::uint32_t id = 0; id < of.size(); ++id) member[next[of[id]]++] = id;
  }
  std::uint32_t count() const { return std::uint32_t(begin.size()) - 1; }
  std::uint32_t size(std::uint32_t m) const { return begin[m + 1] - begin[m]; }
};

/// Numbers of what a rigid motion moves as one: [id], from 0. These are molecules by their numbers,
/// those of the input or of the bonds of the start; rigid bodies; and what bonds, angles, dihedrals
/// and impropers hold together now, whatever its numbers: their energies are not asked for.
inline std::vector<std::uint32_t> moved_together(const Topology& t) {
  const std::size_t n = std::max(t.body.size(), t.molecule.size());
  std::vector<std::uint32_t> lowest(n);  // id of the same, not higher than its own
  std::iota(lowest.begin(), lowest.end(), 0u);
  const auto root = [&](std::uint32_t id) {
    while (lowest[id] != id) id = lowest[id] = lowest[lowest[id]];
    return id;
  };
  const auto join = [&](std::uint32_t a, std::uint32_t b) {  // whether they were not yet
    a = root(a), b = root(b);
    lowest[std::max(a, b)] = std::min(a, b);
    return a != b;
  };
  std::unordered_map<std::uint32_t, std::uint32_t> first_of;  // [molecule]: numbers may have gaps
  bool more = !t.body.empty();
  for (std::uint32_t id = 0; id < n; ++id) {
    if (!t.body.empty() && t.body[id] != Topology::no_body) join(id, t.body[id]);
    if (t.molecule.empty()) continue;
    join(id, first_of.try_emplace(t.molecule[id], id).first->second);
    more |= t.molecule[id] >= n;
  }
  for (const auto& one : t.bonds) more |= join(one.a, one.b);
  for (const auto& one : t.angles)
    for (const std::uint32_t end : {one.a, one.c}) more |= join(one.b, end);
  for (const auto* const list : {&t.dihedrals, &t.impropers})
    for (const auto& one : *list)
      for (const std::uint32_t other : {one.b, one.c, one.d}) more |= join(one.a, other);
  if (!more) return t.molecule;
  std::vector<std::uint32_t> number(n);
  std::uint32_t count = 0;
  for (std::uint32_t id = 0; id < n; ++id) number[id] = root(id) == id ? count++ : number[root(id)];
  return number;
}

/// Molecules whose members, from the first one on, each come after one that it hangs on: by a bond,
/// or as a site on its body; else on the first one.
struct LinkedMolecules {
  Molecules molecules;
  std::vector<std::uint32_t> before;  // [as member]: which of the same molecule; of the first: 0

  explicit LinkedMolecules(const Topology& t)
      : molecules(moved_together(t)), before(molecules.member.size(), 0) {
    std::vector<Topology::Bond> links = t.bonds;
    for (std::uint32_t id = 0; id < t.body.size(); ++id)
      if (t.body[id] != Topology::no_body && t.body[id] != id)
        links.push_back({.a = id, .b = t.body[id], .type = 0});
    const BondGraph graph(molecules.of.size(), links);
    std::vector<bool> seen(molecules.of.size());
    for (std::uint32_t m = 0; m < molecules.count(); ++m) order(m, graph, seen);
  }

 private:
  void order(std::uint32_t m, const BondGraph& graph, std::vector<bool>& seen) {
    const std::uint32_t first = molecules.begin[m], size = molecules.size(m);
    const std::vector<std::uint32_t> ids(molecules.member.begin() + first,
                                         molecules.member.begin() + first + size);
    std::uint32_t count = 0;
    const auto take = [&](std::uint32_t id, std::uint32_t after) {
      if (seen[id]) return;
      seen[id] = true;
      molecules.member[first + count] = id, before[first + count++] = after;
    };
    std::uint32_t looked_at = 0;
    for (const std::uint32_t id : ids) {
      take(id, 0);
      for (; looked_at < count; ++looked_at)
        for (const std::uint32_t next : graph.neighbors(molecules.member[first + looked_at]))
          if (molecules.of[next] == m) take(next, looked_at);
    }
  }
};

}  // namespace perrin::monte_carlo
