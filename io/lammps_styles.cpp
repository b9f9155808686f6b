#include "io/lammps_styles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

namespace perrin::io {
namespace {

struct Known {
  const char *name, *columns;
  bool bonds, readable;
};

// What is not readable has particles that are no points or spheres, or values without which they
// mean something else.
constexpr Known known[] = {
    {"atomic", "id type x y z", false, true},
    {"charge", "id type q x y z", false, true},
    {"molecular", "id molecule type x y z", true, true},
    {"bond", "id molecule type x y z", true, true},
    {"angle", "id molecule type x y z", true, true},
    {"full", "id molecule type q x y z", true, true},
    {"sphere", "id type diameter density x y z", false, true},
    {"bpm/sphere", "id molecule type diameter density x y z", true, true},
    {"dipole", "id type q x y z mux muy muz", false, true},
    {"spin", "id type x y z spx spy spz sp", false, true},
    {"dpd", "id type theta x y z", false, true},
    {"mdpd", "id type rho x y z", false, true},
    {"edpd", "id type edpd_temp edpd_cv x y z", false, true},
    {"amoeba", "id molecule type q x y z", true, false},
    {"body", "id type bodyflag mass x y z", false, false},
    {"dielectric", "id type q x y z mux muy muz area ed em epsilon curvature", false, false},
    {"electron", "id type q espin eradius x y z", false, false},
    {"ellipsoid", "id type ellipsoidflag density x y z", false, true},
    {"line", "id molecule type lineflag density x y z", false, false},
    {"oxdna", "id type x y z", true, false},
    {"peri", "id type volume density x y z", false, false},
    {"rheo", "id type status rho x y z", false, false},
    {"rheo/thermal", "id type status rho energy x y z", false, false},
    {"smd", "id type molecule volume mass kradius cradius x0 y0 z0 x y z", false, false},
    {"sph", "id type rho esph cv x y z", false, false},
    {"tdpd", "id type x y z cc", false, false},
    {"template", "id type molecule template_index template_atom x y z", true, false},
    {"tri", "id molecule type triangleflag density x y z", false, false},
    {"wavepacket", "id type q espin eradius etag cs_re cs_im x y z", false, false},
};

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(separators, at)) != text.npos) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

const Known* find(std::string_view name) {
  const auto it = std::ranges::find(known, name, &Known::name);
  return it == std::end(known) ? nullptr : it;
}

AtomStyle style_of(const Known& k) { return {k.name, split(k.columns, " "), k.bonds, k.readable}; }

/// The columns that all have, then what each sub-style adds; what several add stands once.
AtomStyle hybrid(const std::vector<std::string>& parts) {
  AtomStyle style{"hybrid", split("id type x y z", " "), false, !parts.empty()};
  for (const std::string& name : parts) {
    const AtomStyle part = style_of(*find(name));
    style.name += " " + name;
    style.bonds = style.bonds || part.bonds;
    style.readable = style.readable && part.readable;
    for (const std::string& column : part.columns)
      if (style.at(column) < 0) style.columns.push_back(column);
  }
  return style;
}

bool real(std::string_view word, double& value) {
  if (!word.empty() && word[0] == '+') word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

bool whole(std::string_view word, std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() && value >= low && value <= high;
}

}  // namespace

int AtomStyle::at(std::string_view column) const {
  const auto it = std::ranges::find(columns, column);
  return it == columns.end() ? -1 : int(it - columns.begin());
}

std::string AtomStyle::list() const { return fmt::format("{}", fmt::join(columns, ", ")); }

bool are_labels(const std::vector<std::string>& names) {
  return std::ranges::none_of(names, [](const std::string& name) {
    return std::isdigit(static_cast<unsigned char>(name[0])) != 0 || name[0] == '*';
  });
}

AtomStyle named_style(std::string_view text) {
  const auto words = split(text, " \t,;:=\"'");
  if (words.empty()) return {};
  if (words[0] == "hybrid") {
    std::vector<std::string> parts;
    for (std::size_t k = 1; k < words.size() && find(words[k]) != nullptr; ++k)
      parts.push_back(words[k]);
    return hybrid(parts);
  }
  const Known* const k = find(words[0]);
  return k == nullptr ? AtomStyle{} : style_of(*k);
}

std::string readable_styles() {
  std::string text;
  for (const Known& k : known)
    if (k.readable) text += std::string(k.name) + ", ";
  return text + "or hybrid and some of these";
}

StyleGuess::StyleGuess(std::size_t columns, bool bonds, const std::vector<std::string>& types)
    : columns_(columns), types_(types) {
  std::vector<AtomStyle> all;
  for (const Known& k : known) all.push_back(style_of(k));
  for (const char* parts : {"charge bond", "bond charge", "sphere charge", "charge sphere",
                            "sphere bond", "bond sphere", "sphere dipole", "dipole sphere"})
    all.push_back(hybrid(split(parts, " ")));
  const auto same = [](const AtomStyle& a, const AtomStyle& b) {
    return a.columns == b.columns && a.bonds == b.bonds && (a.readable || !b.readable);
  };
  for (AtomStyle& style : all) {
    if (style.name == "oxdna") continue;  // always a part of a hybrid
    const std::size_t n = style.columns.size();
    // Species of tdpd are as many as there are.
    const bool wide = style.name == "tdpd" && columns >= n;
    if ((columns != n && columns != n + 3 && !wide) || (bonds && !style.bonds)) continue;
    if (std::ranges::none_of(styles_, [&](const auto& other) { return same(other, style); }))
      styles_.push_back(std::move(style));
  }
  places_.resize(styles_.size());
}

bool StyleGuess::fits(const AtomStyle& style, const std::vector<std::string_view>& words) const {
  constexpr std::int64_t most = std::int64_t(1) << 31;
  const std::size_t n = style.columns.size();
  double value = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const std::string& column = style.columns[k];
    const std::string_view word = words[k];
    if (column == "type") {
      const bool label = std::isdigit(static_cast<unsigned char>(word[0])) == 0;
      if (label ? std::ranges::count(types_, word) == 0
                : !whole(word, 1, std::int64_t(types_.size())))
        return false;
    } else if (column == "id" || column == "molecule" || column.ends_with("flag") ||
               column == "template_index" || column == "template_atom" || column == "etag" ||
               column == "status") {
      if (!whole(word, 0, column.ends_with("flag") ? 1 : most)) return false;
    } else if (!real(word, value)) {
      return false;
    } else if (column == "density" || column == "mass" || column == "volume") {
      if (!(value > 0)) return false;
    } else if (column == "diameter" || column == "theta" || column == "edpd_temp" ||
               column == "edpd_cv" || column == "eradius") {
      if (!(value >= 0)) return false;
    }
  }
  // Whole numbers behind x, y, z are the images of "atomic": concentrations of 0 change nothing.
  if (style.name == "tdpd")
    return columns_ != n + 2 || !whole(words[n - 1], -most, most) ||
           !whole(words[n], -most, most) || !whole(words[n + 1], -most, most);
  for (std::size_t k = n; k < columns_; ++k)
    if (!whole(words[k], -most, most)) return false;
  return true;
}

void StyleGuess::row(const std::vector<std::string_view>& words) {
  constexpr std::size_t enough = 4096;
  for (std::size_t k = styles_.size(); k-- > 0;) {
    const AtomStyle& style = styles_[k];
    bool good = words.size() == columns_ && fits(style, words);
    if (good && places_[k].size() < enough) {
      double r[3] = {0, 0, 0};
      for (int axis = 0; axis < 3; ++axis) {
        const char name[] = {"xyz"[axis], 0};
        real(words[std::size_t(style.at(name))], r[axis]);
      }
      good = places_[k].emplace(r[0], r[1], r[2]).second;
    }
    if (good) continue;
    styles_.erase(styles_.begin() + std::ptrdiff_t(k));
    places_.erase(places_.begin() + std::ptrdiff_t(k));
  }
}

}  // namespace perrin::io
