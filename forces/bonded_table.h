// Who takes part in which bond, angle or dihedral, particle by particle.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/system/configuration.h"

namespace perrin {

class Setup;

/// Entries of the particle with this id: entries[offset[id]] … entries[offset[id + 1] - 1], in the
/// order of the topology. Every particle of a bond, angle or dihedral has an entry, so that a
/// kernel writes only to its own particle and the order of addition is fixed.
template <class Entry>
struct BondedView {
  const std::int64_t* offset;
  const Entry* entries;
};

template <class Entry>
struct BondedTable {
  Buffer<std::int64_t> offset;  // n + 1
  Buffer<Entry> entries;

  BondedView<Entry> view() const { return {offset.data(), entries.data()}; }
};

struct BondEntry {
  std::uint32_t partner, type;  // id; index of the bond type
};

using AngleEntry = Topology::Angle;  // ids a, b (vertex), c: the particle itself is one of them

using DihedralEntry = Topology::Dihedral;

/// Takes over another one, with room for more, so that addresses last. False: they have.
template <class Entry>
bool replace(BondedTable<Entry>& table, const BondedTable<Entry>& by) {
  const auto take = [](auto& into, const auto& from) {
    const auto* const at = into.data();
    into.resize(from.size());
    if (into.data() != at) into.resize(from.size() * 3 / 2);
    into.resize(from.size());
    into.copy_from(from);
    return into.data() != at;
  };
  const bool offset = take(table.offset, by.offset), entries = take(table.entries, by.entries);
  return offset || entries;
}

/// Bonds, angles or dihedrals whose type is false in `used` are left out. Throws BugError for ids
/// beyond n.
BondedTable<BondEntry> bond_table(const Device& device, std::size_t n, const Topology& topology,
                                  const std::vector<bool>& used);
BondedTable<AngleEntry> angle_table(const Device& device, std::size_t n, const Topology& topology,
                                    const std::vector<bool>& used);
BondedTable<DihedralEntry> dihedral_table(const Device& device, std::size_t n,
                                          const std::vector<Topology::Dihedral>& members,
                                          const std::vector<bool>& used);

/// Compares the names that a job gives coefficients for (`key`: where) and those it leaves to
/// another force ("skip") with the types of the topology, and reports through `setup` unknown names
/// and types in use without coefficients. `what` is "bond", "angle", "dihedral" or "improper".
void check_bonded_types(Setup& setup, const std::string& what, const std::string& key,
                        const std::vector<std::string>& given, const std::vector<std::string>& skip,
                        const std::vector<std::string>& types, const std::vector<bool>& in_use);

/// Warns of bonds of a type in use that are longer at rest than the nearest image can be:
/// `rest(longest)` is the length up to `longest` at which the energy is lowest.
void warn_of_long_rest(Setup& setup, const std::string& key, const std::string& name,
                       const std::function<double(double)>& rest);

/// Which types occur among the members.
template <class Member>
std::vector<bool> types_in_use(const std::vector<Member>& members, std::size_t types) {
  std::vector<bool> used(types, false);
  for (const Member& m : members) used.at(m.type) = true;
  return used;
}

}  // namespace perrin
