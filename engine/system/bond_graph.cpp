#include "engine/system/bond_graph.h"

#include <algorithm>
#include <limits>

namespace perrin {

BondGraph::BondGraph(std::size_t particles, const std::vector<Topology::Bond>& bonds)
    : begin_(particles + 1, 0) {
  for (const auto& bond : bonds) ++begin_[bond.a + 1], ++begin_[bond.b + 1];
  for (std::size_t i = 0; i < particles; ++i) begin_[i + 1] += begin_[i];
  all_.resize(begin_.back());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (const auto& bond : bonds) {
    all_[next[bond.a]++] = bond.b;
    all_[next[bond.b]++] = bond.a;
  }
  for (std::size_t i = 0; i < particles; ++i)
    std::sort(all_.begin() + std::ptrdiff_t(begin_[i]),
              all_.begin() + std::ptrdiff_t(begin_[i + 1]));
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> BondGraph::pairs_apart(int bonds) const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::vector<std::uint32_t> seen_from(size(), std::numeric_limits<std::uint32_t>::max());
  std::vector<std::uint32_t> shell, next;
  for (std::uint32_t a = 0; a < size(); ++a) {
    seen_from[a] = a;
    shell.assign(1, a);
    for (int step = 0; step < bonds; ++step) {
      next.clear();
      for (const std::uint32_t here : shell)
        for (const std::uint32_t b : neighbors(here)) {
          if (seen_from[b] == a) continue;
          seen_from[b] = a;
          next.push_back(b);
        }
      shell.swap(next);
    }
    std::sort(shell.begin(), shell.end());
    for (const std::uint32_t b : shell)
      if (b > a) pairs.emplace_back(a, b);
  }
  return pairs;
}

std::vector<std::uint32_t> BondGraph::molecules() const {
  constexpr auto none = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> molecule(size(), none), todo;
  std::uint32_t count = 0;
  for (std::uint32_t first = 0; first < size(); ++first) {
    if (molecule[first] != none) continue;
    molecule[first] = count;
    todo.assign(1, first);
    while (!todo.empty()) {
      const std::uint32_t here = todo.back();
      todo.pop_back();
      for (const std::uint32_t b : neighbors(here)) {
        if (molecule[b] != none) continue;
        molecule[b] = count;
        todo.push_back(b);
      }
    }
    ++count;
  }
  return molecule;
}

void complete_molecules(Topology& topology, std::size_t particles) {
  if (!topology.molecule.empty() || topology.bonds.empty()) return;
  topology.molecule = BondGraph(particles, topology.bonds).molecules();
}

}  // namespace perrin
