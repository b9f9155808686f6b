#include "engine/system/bond_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/system/bond_images.h"
#include "engine/system/checks.h"

namespace perrin {
namespace {

std::string numbered(const Topology& t, std::size_t k) {
  const auto& bond = t.bonds[k];
  return fmt::format("bond {} (type \"{}\") of particles {} and {}", k, t.bond_types.at(bond.type),
                     bond.a, bond.b);
}

}  // namespace

std::string bond_text(const Topology& t, std::uint32_t a, std::uint32_t b) {
  for (std::size_t k = 0; k < t.bonds.size(); ++k) {
    const auto& bond = t.bonds[k];
    if ((bond.a == a && bond.b == b) || (bond.a == b && bond.b == a)) return numbered(t, k);
  }
  return fmt::format("the bond of particles {} and {}", a, b);
}

std::string bonds_of_text(const Configuration& c, std::uint32_t id) {
  std::vector<std::pair<double, std::size_t>> found;
  for (std::size_t k = 0; k < c.topology.bonds.size(); ++k) {
    const auto& bond = c.topology.bonds[k];
    if (bond.a == id || bond.b == id) found.emplace_back(-bond_lengths(c, bond).nearest, k);
  }
  std::sort(found.begin(), found.end());
  std::string text;
  for (std::size_t k = 0; k < std::min<std::size_t>(found.size(), 3); ++k)
    text += fmt::format("{}{}, {:.6g} long", text.empty() ? "" : "; ",
                        numbered(c.topology, found[k].second), -found[k].first);
  return text;
}

std::vector<std::string> bond_warnings(const Configuration& c) {
  const auto bonds = bonds_against_images(c);
  if (bonds.empty()) return {};
  const auto length = bond_lengths(c, c.topology.bonds[bonds[0]]);
  std::string text =
      fmt::format("{} is {:.6g} long by positions and images, and {:.6g} to the nearest image",
                  numbered(c.topology, bonds[0]), length.by_images, length.nearest);
  if (bonds.size() > 1) text += fmt::format(" (and {} more)", bonds.size() - 1);
  text += fmt::format(
      "; bonds act along the nearest image, so none may be longer than half the shortest distance "
      "between opposite faces of the box ({:.6g}): use a larger box, or images that keep molecules "
      "whole (system \"file\": \"images\": false takes them from the bonds)",
      largest_range(c.box));
  return {text};
}

}  // namespace perrin
