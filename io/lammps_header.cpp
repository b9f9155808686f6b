#include "io/lammps_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>

namespace perrin::io {
namespace {

using Words = std::vector<std::string_view>;

bool ends_with(const Words& words, std::size_t numbers, std::initializer_list<const char*> names) {
  return words.size() == numbers + names.size() &&
         std::equal(names.begin(), names.end(), words.begin() + std::ptrdiff_t(numbers));
}

/// The lines of the box: bounds and tilts, or three edges that point anywhere.
class BoxLines {
 public:
  explicit BoxLines(TextLines& text) : text_(text) {}

  /// Whether it is one of them.
  bool take(const Words& words) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::string low = std::string(1, "xyz"[axis]) + "lo";
      const std::string high = std::string(1, "xyz"[axis]) + "hi";
      if (ends_with(words, 2, {low.c_str(), high.c_str()})) {
        once(bounds_[axis], low + " " + high);
        for (std::size_t k = 0; k < 2; ++k)
          (*bounds_[axis])[k] = text_.real(words[k], "a box bound");
        if (!((*bounds_[axis])[1] > (*bounds_[axis])[0]))
          text_.fail("the upper bound of the box must be above the lower one");
        return true;
      }
      const std::string edge = std::string(1, "abc"[axis]) + "vec";
      if (ends_with(words, 3, {edge.c_str()})) {
        once(edges_[axis], edge);
        edges_[axis] = vector(words, "a number of a box edge");
        return true;
      }
    }
    if (ends_with(words, 3, {"xy", "xz", "yz"})) {
      once(tilts_, "xy xz yz");
      tilts_ = vector(words, "a tilt factor");
      return true;
    }
    if (ends_with(words, 3, {"abc", "origin"})) {
      once(origin_, "abc origin");
      origin_ = vector(words, "a coordinate of the origin");
      return true;
    }
    return false;
  }

  TurnedBox box(const std::string& path) const {
    const bool general = edges_[0] || edges_[1] || edges_[2] || origin_;
    const bool plain = bounds_[0] || bounds_[1] || bounds_[2] || tilts_;
    if (general && plain)
      text_.fail("the header has a box by bounds (xlo xhi) and one by edges (avec): expected one");
    if (!general) return bounds();
    std::array<Vec3<double>, 3> edges;
    for (std::size_t k = 0; k < 3; ++k) {
      if (!edges_[k])
        text_.fail(fmt::format("the header has no line \"{}vec\": expected the box", "abc"[k]));
      edges[k] = *edges_[k];
    }
    TurnedBox box = turn_box(edges, path);
    box.box.origin = origin_.value_or(Vec3<double>{0, 0, 0});
    return box;
  }

 private:
  template <class T>
  void once(std::optional<T>& value, const std::string& name) const {
    if (value) text_.fail(fmt::format("\"{}\" occurs twice", name));
    value.emplace();
  }

  Vec3<double> vector(const Words& words, const char* what) const {
    Vec3<double> v;
    for (int k = 0; k < 3; ++k) v[k] = text_.real(words[std::size_t(k)], what);
    return v;
  }

  TurnedBox bounds() const {
    TurnedBox turned;
    Box& box = turned.box;
    for (int axis = 0; axis < 3; ++axis) {
      const auto& bound = bounds_[std::size_t(axis)];
      if (!bound)
        text_.fail(
            fmt::format("the header has no line \"{0}lo {0}hi\": expected the box", "xyz"[axis]));
      box.origin[axis] = (*bound)[0];
      box.length[axis] = (*bound)[1] - (*bound)[0];
    }
    if (tilts_) box.xy = tilts_->x, box.xz = tilts_->y, box.yz = tilts_->z;
    return turned;
  }

  TextLines& text_;
  std::array<std::optional<std::array<double, 2>>, 3> bounds_;
  std::array<std::optional<Vec3<double>>, 3> edges_;
  std::optional<Vec3<double>> tilts_, origin_;
};

}  // namespace

std::int64_t LammpsHeader::count(const std::string& key) const {
  const auto it = counts.find(key);
  return it == counts.end() ? 0 : it->second;
}

bool is_lammps_section(const Words& words) {
  static const std::set<std::string> names{"Atoms",
                                           "Velocities",
                                           "Masses",
                                           "Ellipsoids",
                                           "Lines",
                                           "Triangles",
                                           "Bodies",
                                           "Bonds",
                                           "Angles",
                                           "Dihedrals",
                                           "Impropers",
                                           "Atom Type Labels",
                                           "Bond Type Labels",
                                           "Angle Type Labels",
                                           "Dihedral Type Labels",
                                           "Improper Type Labels",
                                           "Pair Coeffs",
                                           "PairIJ Coeffs",
                                           "Bond Coeffs",
                                           "Angle Coeffs",
                                           "Dihedral Coeffs",
                                           "Improper Coeffs",
                                           "BondBond Coeffs",
                                           "BondAngle Coeffs",
                                           "MiddleBondTorsion Coeffs",
                                           "EndBondTorsion Coeffs",
                                           "AngleTorsion Coeffs",
                                           "AngleAngleTorsion Coeffs",
                                           "BondBond13 Coeffs",
                                           "AngleAngle Coeffs",
                                           "CMAP"};
  return names.contains(fmt::format("{}", fmt::join(words, " ")));
}

bool may_be_section(const Words& words) {
  if (words.empty() || std::isalpha(static_cast<unsigned char>(words[0][0])) == 0) return false;
  if (is_lammps_section(words)) return true;
  return std::ranges::none_of(words, [](std::string_view word) {
    return std::isdigit(static_cast<unsigned char>(word[0])) != 0 || word[0] == '-' ||
           word[0] == '+' || word[0] == '.';
  });
}

LammpsHeader read_lammps_header(TextLines& text, const std::string& path) {
  LammpsHeader header;
  text.need("a LAMMPS data file");
  header.title = text.line();
  BoxLines box(text);
  static const std::set<std::string> kinds{
      "atoms",      "bonds",      "angles",      "dihedrals",      "impropers",
      "atom types", "bond types", "angle types", "dihedral types", "improper types",
      "ellipsoids", "lines",      "triangles",   "bodies"};
  while (text.next()) {
    const Words words = text.words(true);
    if (words.empty()) continue;
    if (may_be_section(words)) break;
    if (box.take(words)) continue;
    const std::string key = fmt::format("{}", fmt::join(words.begin() + 1, words.end(), " "));
    if (kinds.contains(key)) {
      const std::int64_t n = text.integer(words[0], "a count");
      if (n < 0) text.fail(fmt::format("expected a count from 0, got {}", n));
      if (!header.counts.emplace(key, n).second)
        text.fail(fmt::format("the number of {} occurs twice", in_quotes(key)));
    } else if (!key.starts_with("extra ")) {  // "extra bond per atom": room that LAMMPS keeps
      header.unknown.push_back(fmt::format("line {} ({})", text.number(), in_quotes(text.line())));
    }
  }
  header.box = box.box(path);
  return header;
}

}  // namespace perrin::io
