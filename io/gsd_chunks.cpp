#include "io/gsd_chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/base/error.h"

namespace perrin::io::gsd {

void Chunks::put_reals(const std::string& name, const std::vector<double>& values,
                       std::size_t columns) {
  const std::size_t rows = values.size() / columns;
  if (fine_) return put(name, f64, rows, columns, values.data());
  std::vector<float> numbers(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    numbers[k] = float(values[k]);
    if (!std::isfinite(numbers[k]))
      throw UserError(fmt::format("{}: {} {} of particle {} does not fit a number of 32 bits",
                                  path_, name, values[k], k / columns));
  }
  put(name, f32, rows, columns, numbers.data());
}

void Chunks::put_names(const std::string& name, const std::vector<std::string>& list) {
  std::size_t width = 1;
  for (const auto& text : list) width = std::max(width, text.size() + 1);
  std::vector<char> bytes(width * list.size(), '\0');
  for (std::size_t k = 0; k < list.size(); ++k)
    std::memcpy(bytes.data() + k * width, list[k].data(), list[k].size());
  put(name, i8, list.size(), width, bytes.data());
}

void Chunks::put_text(const std::string& name, const std::string& text) {
  put(name, u8, text.size(), 1, text.data());
}

void Chunks::put_box(const Box& b) {
  const auto dimension = std::uint8_t(b.dimension);
  put("configuration/dimensions", u8, 1, 1, &dimension);
  put_reals("configuration/box", {b.length.x, b.length.y, b.dimension == 2 ? 0.0 : b.length.z,
                                  b.xy / b.length.y, b.xz / b.length.z, b.yz / b.length.z});
}

void Chunks::put_periodic(const Box& b) {
  const std::uint8_t flags[3] = {b.periodic[0], b.periodic[1], b.periodic[2] || b.dimension == 2};
  if (!(flags[0] && flags[1] && flags[2]) || in_first(periodic_chunk))
    put(periodic_chunk, u8, 3, 1, flags);
}

template <class Group>
void Chunks::put_groups(const std::string& kind, const std::vector<std::string>& names,
                        const std::vector<Group>& groups) {
  const auto n = std::uint32_t(groups.size());
  if (n > 0 || in_first(kind + "/N")) put(kind + "/N", u32, 1, 1, &n);
  if (!names.empty()) put_names(kind + "/types", names);
  put_list(kind, groups);
}

template <class Group>
void Chunks::put_list(const std::string& kind, const std::vector<Group>& groups) {
  // A group is its members and its type, in this order.
  constexpr std::size_t width = sizeof(Group) / sizeof(std::uint32_t) - 1;
  const std::size_t n = groups.size();
  if (n == 0) return;
  std::vector<std::uint32_t> members(width * n), types(n);
  for (std::size_t k = 0; k < n; ++k) {
    std::memcpy(&members[width * k], &groups[k], width * sizeof(std::uint32_t));
    types[k] = groups[k].type;
  }
  put(kind + "/typeid", u32, n, 1, types.data());
  put(kind + "/group", u32, n, width, members.data());
}

void Chunks::put_bodies(const Topology& t, std::size_t n) {
  std::vector<std::int32_t> body;
  for (const std::uint32_t center : t.body)
    body.push_back(center == Topology::no_body ? -1 : std::int32_t(center));
  body.resize(n, -1);
  put("particles/body", i32, n, 1, body.data());
}

void Chunks::put_topology(const Topology& t) {
  put_groups("bonds", t.bond_types, t.bonds);
  put_groups("angles", t.angle_types, t.angles);
  put_groups("dihedrals", t.dihedral_types, t.dihedrals);
  put_groups("impropers", t.improper_types, t.impropers);
}

void Chunks::put_members(const Topology& t) {
  const auto put_kind = [this](const std::string& kind, const auto& names, const auto& groups) {
    if (names.empty()) return;
    const auto n = std::uint32_t(groups.size());
    put(kind + "/N", u32, 1, 1, &n);
    put_list(kind, groups);
  };
  put_kind("bonds", t.bond_types, t.bonds);
  put_kind("angles", t.angle_types, t.angles);
  put_kind("dihedrals", t.dihedral_types, t.dihedrals);
  put_kind("impropers", t.improper_types, t.impropers);
}

Header header_of(bool fine) {
  Header header{};
  header.magic = magic;
  header.gsd_version = version_2_0;
  header.schema_version = fine ? schema_2_0 : schema_1_4;
  std::strncpy(header.application, "Perrin", sizeof(header.application) - 1);
  std::strncpy(header.schema, "hoomd", sizeof(header.schema) - 1);
  return header;
}

}  // namespace perrin::io::gsd
