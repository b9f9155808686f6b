#include "engine/settings/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "engine/base/error.h"

namespace perrin {
namespace {

// SI 2019: exact k_B, N_A, e; the dalton and the vacuum's permittivity are CODATA 2018.
constexpr double boltzmann = 1.380649e-23;  // J/K
constexpr double avogadro = 6.02214076e23;
constexpr double electron_volt = 1.602176634e-19;  // J
constexpr double dalton = 1.66053906660e-27;       // kg
constexpr double permittivity = 8.8541878128e-12;  // F/m

struct Unit {
  const char* name;  // in a job
  const char* h5md;  // as H5MD writes it
  double si;         // in m, J, kg
};

constexpr Unit lengths[] = {{"nm", "nm", 1e-9},       {"angstrom", "angstrom", 1e-10},
                            {"Å", "angstrom", 1e-10}, {"um", "um", 1e-6},
                            {"µm", "um", 1e-6},       {"m", "m", 1.0}};
constexpr Unit energies[] = {{"kJ/mol", "kJ mol-1", 1e3 / avogadro},
                             {"kcal/mol", "kcal mol-1", 4184 / avogadro},
                             {"eV", "eV", electron_volt},
                             {"J", "J", 1.0},
                             {"pN nm", "pN nm", 1e-21},
                             {"K", "K", boltzmann}};  // an energy divided by k_B
constexpr Unit masses[] = {
    {"u", "u", dalton}, {"g/mol", "g mol-1", 1e-3 / avogadro}, {"kg", "kg", 1.0}};

template <std::size_t N>
const Unit& find(const Unit (&units)[N], const std::string& name, const char* quantity) {
  for (const Unit& u : units)
    if (name == u.name) return u;
  throw UserError(fmt::format("unknown unit of {} \"{}\"", quantity, name));
}

template <std::size_t N>
std::vector<std::string> names(const Unit (&units)[N]) {
  std::vector<std::string> list;
  for (const Unit& u : units) list.push_back(u.name);
  return list;
}

/// "ps" where it is that to nine digits, else a factor and the unit just below: "48.8882129 fs".
std::string time_unit(double seconds) {
  constexpr std::array<std::pair<const char*, double>, 5> scale{
      {{"s", 1.0}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}, {"fs", 1e-15}}};
  for (const auto& [name, size] : scale)
    if (std::abs(seconds / size - 1) < 1e-9) return name;
  for (const auto& [name, size] : scale)
    if (seconds >= size) return fmt::format("{:.15g} {}", seconds / size, name);
  return fmt::format("{:.15g} fs", seconds / 1e-15);
}

/// A unit string to a power: "0.05 ps" and -1 → "20 ps-1".
std::string power(const std::string& unit, int n) {
  std::string text;
  std::size_t begin = 0;
  while (begin < unit.size()) {
    const std::size_t end = std::min(unit.find(' ', begin), unit.size());
    const std::string factor = unit.substr(begin, end - begin);
    begin = end + 1;
    if (!text.empty()) text += ' ';
    if (std::isdigit(static_cast<unsigned char>(factor[0]))) {
      text += fmt::format("{:.10g}", std::pow(std::stod(factor), n));
      continue;
    }
    const std::size_t digits = factor.find_first_of("-0123456789");
    const int was = digits == std::string::npos ? 1 : std::stoi(factor.substr(digits));
    text += factor.substr(0, digits);
    if (was * n != 1) text += std::to_string(was * n);
  }
  return text;
}

}  // namespace

std::string Units::pressure(int dimension) const {
  return reduced() ? "" : energy + " " + power(length, -dimension);
}
std::string Units::volume(int dimension) const { return reduced() ? "" : power(length, dimension); }

Units make_units(const UnitNames& n) {
  const Unit& length = find(lengths, n.length, "length");
  const Unit& energy = find(energies, n.energy, "energy");
  const Unit& mass = find(masses, n.mass, "mass");
  Units u{length.h5md, energy.h5md, mass.h5md, "", boltzmann / energy.si};
  u.coulomb = electron_volt * electron_volt / (4 * M_PI * permittivity) / (energy.si * length.si);
  u.time = time_unit(length.si * std::sqrt(mass.si / energy.si));
  return u;
}

const std::vector<std::string>& length_units() {
  static const auto list = names(lengths);
  return list;
}
const std::vector<std::string>& energy_units() {
  static const auto list = names(energies);
  return list;
}
const std::vector<std::string>& mass_units() {
  static const auto list = names(masses);
  return list;
}

}  // namespace perrin
