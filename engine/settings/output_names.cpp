#include "engine/settings/output_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace perrin {

std::string why_no_output_name(const std::string& name) {
  // Of most file systems, less what is added to a name while a file is written.
  constexpr std::size_t longest = 255, room = 20, longest_path = 4095;
  if (name.empty()) return "must be the name of a file, got \"\"";
  if (name.find('\0') != std::string::npos)
    return "must be the name of a file, got a name with the character 0 (\\u0000)";
  if (name.size() > longest_path - room)
    return fmt::format("has {} bytes; a path has at most {}", name.size(), longest_path - room);
  const std::filesystem::path path(name);
  for (const auto& part : path)
    if (part.native().size() > longest - room)
      return fmt::format(
          "has a name of {} bytes; at most {} are possible, since a suffix is added while the file "
          "is written",
          part.native().size(), longest - room);
  const std::string file = path.filename().string();
  if (file.empty() || file == "." || file == "..")
    return fmt::format("must be the name of a file, got a folder, \"{}\"", name);
  if (file == ".perrin.lock") return "is the name of the lock file of an output folder";
  if (file == log_name) return "is the name of the log of a run";
  return "";
}

bool is_companion(const std::filesystem::path& file, const std::filesystem::path& of) {
  return std::any_of(std::begin(companions), std::end(companions),
                     [&](const char* added) { return file.native() == of.native() + added; });
}

}  // namespace perrin
