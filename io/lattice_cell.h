// Crystals: conventional cells, and types on their sites.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/real.h"

namespace perrin::io {

/// The conventional cell: sites in units of its edges, edges in units of the lattice constant.
struct Cell {
  std::vector<Vec3<double>> sites;
  Vec3<double> edges{1, 1, 1};
  int dimension = 3;
};

/// "fcc", "bcc", "sc", "square" or "hexagonal".
Cell cell_of(const std::string& structure);

/// n things divided after relative amounts, in the order of the names, by largest remainder.
std::vector<std::size_t> apportion(const std::map<std::string, double>& amounts, std::size_t n);

/// Types 0, 1, … of sites, so many of each, by a keyed shuffle.
std::vector<std::uint32_t> types_at_random(const std::vector<std::size_t>& count,
                                           std::uint64_t seed);

}  // namespace perrin::io
