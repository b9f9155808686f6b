// The particles of each molecule.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

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

}  // namespace perrin::monte_carlo
