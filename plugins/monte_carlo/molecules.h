// The particles of each molecule.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

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

/// Numbers of what a rigid motion moves as one: [id], from 0. These are the molecules; where there
/// are rigid bodies, these, too, and each particle that belongs to neither.
inline std::vector<std::uint32_t> moved_together(const Topology& t) {
  if (t.body.empty()) return t.molecule;
  std::vector<std::uint32_t> lowest(t.body.size());  // id of the same, not higher than its own
  std::iota(lowest.begin(), lowest.end(), 0u);
  const auto root = [&](std::uint32_t id) {
    while (lowest[id] != id) id = lowest[id] = lowest[lowest[id]];
    return id;
  };
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    a = root(a), b = root(b);
    lowest[std::max(a, b)] = std::min(a, b);
  };
  std::vector<std::uint32_t> first_of(t.body.size(), Topology::no_body);  // [molecule]
  for (std::uint32_t id = 0; id < t.body.size(); ++id) {
    if (t.body[id] != Topology::no_body) join(id, t.body[id]);
    if (t.molecule.empty()) continue;
    std::uint32_t& first = first_of[t.molecule[id]];
    if (first == Topology::no_body) first = id;
    join(id, first);
  }
  std::vector<std::uint32_t> number(t.body.size());
  std::uint32_t count = 0;
  for (std::uint32_t id = 0; id < number.size(); ++id)
    number[id] = root(id) == id ? count++ : number[root(id)];
  return number;
}

}  // namespace perrin::monte_carlo
