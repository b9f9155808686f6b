#include "engine/core/configuration_archive.h"

#include <fmt/format.h>

#include <cstring>

#include "engine/core/error.h"

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
        fmt::format("\"configuration/{}\" in the checkpoint is no list of names", name));
  names.clear();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

void archive_configuration(Archive& archive, Configuration& c) {
  const Archive::Scope scope(archive, "configuration");
  archive("box", c.box);
  for (const bool& periodic : c.box.periodic) {  // bytes from a file: true and false are 1 and 0
    unsigned char byte = 0;
    std::memcpy(&byte, &periodic, 1);
    if (byte > 1) throw UserError("\"configuration/box\" in the checkpoint is no box");
  }
  if (c.box.dimension != 2 && c.box.dimension != 3)
    throw UserError("\"configuration/box\" in the checkpoint has no dimension");
  archive_names(archive, "types", c.types);
  archive("position", c.position);
  archive("type", c.type);
  archive("mass", c.mass);
  archive("charge", c.charge);
  archive("diameter", c.diameter);
  archive_names(archive, "bond_types", c.topology.bond_types);
  archive_names(archive, "angle_types", c.topology.angle_types);
  archive("bonds", c.topology.bonds);
  archive("angles", c.topology.angles);
  archive("molecule", c.topology.molecule);
  archive("step", c.step);
}

}  // namespace perrin
