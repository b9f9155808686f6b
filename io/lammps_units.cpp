#include "io/lammps_units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "engine/base/error.h"
#include "io/text_lines.h"

namespace perrin::io {
namespace {

struct Style {
  const char *name, *length, *time, *velocity, *mass;
  double charge;  // in elementary charges
};

// Velocities of "electron" are in Bohr radii per 1.03275e-15 s.
constexpr Style styles[] = {
    {"lj", "", "", "", "", 1},
    {"real", "Angstrom", "fs", "Angstrom fs-1", "g mol-1", 1},
    {"metal", "Angstrom", "ps", "Angstrom ps-1", "g mol-1", 1},
    {"si", "m", "s", "m s-1", "kg", 1 / 1.602176634e-19},
    {"cgs", "cm", "s", "cm s-1", "g", 1 / 4.803204713e-10},
    {"electron", "Bohr", "fs", "0.968288550 Bohr fs-1", "u", 1},
    {"micro", "um", "us", "um us-1", "pg", 1e-12 / 1.602176634e-19},
    {"nano", "nm", "ns", "nm ns-1", "ag", 1},
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char letter : text) {
    const bool part = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '=';
    if (letter == '=' || (part && (!inside || words.back() == "="))) words.emplace_back();
    if (part) words.back() += char(std::tolower(static_cast<unsigned char>(letter)));
    inside = part;
  }
  return words;
}

bool is_style(const std::string& word) {
  return std::ranges::count(lammps_unit_styles(), word) > 0;
}

}  // namespace

const std::vector<std::string>& lammps_unit_styles() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Style& s : styles) list.emplace_back(s.name);
    return list;
  }();
  return names;
}

FrameUnits lammps_units(const std::string& style) {
  const Style& s = *std::ranges::find_if(styles, [&](const Style& k) { return style == k.name; });
  FrameUnits units;
  units.length = s.length, units.time = s.time, units.velocity = s.velocity, units.mass = s.mass;
  units.charge = s.charge, units.reduced = style == "lj";
  return units;
}

std::string units_in_title(std::string_view title, const std::string& where) {
  const auto words = words_of(title);
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k] != "units" && words[k] != "unit") continue;
    const bool assigned = k + 2 < words.size() && words[k + 1] == "=";
    const std::size_t next = k + (assigned ? 2 : 1);
    if (next < words.size() && is_style(words[next])) return words[next];
    if (assigned)
      throw UserError(fmt::format("{}: unknown units of LAMMPS {}: expected {}", where,
                                  in_quotes(words[next]), fmt::join(lammps_unit_styles(), ", ")));
    if (k > 0 && is_style(words[k - 1])) return words[k - 1];
  }
  return "";
}

}  // namespace perrin::io
