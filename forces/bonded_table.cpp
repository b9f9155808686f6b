#include "forces/bonded_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "engine/components/setup.h"
#include "engine/system/checks.h"

namespace perrin {
namespace {

/// `ends(member)` lists the (id, entry) pairs of one bond, angle or dihedral.
template <class Entry, class Member, class Ends>
BondedTable<Entry> make_table(const Device& device, std::size_t n,
                              const std::vector<Member>& members, const std::vector<bool>& used,
                              const Ends& ends) {
  std::vector<std::int64_t> offset(n + 1, 0);
  const auto each = [&](const auto& visit) {
    for (const Member& m : members) {
      if (!used.at(m.type)) continue;
      for (const auto& [id, entry] : ends(m)) visit(id, entry);
    }
  };
  each([&](std::uint32_t id, const Entry&) {
    PERRIN_ASSERT(id < n);
    ++offset[id + 1];
  });
  for (std::size_t id = 0; id < n; ++id) offset[id + 1] += offset[id];
  std::vector<Entry> entries(static_cast<std::size_t>(offset[n]));
  std::vector<std::int64_t> next(offset.begin(), offset.end() - 1);
  each([&](std::uint32_t id, const Entry& entry) {
    entries[static_cast<std::size_t>(next[id]++)] = entry;
  });
  BondedTable<Entry> table;
  table.offset = Buffer<std::int64_t>(device, offset);
  table.entries = Buffer<Entry>(device, entries);
  return table;
}

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

BondedTable<BondEntry> bond_table(const Device& device, std::size_t n, const Topology& topology,
                                  const std::vector<bool>& used) {
  using End = std::pair<std::uint32_t, BondEntry>;
  return make_table<BondEntry>(device, n, topology.bonds, used, [](const Topology::Bond& b) {
    return std::array<End, 2>{End{b.a, {b.b, b.type}}, End{b.b, {b.a, b.type}}};
  });
}

BondedTable<AngleEntry> angle_table(const Device& device, std::size_t n, const Topology& topology,
                                    const std::vector<bool>& used) {
  using End = std::pair<std::uint32_t, AngleEntry>;
  return make_table<AngleEntry>(device, n, topology.angles, used, [](const Topology::Angle& a) {
    return std::array<End, 3>{End{a.a, a}, End{a.b, a}, End{a.c, a}};
  });
}

BondedTable<DihedralEntry> dihedral_table(const Device& device, std::size_t n,
                                          const std::vector<Topology::Dihedral>& members,
                                          const std::vector<bool>& used) {
  using End = std::pair<std::uint32_t, DihedralEntry>;
  return make_table<DihedralEntry>(device, n, members, used, [](const Topology::Dihedral& g) {
    return std::array<End, 4>{End{g.a, g}, End{g.b, g}, End{g.c, g}, End{g.d, g}};
  });
}

void warn_of_long_rest(Setup& setup, const std::string& key, const std::string& name,
                       const std::function<double(double)>& rest) {
  const Configuration& c = setup.configuration();
  const double half = largest_range(c.box);
  const auto& t = c.topology;
  const bool used = std::any_of(t.bonds.begin(), t.bonds.end(), [&](const Topology::Bond& bond) {
    return t.bond_types[bond.type] == name;
  });
  if (!used || !std::isfinite(half)) return;
  const double length = rest(4 * half);
  if (length <= half * (1 + 1e-6)) return;
  setup.warn(
      fmt::format("{}.{}", key, name),
      fmt::format("the energy of these bonds is lowest at a length of {:.4g}, more than half the "
                  "shortest distance between opposite faces of the box ({:.6g}): bonds act along "
                  "the nearest image, which is shorter than that; use a larger box",
                  length, half));
}

void check_bonded_types(Setup& setup, const std::string& what, const std::string& key,
                        const std::vector<std::string>& given, const std::vector<std::string>& skip,
                        const std::vector<std::string>& types, const std::vector<bool>& in_use) {
  const std::string known = types.empty()
                                ? fmt::format("the system has no {}s", what)
                                : fmt::format("known {} types: {}", what, fmt::join(types, ", "));
  for (const auto& name : given) {
    if (!contains(types, name))
      setup.error(fmt::format("{}.{}", key, name), fmt::format("unknown {} type; {}", what, known));
    else if (contains(skip, name))
      setup.error("skip",
                  fmt::format("{} type '{}' has coefficients and is also in 'skip'", what, name));
  }
  for (const auto& name : skip) {
    if (!contains(types, name))
      setup.error("skip", fmt::format("unknown {} type '{}'; {}", what, name, known));
  }
  for (std::size_t t = 0; t < types.size(); ++t) {
    if (in_use[t] && !contains(given, types[t]) && !contains(skip, types[t]))
      setup.error(key, fmt::format("no coefficients for {} type '{}' (if another force handles it, "
                                   "list it in 'skip')",
                                   what, types[t]));
  }
}

}  // namespace perrin
