// The head of a LAMMPS data file: title, counts and box, up to the first section.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/text_lines.h"
#include "io/turned_box.h"

namespace perrin::io {

/// The title of Perrin's own data files, before the step.
inline constexpr const char* lammps_title = "LAMMPS data file by Perrin, step ";

struct LammpsHeader {
  std::string title;                           // the first line
  std::map<std::string, std::int64_t> counts;  // "atoms", "bond types", …
  TurnedBox box;
  std::vector<std::string> unknown;  // "line 7 ("…")"

  std::int64_t count(const std::string& key) const;
};

/// Leaves `text` at the line of the first section, or at the end. Throws UserError.
LammpsHeader read_lammps_header(TextLines& text, const std::string& path);

/// Whether the words of a line (without its comment) are the name of a section: one of LAMMPS, or
/// one of a fix (no word is a number).
bool is_lammps_section(const std::vector<std::string_view>& words);
bool may_be_section(const std::vector<std::string_view>& words);

}  // namespace perrin::io
