// What a GSD 2 file with the schema hoomd is made of: a header, data chunks, an index of them by
// (frame, name). Positions are relative to the middle of the box.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/system/box.h"

namespace perrin::io::gsd {

inline constexpr std::uint64_t magic = 0x65DF65DF65DF65DF;
inline constexpr std::uint32_t version_2_0 = 2u << 16, schema_1_4 = (1u << 16) | 4,
                               schema_2_0 = 2u << 16;
inline constexpr std::size_t name_size = 64;

struct Header {
  std::uint64_t magic, index_location, index_entries, names_location, names_entries;
  std::uint32_t schema_version, gsd_version;
  char application[64], schema[64], reserved[80];
};
static_assert(sizeof(Header) == 256);

struct Entry {
  std::uint64_t frame, rows;
  std::int64_t location;
  std::uint32_t columns;
  std::uint16_t name;
  std::uint8_t type, flags;
};
static_assert(sizeof(Entry) == 32);

enum Type : std::uint8_t { u8 = 1, u16, u32, u64, i8, i16, i32, i64, f32, f64, character };
inline constexpr std::size_t type_size[] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1};

/// Chunks of our own: which axes are periodic, for GSD has no place for it; time and stage of a
/// frame, and the names of the stages.
inline const std::string periodic_chunk = "perrin/periodic", time_chunk = "log/perrin/time",
                         stage_chunk = "log/perrin/stage", stages_chunk = "perrin/stages";
/// Logged quantities of particles: attributes by their names, and, of a part of a system, the ids
/// of its particles there.
inline const std::string particle_logs = "log/particles/", id_chunk = particle_logs + "id";

/// Where an axis is not periodic, what its readers make of that; else empty.
inline std::string open_axes(const Box& box) {
  std::string axes;
  for (int axis = 0; axis < box.dimension; ++axis)
    if (!box.periodic[std::size_t(axis)]) axes += "xyz"[axis];
  if (axes.empty()) return "";
  return "GSD cannot store axes that are not periodic (" + axes +
         "): readers other than Perrin treat them as periodic; set this in the reader (freud: "
         "box.periodic, OVITO: the cell's pbc)";
}

/// Values with their name, before they are in a file.
struct Chunk {
  std::string name;
  Type type;
  std::size_t rows, columns;
  std::vector<char> bytes;
};

inline Vec3<double> middle(const Box& box) {
  const auto e = box.edges();
  Vec3<double> c = box.origin;
  for (const auto& edge : e) c += 0.5 * edge;
  if (box.dimension == 2) c.z = 0;
  return c;
}

}  // namespace perrin::io::gsd
