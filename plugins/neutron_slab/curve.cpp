#include "curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/formula/parse.h"
#include "io/text_lines.h"

namespace neutron {

using perrin::UserError;

Curve Curve::constant(double value) {
  if (!std::isfinite(value) || value < 0)
    throw UserError(fmt::format("must not be negative, got {}", value));
  // As other numbers of a job.
  if (value != 0 && !(value >= 1e-37 && value <= 1e37))
    throw UserError(fmt::format("must be 0 or from 1e-37 to 1e+37, got {}", value));
  Curve curve;
  curve.constant_ = true;
  curve.value_ = [value](double) { return value; };
  return curve;
}

Curve Curve::formula(const std::string& text) {
  const auto parsed = perrin::formula::parse(text, {"E"});
  if (!parsed.parameters.empty())
    throw UserError(
        fmt::format("a formula of the energy has the variable E and no other, got \"{}\" in \"{}\"",
                    parsed.parameters[0], text));
  Curve curve;
  curve.value_ = [value = parsed.value](double energy) {
    return perrin::formula::evaluate(value, {{"E", energy}});
  };
  return curve;
}

Curve Curve::table(std::vector<double> energies, std::vector<double> values) {
  if (energies.size() != values.size() || energies.size() < 2)
    throw UserError(
        fmt::format("a table needs at least two points [E, value], got {}", energies.size()));
  for (std::size_t k = 0; k < energies.size(); ++k) {
    if (!std::isfinite(energies[k]) || !(energies[k] > 0) ||
        (k > 0 && !(energies[k] > energies[k - 1])))
      throw UserError(
          fmt::format("energies of a table must be positive and increase, got {} as "
                      "number {}",
                      energies[k], k + 1));
    if (!std::isfinite(values[k]) || values[k] < 0)
      throw UserError(fmt::format("values of a table must not be negative, got {} at the energy {}",
                                  values[k], energies[k]));
  }
  Curve curve;
  curve.energies_ = energies;
  curve.values_ = values;
  // Beyond its ends the outermost pieces go on: the grid of kernels reaches a little further.
  curve.value_ = [x = std::move(energies), y = std::move(values)](double energy) {
    const auto after = std::upper_bound(x.begin(), x.end(), energy) - x.begin();
    const auto k = std::size_t(std::clamp<std::ptrdiff_t>(after, 1, std::ptrdiff_t(x.size()) - 1));
    const double t = (energy - x[k - 1]) / (x[k] - x[k - 1]);
    return std::max(y[k - 1] + t * (y[k] - y[k - 1]), 0.0);
  };
  return curve;
}

Curve Curve::read(const perrin::Json& value,
                  const std::function<std::filesystem::path(const std::string&)>& find) {
  if (value.is_number()) return constant(value.get<double>());
  if (value.is_string()) return formula(value.get<std::string>());
  std::vector<double> energies, values;
  if (value.is_array()) {
    for (const auto& point : value) {
      if (!point.is_array() || point.size() != 2 || !point[0].is_number() || !point[1].is_number())
        throw UserError(
            fmt::format("points of a table must be two numbers [E, value], got {}", point.dump()));
      energies.push_back(point[0].get<double>());
      values.push_back(point[1].get<double>());
    }
    return table(std::move(energies), std::move(values));
  }
  if (value.is_object() && value.size() == 1 && value.contains("file") &&
      value["file"].is_string()) {
    const auto path = find(value["file"].get<std::string>());
    perrin::io::TextLines lines(path.string());
    while (lines.next()) {
      const auto words = lines.words(true);
      if (words.empty()) continue;
      if (words.size() != 2) lines.fail("expected two numbers, an energy and a value");
      energies.push_back(lines.real(words[0], "an energy"));
      values.push_back(lines.real(words[1], "a value"));
    }
    try {
      return table(std::move(energies), std::move(values));
    } catch (const UserError& e) {
      throw UserError(path.string() + ": " + e.what());
    }
  }
  throw UserError(
      fmt::format("must be a number, a formula of E, a list of points [E, value], or "
                  "{{\"file\": name}}, got {}",
                  value.dump()));
}

}  // namespace neutron
