#include "io/file_units.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <locale>
#include <map>
#include <sstream>

#include "engine/base/error.h"

namespace perrin::io {
namespace {

// SI 2019: exact k_B, N_A, e; the dalton is CODATA 2018.
constexpr double boltzmann = 1.380649e-23;  // J/K
constexpr double avogadro = 6.02214076e23;
constexpr double electron_volt = 1.602176634e-19;  // J
constexpr double dalton = 1.66053906660e-27;       // kg

/// A number that is a power of ten to nine digits as just that: u and g/mol differ in the tenth.
double rounded(double value) {
  const double power = std::pow(10.0, std::round(std::log10(value)));
  return std::abs(value / power - 1) < 1e-9 ? power : value;
}

/// A unit in m, s, kg, and its powers of these.
struct Value {
  double si = 1;
  int m = 0, s = 0, kg = 0;
};

const Value* find_unit(const std::string& name) {
  constexpr double calorie = 4.184;
  static const std::map<std::string, Value> known{{"m", {1, 1, 0, 0}},
                                                  {"mm", {1e-3, 1, 0, 0}},
                                                  {"um", {1e-6, 1, 0, 0}},
                                                  {"cm", {1e-2, 1, 0, 0}},
                                                  {"Bohr", {5.29177210903e-11, 1, 0, 0}},
                                                  {"pg", {1e-15, 0, 0, 1}},
                                                  {"ag", {1e-21, 0, 0, 1}},
                                                  {"µm", {1e-6, 1, 0, 0}},
                                                  {"nm", {1e-9, 1, 0, 0}},
                                                  {"pm", {1e-12, 1, 0, 0}},
                                                  {"fm", {1e-15, 1, 0, 0}},
                                                  {"Angstrom", {1e-10, 1, 0, 0}},
                                                  {"angstrom", {1e-10, 1, 0, 0}},
                                                  {"A", {1e-10, 1, 0, 0}},
                                                  {"Å", {1e-10, 1, 0, 0}},
                                                  {"s", {1, 0, 1, 0}},
                                                  {"sec", {1, 0, 1, 0}},
                                                  {"second", {1, 0, 1, 0}},
                                                  {"ms", {1e-3, 0, 1, 0}},
                                                  {"us", {1e-6, 0, 1, 0}},
                                                  {"µs", {1e-6, 0, 1, 0}},
                                                  {"ns", {1e-9, 0, 1, 0}},
                                                  {"ps", {1e-12, 0, 1, 0}},
                                                  {"fs", {1e-15, 0, 1, 0}},
                                                  {"kg", {1, 0, 0, 1}},
                                                  {"g", {1e-3, 0, 0, 1}},
                                                  {"u", {dalton, 0, 0, 1}},
                                                  {"amu", {dalton, 0, 0, 1}},
                                                  {"Da", {dalton, 0, 0, 1}},
                                                  {"mol", {avogadro, 0, 0, 0}},
                                                  {"J", {1, 2, -2, 1}},
                                                  {"kJ", {1e3, 2, -2, 1}},
                                                  {"cal", {calorie, 2, -2, 1}},
                                                  {"kcal", {1e3 * calorie, 2, -2, 1}},
                                                  {"eV", {electron_volt, 2, -2, 1}},
                                                  {"meV", {1e-3 * electron_volt, 2, -2, 1}},
                                                  {"N", {1, 1, -2, 1}},
                                                  {"pN", {1e-12, 1, -2, 1}},
                                                  {"K", {boltzmann, 2, -2, 1}}};
  const auto it = known.find(name);
  return it == known.end() ? nullptr : &it->second;
}

Value parse_unit(const std::string& text, const std::string& where) {
  const auto fail = [&] {
    throw UserError(fmt::format("{}: unknown unit \"{}\"", where, text.substr(0, 60)));
  };
  Value value;
  std::istringstream words(text);
  words.imbue(std::locale::classic());
  std::string word;
  while (words >> word) {
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {  // "0.0488882129 ps"
      double number = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (error != std::errc() || end != word.data() + word.size() || !(number > 0)) fail();
      value.si *= number;
      continue;
    }
    const std::size_t at = std::min(word.find_first_of("-+0123456789"), word.size());
    const char* digits = word.data() + at + (at < word.size() && word[at] == '+' ? 1 : 0);
    int n = 1;
    if (at < word.size()) {
      const auto [end, error] = std::from_chars(digits, word.data() + word.size(), n);
      if (error != std::errc() || end != word.data() + word.size() || std::abs(n) > 12) fail();
    }
    const Value* unit = find_unit(word.substr(0, at));
    if (unit == nullptr) fail();
    value.si *= std::pow(unit->si, n);
    value.m += n * unit->m, value.s += n * unit->s, value.kg += n * unit->kg;
  }
  if (!(value.si > 0) || !std::isfinite(value.si)) fail();
  return value;
}

/// In picoseconds.
double unit_of_time(const Units& units) { return convert_unit(units.time, "ps", "units"); }

}  // namespace

FileUnit file_length(const Units& units) {
  if (units.reduced()) return {};
  const bool angstrom = units.length == "angstrom";
  const std::string name = angstrom ? "Angstrom" : "nm";
  return {name, convert_unit(units.length, name, "units")};
}

FileUnit file_time(const Units& units) {
  if (units.reduced() || units.time.empty()) return {};
  return {"ps", unit_of_time(units)};
}

FileUnit file_velocity(const Units& units) {
  if (units.reduced() || units.time.empty()) return {};
  const FileUnit length = file_length(units);
  return {length.name + " ps-1", rounded(length.factor / unit_of_time(units))};
}

FileUnit file_force(const Units& units) {
  if (units.reduced()) return {};
  const std::string length = file_length(units).name;
  const bool newton = units.energy == "J" || units.energy == "pN nm";
  const bool calories = units.energy == "kcal mol-1" && length == "Angstrom";
  const std::string name = newton ? "N" : (calories ? "kcal mol-1 " : "kJ mol-1 ") + length + "-1";
  return {name, convert_unit(units.energy + " " + units.length + "-1", name, "units")};
}

FileUnit file_momentum(const Units& units) {
  const FileUnit velocity = file_velocity(units);
  if (velocity.name.empty()) return {};
  return {units.mass + " " + velocity.name, velocity.factor};
}

FileUnit file_angular_momentum(const Units& units) {
  const FileUnit length = file_length(units), velocity = file_velocity(units);
  if (velocity.name.empty()) return {};
  return {units.mass + " " + length.name + "2 ps-1", rounded(length.factor * velocity.factor)};
}

FileUnit file_torque(const Units& units) {
  const FileUnit force = file_force(units), length = file_length(units);
  if (force.name.empty()) return {};
  return {force.name + " " + length.name, rounded(force.factor * length.factor)};
}

FileUnit file_moment_of_inertia(const Units& units) {
  const FileUnit length = file_length(units);
  if (length.name.empty()) return {};
  return {units.mass + " " + length.name + "2", rounded(length.factor * length.factor)};
}

double convert_unit(const std::string& from, const std::string& to, const std::string& where) {
  if (from == to) return 1;
  const Value a = parse_unit(from, where), b = parse_unit(to, where);
  if (a.m != b.m || a.s != b.s || a.kg != b.kg)
    throw UserError(fmt::format("{}: cannot convert the unit \"{}\" to \"{}\"", where, from, to));
  const double factor = rounded(a.si / b.si);
  if (!(factor > 0) || !std::isfinite(factor))
    throw UserError(fmt::format("{}: the unit \"{}\" is out of range", where, from));
  return factor;
}

}  // namespace perrin::io
