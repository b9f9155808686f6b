#include "io/h5md_bonds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "io/h5md_elements.h"

namespace perrin::io {
namespace {

struct BondedKind {
  const char* name;
  std::size_t width;  // particles of each
};
constexpr std::array<BondedKind, 4> bonded_kinds{
    {{"bonds", 2}, {"angles", 3}, {"dihedrals", 4}, {"impropers", 4}}};

std::string path_of(int kind) {
  return std::string("connectivity/") + bonded_kinds[std::size_t(kind)].name;
}
std::string types_of(int kind) {
  return std::string("parameters/perrin/") + bonded_kinds[std::size_t(kind)].name + "_type";
}

/// Of one kind: particles, one group of them after another, and their types.
struct FlatList {
  std::vector<std::uint32_t> members;
  std::vector<std::int32_t> types;
};

FlatList flat_list(const Topology& t, int kind) {
  FlatList flat;
  const auto add = [&](std::initializer_list<std::uint32_t> ids, std::uint32_t type) {
    flat.members.insert(flat.members.end(), ids);
    flat.types.push_back(std::int32_t(type));
  };
  if (kind == 0)
    for (const auto& m : t.bonds) add({m.a, m.b}, m.type);
  if (kind == 1)
    for (const auto& m : t.angles) add({m.a, m.b, m.c}, m.type);
  if (kind >= 2)
    for (const auto& m : kind == 2 ? t.dihedrals : t.impropers) add({m.a, m.b, m.c, m.d}, m.type);
  return flat;
}

const std::vector<std::string>& type_names(const Topology& t, int kind) {
  return kind == 0   ? t.bond_types
         : kind == 1 ? t.angle_types
         : kind == 2 ? t.dihedral_types
                     : t.improper_types;
}

}  // namespace

void write_bonds(const Node& root, const Configuration& c) {
  for (int kind = 0; kind < 4; ++kind) {
    const FlatList list = flat_list(c.topology, kind);
    if (list.types.empty()) continue;
    std::vector<std::int32_t> members(list.members.begin(), list.members.end());
    if (!c.id.empty())
      for (std::size_t k = 0; k < members.size(); ++k)
        members[k] = std::int32_t(c.id[list.members[k]]);
    root.write(path_of(kind), {list.types.size(), bonded_kinds[std::size_t(kind)].width},
               members.data())
        .attribute_reference("particles_group", "/particles/all");
    root.write(types_of(kind), list.types);
    write_names(root, types_of(kind) + "_names", type_names(c.topology, kind));
  }
}

void make_moving_bonds(const Node& root, const Topology& topology, const BondedCounts& most,
                       const Node& step, const Node& time) {
  const std::array<std::int64_t, 4> room{most.bonds, most.angles, most.dihedrals, most.impropers};
  for (int kind = 0; kind < 4; ++kind) {
    const auto rows = hsize_t(room[std::size_t(kind)]);
    if (rows == 0) continue;
    // Most of the rows hold what is in the frame before, or nothing.
    const Packing packed{Packing::Filter::deflate};
    const auto make = [&](const std::string& path, const Shape& row) {
      Node group = root.make_group(path);
      Series::make(group, "value", H5T_STD_I32LE, row, 1, packed);
      group.hard_link(step, "step");
      group.hard_link(time, "time");
      return group;
    };
    make(path_of(kind), {rows, bonded_kinds[std::size_t(kind)].width})
        .attribute_reference("particles_group", "/particles/all");
    make(types_of(kind), {rows});
    write_names(root, types_of(kind) + "_names", type_names(topology, kind));
  }
}

void MovingBonds::open(const Node& root) {
  lists_.clear();
  for (int kind = 0; kind < 4; ++kind) {
    if (!root.has(path_of(kind)) || root.open(path_of(kind)).is_dataset()) continue;
    lists_.push_back({kind, Series::open(root, path_of(kind) + "/value", H5T_NATIVE_INT32),
                      Series::open(root, types_of(kind) + "/value", H5T_NATIVE_INT32)});
  }
  if (is_open()) id_ = root.open("particles/all/id").read<std::int32_t>();
}

void MovingBonds::trim(const Node& root, std::int64_t frames) {
  MovingBonds bonds;
  bonds.open(root);
  for (List& list : bonds.lists_)
    for (Series* const series : {&list.members, &list.types}) {
      if (series->size() < frames)
        throw UserError(fmt::format("{}: cannot be continued: {} has {} frames, expected {}",
                                    root.file(), series->node().path(), series->size(), frames));
      series->truncate(frames);
    }
}

void MovingBonds::append(const Topology& topology) {
  for (List& list : lists_) {
    const FlatList flat = flat_list(topology, list.kind);
    const std::size_t width = bonded_kinds[std::size_t(list.kind)].width;
    const auto room = std::size_t(list.types.node().shape().at(1));
    if (flat.types.size() > room)
      throw RunError(
          fmt::format("{}: {} has room for {} {}, and the frame has {}: write into "
                      "another file where dynamic_bonds is not what it was",
                      list.members.node().file(), list.members.node().path(), room,
                      bonded_kinds[std::size_t(list.kind)].name, flat.types.size()));
    std::vector<std::int32_t> members(room * width, -1), types = flat.types;
    for (std::size_t k = 0; k < flat.members.size(); ++k) members[k] = id_.at(flat.members[k]);
    types.resize(room, 0);
    list.types.append(types.data());
    list.types.flush();
    list.members.append(members.data());
    list.members.flush();
  }
}

}  // namespace perrin::io
