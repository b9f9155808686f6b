#include "io/lammps_dump_head.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "io/lammps_units.h"

namespace perrin::io {
namespace {

using Names = std::vector<std::string>;

/// What follows "ITEM:" in a line.
Names item_of(const TextLines& text) {
  const auto words = text.words();
  if (words.size() < 2 || words[0] != "ITEM:")
    text.fail(fmt::format("expected a line \"ITEM: …\" of a LAMMPS dump, got {}",
                          in_quotes(text.line())));
  return {words.begin() + 1, words.end()};
}

bool begins(const Names& names, std::initializer_list<const char*> with) {
  return names.size() >= with.size() && std::equal(with.begin(), with.end(), names.begin());
}

/// The `n` numbers of the next line.
std::vector<double> numbers_of_line(TextLines& text, std::size_t n, const char* what) {
  text.need(what);
  const auto words = text.words();
  if (words.size() != n)
    text.fail(fmt::format("expected {} ({} numbers), got {}", what, n, in_quotes(text.line())));
  std::vector<double> numbers;
  for (const auto word : words) numbers.push_back(text.real(word, what));
  return numbers;
}

/// The one word of the next line.
std::string word_of_line(TextLines& text, const char* what) {
  text.need(what);
  const auto words = text.words();
  if (words.size() != 1)
    text.fail(fmt::format("expected {}, got {}", what, in_quotes(text.line())));
  return std::string(words[0]);
}

/// The letters of both faces along each axis: "pp", "ff", "fs", ….
void take_boundary(const Names& letters, const TextLines& text, DumpHead& head) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string& both = letters[axis];
    const bool known = both.size() == 2 && both.find_first_not_of("pfsm") == both.npos &&
                       (both[0] == 'p') == (both[1] == 'p');
    if (!known)
      text.fail(fmt::format("expected the boundary along {} (pp, or two of f, s, m), got {}",
                            "xyz"[axis], in_quotes(both)));
    head.box.box.periodic[axis] = both[0] == 'p';
    head.shrunk[axis] = both.find_first_of("sm") != both.npos;
  }
}

/// Bounds of a box that may be tilted: LAMMPS writes those of the smallest right box around it.
TurnedBox box_of_bounds(TextLines& text, bool tilted) {
  Vec3<double> low, high, tilt{0, 0, 0};
  for (int axis = 0; axis < 3; ++axis) {
    const auto numbers =
        numbers_of_line(text, tilted ? 3 : 2,
                        tilted ? "two bounds of the box and a tilt" : "two bounds of the box");
    low[axis] = numbers[0], high[axis] = numbers[1];
    if (tilted) tilt[axis] = numbers[2];
    if (!(high[axis] > low[axis]))
      text.fail("the upper bound of the box must be above the lower one");
  }
  const double xy = tilt.x, xz = tilt.y, yz = tilt.z;
  low.x -= std::min({0.0, xy, xz, xy + xz}), high.x -= std::max({0.0, xy, xz, xy + xz});
  low.y -= std::min(0.0, yz), high.y -= std::max(0.0, yz);
  TurnedBox turned;
  turned.box.origin = low, turned.box.length = high - low;
  turned.box.xy = xy, turned.box.xz = xz, turned.box.yz = yz;
  for (int axis = 0; axis < 2; ++axis)
    if (!(turned.box.length[axis] > 0))
      text.fail(fmt::format("the bounds along {} are narrower than the tilts ({}, {}, {})",
                            "xyz"[axis], xy, xz, yz));
  return turned;
}

/// Three edges in any direction, each with a coordinate of the corner.
TurnedBox box_of_edges(TextLines& text, const std::string& path) {
  std::array<Vec3<double>, 3> edges;
  Vec3<double> origin;
  for (int k = 0; k < 3; ++k) {
    const auto numbers =
        numbers_of_line(text, 4, "an edge of the box and a coordinate of its corner");
    edges[std::size_t(k)] = {numbers[0], numbers[1], numbers[2]};
    origin[k] = numbers[3];
  }
  TurnedBox turned = turn_box(edges, fmt::format("{}:{}", path, text.number()));
  turned.box.origin = origin;
  return turned;
}

/// `names`: what follows ITEM: BOX BOUNDS.
void take_box(const Names& names, TextLines& text, const std::string& path, DumpHead& head) {
  const bool tilted = begins(names, {"xy", "xz", "yz"}), general = begins(names, {"abc", "origin"});
  const Names letters(names.begin() + (tilted ? 3 : general ? 2 : 0), names.end());
  if (!letters.empty() && letters.size() != 3)
    text.fail(
        fmt::format("expected ITEM: BOX BOUNDS, \"xy xz yz\" or \"abc origin\" where the box "
                    "is tilted, and three boundaries (pp pp ff), got {}",
                    in_quotes(text.line())));
  head.has_boundary = !letters.empty();
  if (head.has_boundary) take_boundary(letters, text, head);
  const auto periodic = head.box.box.periodic;
  head.box = general ? box_of_edges(text, path) : box_of_bounds(text, tilted);
  head.box.box.periodic = periodic;
}

/// Takes an item and the lines that belong to it.
void take_item(const std::string& item, const Names& names, TextLines& text,
               const std::string& path, DumpHead& head) {
  if (item == "TIMESTEP") {
    head.step = text.integer(word_of_line(text, "the step"), "the step");
  } else if (item == "TIME") {
    head.time = text.real(word_of_line(text, "the time"), "the time");
  } else if (item == "UNITS") {
    head.units = word_of_line(text, "the units");
    if (std::ranges::count(lammps_unit_styles(), head.units) == 0)
      text.fail(fmt::format("unknown units of LAMMPS {}: expected {}", in_quotes(head.units),
                            fmt::join(lammps_unit_styles(), ", ")));
  } else if (item == "NUMBER OF ATOMS") {
    head.particles = text.integer(word_of_line(text, "the number of atoms"), "the number of atoms");
    if (head.particles < 0)
      text.fail(fmt::format("expected a number of atoms from 0, got {}", head.particles));
  } else if (item == "BOX BOUNDS") {
    take_box({names.begin() + 2, names.end()}, text, path, head);
  } else {
    text.fail(
        fmt::format("ITEM: {} is not read: expected TIMESTEP, TIME, UNITS, NUMBER OF ATOMS, "
                    "BOX BOUNDS or ATOMS, as of the styles atom and custom",
                    item.substr(0, 60)));
  }
}

}  // namespace

std::optional<DumpHead> read_dump_head(TextLines& text, const std::string& path) {
  do
    if (!text.next()) return std::nullopt;
  while (text.words().empty());
  DumpHead head;
  std::set<std::string> seen;
  while (true) {
    const Names names = item_of(text);
    const bool rows = names[0] == "ATOMS", box = begins(names, {"BOX", "BOUNDS"});
    const std::string item = rows  ? "ATOMS"
                             : box ? "BOX BOUNDS"
                                   : fmt::format("{}", fmt::join(names, " "));
    if (!seen.insert(item).second) text.fail(fmt::format("ITEM: {} occurs twice in a frame", item));
    if (rows) {
      for (const char* needed : {"TIMESTEP", "NUMBER OF ATOMS", "BOX BOUNDS"})
        if (!seen.contains(needed))
          text.fail(fmt::format("no ITEM: {} before ITEM: ATOMS", needed));
      head.columns = {names.begin() + 1, names.end()};
      if (head.columns.empty())
        text.fail("ITEM: ATOMS names no columns: expected \"ITEM: ATOMS id type x y z\"");
      return head;
    }
    take_item(item, names, text, path, head);
    text.need("the next ITEM of the frame");
  }
}

}  // namespace perrin::io
