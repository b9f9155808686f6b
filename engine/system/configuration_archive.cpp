#include "engine/system/configuration_archive.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

#include "engine/base/error.h"

namespace perrin {
namespace {

/// Names, one a line.
void archive_names(Archive& archive, const std::string& name, std::vector<std::string>& names) {
  std::string text;
  for (const auto& n : names) text += n + "\n";
  archive(name, text);
  if (archive.is_saving()) return;
  if (!text.empty() && text.back() != '\n')
    throw UserError(
        fmt::format("\"configuration/{}\" in the checkpoint is not a list of names", name));
  names.clear();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

void archive_groups(Archive& archive, Configuration& c) {
  if (!archive.has("groups")) return;  // an older checkpoint
  std::vector<std::string> names;
  for (const Group& group : c.groups) names.push_back(group.name());
  archive_names(archive, "groups", names);
  std::vector<Group> groups;
  for (std::size_t k = 0; k < names.size(); ++k) {
    std::vector<std::uint8_t> members;
    if (archive.is_saving()) members = c.groups[k].members();
    const std::string name = "group/" + names[k];
    archive(name, members);
    archive.require(members.size() == c.position.size(), name, "a number for every particle");
    for (const std::uint8_t m : members) archive.require(m <= 1, name, "0 or 1 for every particle");
    groups.emplace_back(names[k], std::move(members));
  }
  if (!archive.is_saving()) c.groups = std::move(groups);
}

void archive_attributes(Archive& archive, Configuration& c) {
  if (!archive.has("attributes")) return;  // an older checkpoint
  std::vector<std::string> names;
  for (const auto& [name, values] : c.attributes) names.push_back(name);
  archive_names(archive, "attributes", names);
  for (const std::string& name : names) {
    std::vector<double>& values = c.attributes[name];
    archive("attribute/" + name, values);
    archive.require(values.size() == c.position.size(), "attribute/" + name,
                    "a number for every particle");
  }
}

void archive_orientations(Archive& archive, Configuration& c) {
  if (archive.is_saving() ? c.orientation.empty() : !archive.has("orientation")) return;
  archive("orientation", c.orientation);
  archive("moment_of_inertia", c.moment_of_inertia);
  archive.require(c.orientation.size() == c.position.size(), "orientation",
                  "a quaternion for every particle");
  archive.require(c.moment_of_inertia.size() == c.position.size(), "moment_of_inertia",
                  "a vector for every particle");
}

void archive_bodies(Archive& archive, Topology& t, std::size_t particles) {
  if (archive.is_saving() ? t.body.empty() : !archive.has("body")) return;
  archive("body", t.body);
  archive("site", t.site);
  archive.require(t.body.size() == particles && t.site.size() == particles, "body",
                  "a number for every particle");
  for (const std::uint32_t center : t.body)
    archive.require(center == Topology::no_body || (center < particles && t.body[center] == center),
                    "body", "the centre of a body, or none, for every particle");
  for (const Vec3<double>& at : t.site)
    archive.require(std::isfinite(dot(at, at)), "site", "finite places");
}

}  // namespace

void archive_box(Archive& archive, const std::string& name, Box& box) {
  // Without what the compiler has left between the members.
  std::array<std::byte, sizeof(Box)> bytes{};
  const auto each = [&](const auto& copy) {
    copy(offsetof(Box, length), &box.length, sizeof box.length);
    copy(offsetof(Box, xy), &box.xy, sizeof box.xy);
    copy(offsetof(Box, xz), &box.xz, sizeof box.xz);
    copy(offsetof(Box, yz), &box.yz, sizeof box.yz);
    copy(offsetof(Box, origin), &box.origin, sizeof box.origin);
    copy(offsetof(Box, periodic), &box.periodic, sizeof box.periodic);
    copy(offsetof(Box, dimension), &box.dimension, sizeof box.dimension);
    copy(offsetof(Box, padding), &box.padding, sizeof box.padding);
  };
  if (archive.is_saving())
    each([&](std::size_t at, const void* member, std::size_t n) {
      std::memcpy(bytes.data() + at, member, n);
    });
  archive(name, bytes);
  if (!archive.is_saving())
    each([&](std::size_t at, void* member, std::size_t n) {
      std::memcpy(member, bytes.data() + at, n);
    });
  for (const bool& periodic : box.periodic) {  // bytes from a file: true and false are 1 and 0
    unsigned char byte = 0;
    std::memcpy(&byte, &periodic, 1);
    archive.require(byte <= 1, name, "a box whose axes are periodic or not");
  }
  archive.require(box.dimension == 2 || box.dimension == 3, name, "a box of 2 or 3 dimensions");
  for (const double number : {box.xy, box.xz, box.yz})
    archive.require(std::isfinite(number), name, "a box with finite tilts");
  for (int axis = 0; axis < 3; ++axis) {
    archive.require(box.length[axis] > 0 && std::isfinite(box.length[axis]), name,
                    "a box with positive edges");
    archive.require(std::isfinite(box.origin[axis]), name, "a box with a finite corner");
    archive.require(box.padding[axis] >= 0 && std::isfinite(box.padding[axis]), name,
                    "a box whose padding is not negative");
  }
}

void archive_configuration(Archive& archive, Configuration& c) {
  const Archive::Scope scope(archive, "configuration");
  archive_box(archive, "box", c.box);
  archive_names(archive, "types", c.types);
  archive("position", c.position);
  archive("type", c.type);
  archive("mass", c.mass);
  archive("charge", c.charge);
  archive("diameter", c.diameter);
  archive_names(archive, "bond_types", c.topology.bond_types);
  archive_names(archive, "angle_types", c.topology.angle_types);
  archive_names(archive, "dihedral_types", c.topology.dihedral_types);
  archive_names(archive, "improper_types", c.topology.improper_types);
  archive("bonds", c.topology.bonds);
  archive("angles", c.topology.angles);
  archive("dihedrals", c.topology.dihedrals);
  archive("impropers", c.topology.impropers);
  archive("molecule", c.topology.molecule);
  archive_groups(archive, c);
  archive_attributes(archive, c);
  archive_orientations(archive, c);
  archive_bodies(archive, c.topology, c.position.size());
  archive("step", c.step);
  archive.require(c.step >= 0, "step", "at least 0");
}

}  // namespace perrin
