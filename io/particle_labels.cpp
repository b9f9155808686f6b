#include "io/particle_labels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace perrin::io {
namespace {

/// IUPAC 2018, in the order of atomic numbers.
constexpr std::string_view element_symbols =
    " H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se "
    "Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy "
    "Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf "
    "Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og ";

}  // namespace

std::string label_of(const std::string& type, std::size_t width) {
  std::size_t end = std::min(width, type.size());
  // Never within a letter of several bytes.
  while (end > 0 && end < type.size() && (static_cast<unsigned char>(type[end]) & 0xC0u) == 0x80)
    --end;
  return type.substr(0, end);
}

std::vector<std::string> lost_labels(const Configuration& c, std::size_t width,
                                     const char* format) {
  std::vector<std::string> cut, lost, wide;
  bool same = false;
  for (std::size_t k = 0; k < c.types.size(); ++k) {
    const std::string label = label_of(c.types[k], width);
    if (label != c.types[k]) cut.push_back(fmt::format("{} to {}", c.types[k], label));
    if (std::ranges::any_of(label, [](char letter) { return (letter & 0x80) != 0; }))
      wide.push_back(c.types[k]);
    for (std::size_t j = 0; j < k; ++j) same = same || label_of(c.types[j], width) == label;
  }
  if (!cut.empty())
    lost.push_back(fmt::format("names of types are cut to the {} columns of {} ({}){}", width,
                               format, fmt::join(cut, ", "),
                               same ? ", and some are the same now; --types gives other names"
                                    : "; --types gives other names"));
  if (!wide.empty())
    lost.push_back(
        fmt::format("letters of more than one byte in names of types ({}): programs "
                    "that count bytes find all columns behind them shifted; --types "
                    "gives other names",
                    fmt::join(wide, ", ")));
  return lost;
}

std::uint32_t residue_offset(const Configuration& first) {
  return std::ranges::count(first.topology.molecule, 0u) > 0 ? 1 : 0;
}

std::uint32_t residue_number(const Configuration& c, std::size_t particle, std::uint32_t offset,
                             std::uint32_t wrap) {
  const auto& molecule = c.topology.molecule;
  return molecule.empty() ? 1 : std::uint32_t((std::uint64_t(molecule[particle]) + offset) % wrap);
}

bool is_element(const std::string& name) {
  return !name.empty() && name.size() <= 2 && name.find(' ') == name.npos &&
         element_symbols.find(" " + name + " ") != element_symbols.npos;
}

}  // namespace perrin::io
