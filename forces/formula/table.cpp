#include "forces/formula/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "engine/base/error.h"
#include "engine/job/compile_plugin.h"
#include "engine/settings/json_file.h"

namespace perrin::formula {
namespace {

using Values = std::map<std::string, double>;

/// Energy and slope of one set of parameters as a function of the one variable.
class Curve {
 public:
  Curve(const Formula& formula, std::string variable, Values values)
      : energy_(formula.value),
        slope_(derivative(formula.value, variable)),
        variable_(std::move(variable)),
        values_(std::move(values)) {}

  double energy(double x) { return value(energy_, x); }
  double slope(double x) { return value(slope_, x); }

 private:
  double value(const Expression& e, double x) {
    values_[variable_] = x;
    return evaluate(e, values_);
  }
  Expression energy_, slope_;
  std::string variable_;
  Values values_;
};

struct Interval {
  double from, to;
};

struct Typical {
  double energy;
  double scale;  // of what ends before the table does: the same of the outer quarter
};

/// The largest energy of the outer half, up to the distance beyond which the formula has ended, as
/// that of WCA does before a longer cut-off: there nothing is left of the energies within.
Typical typical_energy(Curve& curve, double to) {
  constexpr double nothing = 1e-7;
  for (int end = 100; end >= 2; --end) {
    double half = 0, quarter = 0, last = 0;
    for (int k = 50; k < 100; ++k) {
      const double energy = std::abs(curve.energy(to * end * k / 10000));
      half = std::max(half, energy);
      if (k >= 75) quarter = std::max(quarter, energy);
      if (k >= 90) last = std::max(last, energy);
    }
    if (last > nothing * half) return {half, end < 100 ? quarter : 0};
  }
  return {0, 0};
}

/// Energies that large, beside those near the end, are never met: there a table of r may begin. A
/// formula of r - delta has such energies at delta, and goes on below. Of a formula that falls with
/// a power of r those near a long cut-off say little: its table begins where it is not resolved.
double beginning(Curve& curve, double to, const Typical& typical) {
  const double low = 1e7 * (typical.energy + 1e-30), high = std::min(1e14 * typical.energy, 1e30);
  const auto resolved = [&](double x) {
    const double h = to / 16384, exact = curve.energy(x + h / 2);
    const double spline =
        (curve.energy(x) + curve.energy(x + h)) / 2 + h / 8 * (curve.slope(x) - curve.slope(x + h));
    return std::abs(spline - exact) <= 1e-6 * (std::abs(exact) + typical.energy);
  };
  const auto met = [&](int k) {
    const double x = to * k / 1000, energy = std::abs(curve.energy(x));
    if (!std::isfinite(energy) || !std::isfinite(curve.slope(x))) return false;
    return energy <= low || (typical.scale == 0 && energy <= high && resolved(x));
  };
  int first = 1;
  while (first < 1000 && !met(first)) ++first;
  if (first == 1000)
    throw UserError("the energy is not finite anywhere below the end of the table");
  for (int k = first; k <= 500; ++k)
    if (!met(k)) first = k + 1;
  return to * first / 1000;
}

/// Where bonds end: at four times the length of the lowest energy, or a little before the formula
/// does, as that of FENE at its longest bond.
double end_of_bonds(Curve& curve) {
  double best = 0, lowest = INFINITY;
  for (double r = 1e-4; r < 1e4; r *= 1.01)
    if (const double e = curve.energy(r); e < lowest) lowest = e, best = r;
  const bool has_minimum = best >= 2e-4 && best <= 5e3;
  const auto is_there = [&](double r) {
    return std::isfinite(curve.energy(r)) && std::isfinite(curve.slope(r));
  };
  double there = best;
  while (there > 0 && there < (has_minimum ? 4 * best : 1e4) && is_there(1.01 * there))
    there *= 1.01;
  if (there >= 4 * best && has_minimum) return 4 * best;
  if (there <= 0 || there >= 1e4)
    throw UserError(
        "a table of bonds needs an energy with a minimum between 10^-4 and 10^4, or one that ends "
        "there");
  double beyond = 1.01 * there;
  for (int k = 0; k < 60; ++k) {
    const double middle = (there + beyond) / 2;
    (is_there(middle) ? there : beyond) = middle;
  }
  return best + 0.999 * (there - best);
}

struct Table {
  std::string text;
  double error;  // halfway between points, of the energy there or of the typical one
};

/// `unit`: of x in the file; `scale`: of energies, where those of the outer half are less.
Table tabulate(Curve& curve, Interval range, double unit, double scale) {
  for (int points = 4097;; points = 2 * points - 1) {
    const double h = (range.to - range.from) / (points - 1);
    std::vector<double> energy, slope;
    double typical = scale;
    for (int k = 0; k < points; ++k) {
      const double x = k + 1 == points ? range.to : range.from + k * h;
      energy.push_back(curve.energy(x)), slope.push_back(curve.slope(x));
      if (!std::isfinite(energy.back()) || !std::isfinite(slope.back()))
        throw UserError(fmt::format("energy and force must be finite at {:.6g}", x));
      if (k > points / 2) typical = std::max(typical, std::abs(energy.back()));
    }
    Table table{"", 0};
    for (int k = 0; k + 1 < points; ++k) {
      const double x = range.from + (k + 0.5) * h, exact = curve.energy(x);
      const double spline = (energy[std::size_t(k)] + energy[std::size_t(k) + 1]) / 2 +
                            h / 8 * (slope[std::size_t(k)] - slope[std::size_t(k) + 1]);
      table.error = std::max(table.error, std::abs(spline - exact) / (std::abs(exact) + typical));
    }
    if (table.error > 1e-6 && points < 100000) continue;
    if (table.error > 1e-6)
      throw UserError(
          fmt::format("a table of {} points has a relative error of {:.1g}: the formula jumps or "
                      "bends too sharply",
                      points, table.error));
    for (int k = 0; k < points; ++k)
      table.text += fmt::format("{:.17g} {:.17g} {:.17g}\n",
                                (k + 1 == points ? range.to : range.from + k * h) / unit,
                                energy[std::size_t(k)], -slope[std::size_t(k)] * unit);
    return table;
  }
}

/// The parameters of the formula among the keys of an entry; reports what is missing or unknown.
std::optional<Values> parameters(const Formula& formula, const Json& entry,
                                 const std::vector<std::string>& others, const std::string& path,
                                 const CatalogueRow::Report& report) {
  Values values;
  bool good = entry.is_object();
  if (!good) report(path, fmt::format("must be an object, got {}", shown(entry)));
  const auto wrong = [&](const std::string& key, const std::string& what) {
    report(key, what);
    good = false;
  };
  if (good) {
    for (const std::string& p : formula.parameters) {
      const auto it = entry.find(p);
      if (it == entry.end())
        wrong(path, fmt::format("the key \"{}\" is missing: a number (of the formula)", p));
      else if (!it->is_number())
        wrong(path + "." + p, fmt::format("must be a number, got {}", shown(*it)));
      else
        values[p] = it->get<double>();
    }
    for (const auto& [key, value] : entry.items())
      if (std::ranges::count(formula.parameters, key) + std::ranges::count(others, key) == 0)
        wrong(path + "." + key, "unknown key");
  }
  return good ? std::optional(values) : std::nullopt;
}

class Tables {
 public:
  Tables(const Request& request, const Formula& formula, const CatalogueRow::Report& report)
      : request_(request), formula_(formula), report_(report) {}

  /// The entry of the table that takes the place of this one; nothing after a report.
  std::optional<Json> entry(const Json& old, const std::string& path,
                            std::optional<double> cutoff) {
    const bool pair = request_.type == "pair_formula";
    const auto values =
        parameters(formula_, old,
                   pair ? std::vector<std::string>{"types", "cutoff"} : std::vector<std::string>{},
                   path, report_);
    if (!values) return {};
    Curve curve(formula_, variables_of(request_.type)[0], *values);
    try {
      const bool angles = request_.type == "angle_formula" || request_.type == "dihedral_formula";
      const double degree = std::numbers::pi / 180;
      Interval range{0, std::numbers::pi};
      if (request_.type == "dihedral_formula") range.from = -std::numbers::pi;
      double scale = 0;
      if (!angles) {
        range.to = pair ? *cutoff : end_of_bonds(curve);
        const Typical typical = typical_energy(curve, range.to);
        scale = typical.scale;
        range.from = beginning(curve, range.to, typical);
      }
      const Table table = tabulate(curve, range, angles ? degree : 1, scale);
      worst = std::max(worst, table.error);
      Json made = Json::object();
      if (pair) made["types"] = old.at("types");
      made["file"] = keep_text(table.text, "table.txt").string();
      return made;
    } catch (const UserError& e) {
      report_(path, e.what());
      return {};
    }
  }
  double worst = 0;

 private:
  const Request& request_;
  const Formula& formula_;
  const CatalogueRow::Report& report_;
};

/// Pairs of unlike types that the job leaves to mixing.
void add_mixed(Json& pairs, const Request& request) {
  if (request.mixing.empty()) return;
  std::vector<Json> like;
  const auto has = [&](const Json& a, const Json& b) {
    return std::ranges::any_of(pairs, [&](const Json& p) {
      return p.at("types") == Json::array({a, b}) || p.at("types") == Json::array({b, a});
    });
  };
  for (const Json& p : pairs)
    if (p.at("types")[0] == p.at("types")[1]) like.push_back(p);
  for (std::size_t i = 0; i < like.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Json &a = like[i].at("types")[0], &b = like[j].at("types")[0];
      if (has(a, b)) continue;
      Json mixed = {{"types", {a, b}}};
      for (const auto& [name, rule] : request.mixing) {
        const double x = like[i].value(name, 0.0), y = like[j].value(name, 0.0);
        mixed[name] = rule == "geometric" ? std::sqrt(x * y) : (x + y) / 2;
      }
      pairs.push_back(mixed);
    }
}

}  // namespace

std::optional<GeneratedType> tabulated(const Request& request, const Formula& formula,
                                       const Json& settings, const CatalogueRow::Report& report) {
  const std::map<std::string, std::pair<const char*, const char*>> types{
      {"pair_formula", {"pair_table", "pairs"}},
      {"bond_formula", {"bond_table", "bonds"}},
      {"angle_formula", {"angle_table", "angles"}},
      {"dihedral_formula", {"dihedral_table", "dihedrals"}}};
  const auto type = types.find(request.type);
  if (type == types.end()) {
    report("energy",
           fmt::format("no compiler was found to compile the formula, and that of a {} cannot be "
                       "tabulated: only formulas of one distance or angle can",
                       request.type));
    return {};
  }
  const auto [name, key] = type->second;
  auto made = std::make_shared<Json>(settings);
  const bool pairs = request.type == "pair_formula";
  if (!made->contains(key) || (pairs ? !(*made)[key].is_array() : !(*made)[key].is_object()))
    return report(key, "is missing or has the wrong type"), std::nullopt;
  Tables tables(request, formula, report);
  bool good = true;
  if (pairs) {
    for (std::size_t k = 0; k < (*made)[key].size(); ++k) {
      const Json& entry = (*made)[key][k];
      if (entry.is_object() && entry.contains("types") && entry["types"].is_array() &&
          entry["types"].size() == 2)
        continue;
      report(fmt::format("{}[{}].types", key, k), "must be a list of 2 names of types");
      good = false;
    }
    if (!good) return {};
    add_mixed((*made)[key], request);
    made->erase("mixing");
    const Json common = made->value("cutoff", Json());
    for (std::size_t k = 0; k < (*made)[key].size(); ++k) {
      Json& entry = (*made)[key][k];
      const Json own = entry.value("cutoff", common);
      const std::string path = fmt::format("{}[{}]", key, k);
      if (!own.is_number() || !(own.get<double>() > 0)) {
        report(path + ".cutoff", "must be a positive number: a formula has no intrinsic range");
        good = false;
        continue;
      }
      const auto table = tables.entry(entry, path, own.get<double>());
      good = good && table;
      if (table) entry = *table;
    }
    made->erase("cutoff");
  } else {
    for (auto& [of, entry] : (*made)[key].items()) {
      const auto table = tables.entry(entry, fmt::format("{}.{}", key, of), {});
      good = good && table;
      if (table) entry = *table;
    }
  }
  if (!good) return {};
  (*made)["type"] = name;
  fmt::print(stderr,
             "no compiler was found: the formula {} is tabulated, with an error of at most {:.1g} "
             "of the energy\n",
             request.energy, tables.worst);
  return GeneratedType{name, "", made};
}

}  // namespace perrin::formula
