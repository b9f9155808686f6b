#include "io/lattice_cell.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/placement.h"

namespace perrin::io {

Cell cell_of(const std::string& structure) {
  if (structure == "fcc")
    return {{{0.25, 0.25, 0.25}, {0.25, 0.75, 0.75}, {0.75, 0.25, 0.75}, {0.75, 0.75, 0.25}}};
  if (structure == "bcc") return {{{0.25, 0.25, 0.25}, {0.75, 0.75, 0.75}}};
  if (structure == "sc") return {{{0.5, 0.5, 0.5}}};
  if (structure == "square") return {{{0.5, 0.5, 0.5}}, {1, 1, 1}, 2};
  // Two rows of a hexagonal lattice make a rectangle of 1 by the square root of 3.
  return {{{0.25, 0.25, 0.5}, {0.75, 0.75, 0.5}}, {1, std::sqrt(3.0), 1}, 2};
}

std::vector<std::size_t> apportion(const std::map<std::string, double>& amounts, std::size_t n) {
  double total = 0;
  for (const auto& [name, share] : amounts) total += share;
  std::vector<std::size_t> count;
  std::vector<std::pair<double, std::size_t>> remainder;
  std::size_t assigned = 0;
  for (const auto& [name, share] : amounts) {
    const double exact = share / total * double(n);
    count.push_back(std::size_t(exact));
    assigned += count.back();
    remainder.emplace_back(-(exact - std::floor(exact)), remainder.size());
  }
  std::ranges::sort(remainder);
  for (std::size_t k = 0; assigned < n; ++k, ++assigned)
    ++count[remainder[k % count.size()].second];
  return count;
}

std::vector<std::uint32_t> types_at_random(const std::vector<std::size_t>& count,
                                           std::uint64_t seed) {
  std::vector<std::uint32_t> types;
  for (std::size_t k = 0; k < count.size(); ++k)
    types.insert(types.end(), count[k], std::uint32_t(k));
  if (count.size() == 1) return types;
  const auto order = shuffled(Purpose::initial_types, seed, std::uint32_t(types.size()));
  std::vector<std::uint32_t> result(types.size());
  for (std::size_t k = 0; k < types.size(); ++k) result[order[k]] = types[k];
  return result;
}

}  // namespace perrin::io
