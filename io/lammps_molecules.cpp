#include "io/lammps_molecules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "engine/base/error.h"
#include "engine/system/bond_graph.h"

namespace perrin::io {

void number_loose_particles(Configuration& c, const std::string& where) {
  auto& molecule = c.topology.molecule;
  if (std::ranges::count(molecule, 0u) == 0) return;
  const std::uint64_t first = std::uint64_t(std::ranges::max(molecule)) + 1;
  if (first == 1) return molecule.clear();
  const auto by_bonds = BondGraph(molecule.size(), c.topology.bonds).molecules();
  if (first + molecule.size() > std::numeric_limits<std::uint32_t>::max())
    throw UserError(fmt::format(
        "{}: the largest number of a molecule is {}, which leaves no numbers for the particles "
        "that belong to none (0)",
        where, first - 1));
  for (std::size_t i = 0; i < molecule.size(); ++i)
    if (molecule[i] == 0) molecule[i] = std::uint32_t(first) + by_bonds[i];
}

}  // namespace perrin::io
