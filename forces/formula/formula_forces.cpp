#include "forces/formula/formula_forces.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>

#include "engine/components/registry.h"
#include "engine/formula/json_number.h"
#include "engine/job/cache.h"
#include "engine/job/compile_plugin.h"
#include "engine/settings/json_file.h"
#include "engine/settings/problems.h"
#include "engine/settings/settings_parse.h"
#include "forces/field_faces.h"
#include "forces/formula/library.h"
#include "forces/formula/library_settings.h"
#include "forces/formula/source.h"
#include "forces/formula/table.h"

namespace perrin {
namespace {

// For help and schema; what a job says is read as settings of the generated type.

/// The name of a potential in place of its formula.
template <class D>
void describe_potential(D& d, std::optional<std::string>& potential, const char* type) {
  d.optional("potential", potential, OneOf(formula::potential_names(type)),
             "name of a potential of the library, in place of \"energy\"; perrin help potentials");
}

struct PairFormula {
  std::optional<std::string> potential, energy;
  std::optional<double> cutoff;
  std::optional<std::string> range;
  std::string truncation = "cut";
  std::optional<double> switch_on;
  std::map<std::string, std::string> mixing;
  std::vector<Json> pairs;
};

template <class D>
void describe(D& d, PairFormula& s) {
  d.example(
      "{\"energy\": \"4*epsilon*((sigma/r)^12 - (sigma/r)^6)\", \"cutoff\": 2.5, \"pairs\": "
      "[{\"types\": [\"A\", \"A\"], \"epsilon\": 1, \"sigma\": 1}]}");
  describe_potential(d, s.potential, "pair_formula");
  d.optional("energy", s.energy, Any{},
             "energy of a pair at the distance r: numbers, parameters, + - * / ^, functions, "
             "definitions after \";\"; perrin help formula");
  d.any_of({"potential", "energy"});
  d.optional("cutoff", s.cutoff, Positive{}, "cut-off distance of all pairs of types (length)");
  d.optional("range", s.range, Any{},
             "formula of attributes (NAME_1, NAME_2) and parameters: the distance at which a pair "
             "is truncated in place of the cut-off, which it may not exceed");
  d.optional("truncation", s.truncation, OneOf{"cut", "energy_shift", "force_shift", "switch"},
             "truncation of energy and force at the cut-off");
  d.optional("switch_on", s.switch_on, Positive{},
             "distance at which \"switch\" begins (length); default: 0.9 of the cut-off; with a "
             "\"range\" both become shorter in proportion");
  d.optional("mixing", s.mixing, OneOf{"geometric", "arithmetic"},
             "mixing rule of each parameter for unlike types: \"geometric\" or \"arithmetic\"");
  d.required(
      "pairs", s.pairs, Any{},
      "for each pair of types: \"types\", the parameters by their names, optionally \"cutoff\"");
}

struct AnisotropicFormula {
  std::string energy;
  std::optional<double> cutoff;
  std::string truncation = "cut";
  std::optional<double> switch_on;
  std::map<std::string, std::string> mixing;
  std::vector<Json> pairs;
};

template <class D>
void describe(D& d, AnisotropicFormula& s) {
  d.example(
      "{\"energy\": \"a*exp(-b*r)*(1 - cos_1*cos_2) - k*cos_12*exp(-r)\", \"cutoff\": 2.5, "
      "\"truncation\": \"switch\", \"pairs\": [{\"types\": [\"A\", \"A\"], \"a\": 10, \"b\": 2, "
      "\"k\": 1}]}");
  d.required("energy", s.energy, Any{},
             "energy of a pair at the distance r, where cos_1 is the cosine of the angle between "
             "the axis of particle 1 (x of its own frame) and the direction to particle 2, cos_2 "
             "likewise of the axis of particle 2 and the direction to particle 1, cos_12 that "
             "between the axes; perrin help formula. It must not change when cos_1 and cos_2 are "
             "exchanged. Needs \"orientations\"");
  d.optional("cutoff", s.cutoff, Positive{}, "cut-off distance of all pairs of types (length)");
  d.optional(
      "truncation", s.truncation, OneOf{"cut", "energy_shift", "switch"},
      "truncation at the cut-off; energy_shift: by the energy there, of the same directions");
  d.optional("switch_on", s.switch_on, Positive{},
             "distance at which \"switch\" begins (length); default: 0.9 of the cut-off");
  d.optional("mixing", s.mixing, OneOf{"geometric", "arithmetic"},
             "mixing rule of each parameter for unlike types: \"geometric\" or \"arithmetic\"");
  d.required(
      "pairs", s.pairs, Any{},
      "for each pair of types: \"types\", the parameters by their names, optionally \"cutoff\"");
}

struct BondFormula {
  std::string energy;
  std::map<std::string, std::map<std::string, double>> bonds;
  std::vector<std::string> skip;
};

template <class D>
void describe(D& d, BondFormula& s) {
  d.example("{\"energy\": \"k/2*(r - r0)^2\", \"bonds\": {\"bond\": {\"k\": 100, \"r0\": 1}}}");
  d.required("energy", s.energy, Any{}, "energy of a bond of length r; perrin help formula");
  d.required("bonds", s.bonds, Any{}, "parameters of each bond type, by its name");
  d.optional("skip", s.skip, Any{}, "bond types excluded from this force");
}

struct AngleFormula {
  std::string energy;
  std::map<std::string, std::map<std::string, double>> angles;
  std::vector<std::string> skip;
};

template <class D>
void describe(D& d, AngleFormula& s) {
  d.example("{\"energy\": \"k*(1 + cos(theta))\", \"angles\": {\"angle\": {\"k\": 2}}}");
  d.required("energy", s.energy, Any{},
             "energy of an angle theta (radians; straight is pi); perrin help formula");
  d.required("angles", s.angles, Any{}, "parameters of each angle type, by its name");
  d.optional("skip", s.skip, Any{}, "angle types excluded from this force");
}

struct DihedralFormula {
  std::optional<std::string> potential, energy;
  std::map<std::string, std::map<std::string, double>> dihedrals;
  std::vector<std::string> skip;
};

template <class D>
void describe(D& d, DihedralFormula& s) {
  d.example("{\"energy\": \"k*(1 + cos(3*phi))\", \"dihedrals\": {\"dihedral\": {\"k\": 2}}}");
  describe_potential(d, s.potential, "dihedral_formula");
  d.optional("energy", s.energy, Any{},
             "energy of a dihedral angle phi (-pi to pi; trans is pi); perrin help formula");
  d.any_of({"potential", "energy"});
  d.required("dihedrals", s.dihedrals, Any{}, "parameters of each dihedral type, by its name");
  d.optional("skip", s.skip, Any{}, "dihedral types excluded from this force");
}

struct ExternalFormula {
  std::string energy;
  std::map<std::string, std::map<std::string, double>> types;
  bool unwrapped = false;
};

template <class D>
void describe(D& d, ExternalFormula& s) {
  d.example(
      "{\"energy\": \"k/2*(x^2 + y^2) - a*x*cos(omega*t)\", "
      "\"types\": {\"A\": {\"k\": 2, \"a\": 1, \"omega\": 3}}}");
  d.required("energy", s.energy, Any{},
             "energy of a particle at x, y, z (along periodic axes, of the image nearest to 0) and "
             "at the time t (the total energy is then not conserved); perrin help formula");
  d.required("types", s.types, Any{},
             "parameters for each particle type that the field acts on, by its name");
  d.optional("unwrapped", s.unwrapped, Any{}, unwrapped_help);
}

/// The formula of a request, with the parameters of its range; or nothing after a report.
std::optional<formula::Formula> read(const formula::Request& request,
                                     const CatalogueRow::Report& report) {
  std::string key = "energy";
  try {
    auto formula = formula::parse(request.energy, formula::variables_of(request));
    if (!request.range.empty()) {
      key = "range";
      for (const std::string& p :
           formula::parse(request.range, formula::variables_of(request)).parameters)
        if (std::ranges::count(formula.parameters, p) == 0) formula.parameters.push_back(p);
    }
    for (const std::string& p : formula.parameters)
      if (p == "types" || p == "cutoff")
        throw UserError(
            fmt::format("\"{}\" is a key of this force and cannot name a parameter", p));
    return formula;
  } catch (const UserError& e) {
    report(key, e.what());
    return {};
  }
}

/// Whether parameters are those of pairs of types, and mix.
bool is_of_pairs(const std::string& type) {
  return type == "pair_formula" || type == "anisotropic_formula";
}

/// Names of parameters that the settings give, for some pair of types or type.
std::set<std::string> given_parameters(const std::string& type, const Json& settings) {
  std::set<std::string> given;
  const auto take = [&](const Json& entry) {
    if (entry.is_object())
      for (const auto& [key, value] : entry.items()) given.insert(key);
  };
  const auto list = settings.find(is_of_pairs(type)            ? "pairs"
                                  : type == "bond_formula"     ? "bonds"
                                  : type == "angle_formula"    ? "angles"
                                  : type == "dihedral_formula" ? "dihedrals"
                                                               : "types");
  if (list != settings.end() && (list->is_array() || list->is_object()))
    for (const Json& entry : *list) take(entry);
  return given;
}

/// The attributes of particles in a formula: names that the settings do not give; where it is of
/// several particles those that end in _1, _2, …
std::vector<std::string> attributes_in(const std::string& type, const formula::Formula& formula,
                                       const Json& settings) {
  std::vector<std::string> found;
  const std::set<std::string> given = given_parameters(type, settings);
  for (std::string name : formula.parameters) {
    if (given.contains(name)) continue;
    if (const int members = formula::members_of(type); members > 1) {
      const int of = formula::particle_of(name);
      if (of == 0 || of > members) continue;
      name.resize(name.size() - 2);
    }
    if (std::ranges::find(found, name) == found.end()) found.push_back(name);
  }
  return found;
}

/// Takes "mixing" out of the settings: what the generated type does with it is in its code.
void take_mixing(Json& settings, formula::Request& request, const formula::Formula& formula,
                 const CatalogueRow::Report& report) {
  const auto mixing = settings.find("mixing");
  if (mixing == settings.end() || *mixing == "none") return;
  if (!mixing->is_object())
    return report("mixing",
                  fmt::format("must give \"geometric\" or \"arithmetic\" for every parameter of "
                              "the formula, as in {{\"epsilon\": \"geometric\"}}, got {}",
                              shown(*mixing)));
  for (const auto& [name, rule] : mixing->items()) {
    if (std::ranges::count(formula.parameters, name) == 0)
      report("mixing." + name, fmt::format("is not a parameter of the formula; {}",
                                           suggest(name, formula.parameters)));
    else if (rule != "geometric" && rule != "arithmetic")
      report("mixing." + name, fmt::format("must be geometric or arithmetic, got {}", shown(rule)));
    else
      request.mixing[name] = rule.get<std::string>();
  }
  for (const std::string& p : formula.parameters)
    if (!mixing->contains(p))
      report("mixing", fmt::format("the parameter \"{}\" is missing: geometric or arithmetic", p));
  *mixing = "geometric";  // of all rules that which the code has
}

/// The type that comes of a request, or of a table where there is no compiler.
std::optional<GeneratedType> compiled(const formula::Request& request,
                                      const formula::Formula& formula,
                                      const std::shared_ptr<Json>& rest,
                                      const CatalogueRow::Report& report) {
  try {
    const std::string code = formula::plugin_source(request, formula, "@");
    if (!generates_types()) return {};
    const std::string name = request.type + " " + text_hash(code);
    const auto plugin = compile_plugin(formula::plugin_source(request, formula, name),
                                       fmt::format("the formula {}", request.energy));
    if (plugin) return GeneratedType{name, plugin->string(), rest};
    if (!request.attributes.empty()) {
      report("energy", fmt::format("reads the attributes {} of particles, which needs a compiler "
                                   "(perrin help formula)",
                                   fmt::join(request.attributes, ", ")));
      return {};
    }
    if (request.type == "anisotropic_formula") {
      report("energy", "needs a compiler (perrin help formula)");
      return {};
    }
    return formula::tabulated(request, formula, *rest, report);
  } catch (const UserError& e) {
    report("energy", e.what());
  }
  return {};
}

/// Reports parameters that are missing or unknown, before a compiler is asked for anything.
bool has_parameters(const std::string& type, const Json& settings, const formula::Formula& formula,
                    const CatalogueRow::Report& report) {
  const std::string list = is_of_pairs(type)            ? "pairs"
                           : type == "external_formula" ? "types"
                                                        : type.substr(0, type.find('_')) + "s";
  const auto entries = settings.find(list);
  if (entries == settings.end()) {
    report(list, "is missing: the parameters of the formula");
    return false;
  }
  bool good = true;
  std::vector<std::string> known = formula.parameters;
  if (list == "pairs") known.insert(known.end(), {"types", "cutoff"});
  const auto check = [&](const std::string& path, const Json& entry) {
    if (!entry.is_object()) return;  // told when settings are read
    for (const std::string& p : formula.parameters) {
      if (entry.contains(p)) continue;
      good = false;
      report(path, fmt::format("the key \"{}\" is missing: a number (of the formula)", p));
    }
    for (const auto& [key, value] : entry.items()) {
      if (std::ranges::count(known, key) > 0) continue;
      good = false;
      report(join_path(path, key), "unknown key; " + suggest(key, known));
    }
  };
  if (entries->is_array())
    for (std::size_t k = 0; k < entries->size(); ++k) check(join_path(list, k), (*entries)[k]);
  if (entries->is_object())
    for (const auto& [name, entry] : entries->items()) check(join_path(list, name), entry);
  return good;
}

/// Reports energies of dihedrals that jump where an angle comes round, from pi to -pi.
bool goes_round(const Json& settings, const formula::Formula& formula,
                const CatalogueRow::Report& report) {
  bool good = true;
  const Json& dihedrals = settings.at("dihedrals");
  if (!dihedrals.is_object()) return true;  // told when settings are read
  for (const auto& [name, entry] : dihedrals.items()) {
    std::map<std::string, double> values;
    for (const std::string& p : formula.parameters)
      if (const auto it = entry.find(p); it != entry.end() && it->is_number())
        values[p] = it->get<double>();
    if (values.size() < formula.parameters.size()) continue;  // likewise
    const auto at = [&](double phi) {
      values["phi"] = phi;
      return formula::evaluate(formula.value, values);
    };
    const double high = at(std::numbers::pi), low = at(-std::numbers::pi);
    if (std::abs(high - low) <= 1e-6 * (1 + std::abs(high) + std::abs(low))) continue;
    good = false;
    report(join_path("dihedrals", name),
           fmt::format("the energy must be the same at -pi and pi, which are one angle, got {:.6g} "
                       "and {:.6g}; k/2 (phi - phi0)^2, the shorter way round, is the force "
                       "dihedral_harmonic",
                       low, high));
  }
  return good;
}

/// `settings` with a formula.
std::optional<GeneratedType> generate_formula(const std::string& type, const Json& settings,
                                              const CatalogueRow::Report& report) {
  const auto energy = settings.find("energy");
  if (energy == settings.end() || !energy->is_string()) {
    report("energy", energy == settings.end()
                         ? fmt::format("is missing: the formula of the energy, as text{}",
                                       formula::potential_names(type).empty()
                                           ? ""
                                           : ", or \"potential\", the name of one of the library")
                         : fmt::format("must be text, got {}", shown(*energy)));
    return {};
  }
  formula::Request request{type, energy->get<std::string>(), "cut", {}};
  if (const auto range = settings.find("range");
      type == "pair_formula" && range != settings.end()) {
    if (!range->is_string() && !range->is_null())
      return report("range", "must be text, got " + shown(*range)), std::nullopt;
    if (range->is_string()) request.range = range->get<std::string>();
  }
  auto formula = read(request, report);
  if (!formula) return {};
  request.attributes = attributes_in(type, *formula, settings);
  if (!request.attributes.empty()) {
    constexpr std::size_t most = 4;  // AttributeWords::most
    if (request.attributes.size() > most) {
      report("energy",
             fmt::format("has {} names that are no parameters: {}; expected at most {} "
                         "attributes of particles",
                         request.attributes.size(), fmt::join(request.attributes, ", "), most));
      return {};
    }
    if (type == "anisotropic_formula") {
      report("energy", fmt::format("has names that are no parameters of \"pairs\": {}; attributes "
                                   "of particles are not possible here",
                                   fmt::join(request.attributes, ", ")));
      return {};
    }
    formula = read(request, report);
  }
  if (!request.range.empty()) {
    const auto used =
        formula::names(formula::parse(request.range, formula::variables_of(request)).value,
                       formula::Atom::Kind::variable);
    if (used.contains("r")) report("range", "is a distance of its own, and cannot depend on r");
    if (used.empty())
      report("range",
             "must depend on attributes of the two particles, as in \"1.25*(sigma_1 + "
             "sigma_2)/2\"; what is the same for all pairs is the \"cutoff\"");
    if (used.empty() || used.contains("r")) return {};
  }
  auto rest = std::make_shared<Json>(settings);
  rest->erase("energy");
  rest->erase("range");
  bool good = true;
  const auto note = [&](const std::string& key, const std::string& what) {
    good = false;
    report(key, what);
  };
  if (is_of_pairs(type)) {
    if (const auto end = settings.find("truncation"); end != settings.end() && end->is_string())
      request.truncation = end->get<std::string>();
    take_mixing(*rest, request, *formula, note);
  }
  if (!good || !has_parameters(type, settings, *formula, note)) return {};
  if (type == "dihedral_formula" && request.attributes.empty() &&
      !goes_round(settings, *formula, note))
    return {};
  return compiled(request, *formula, rest, report);
}

/// Numbers of a job that are needed before its settings are read: cut-offs, and all parameters.
Json with_numbers(Json settings) {
  if (!settings.is_object()) return settings;
  for (const char* const key : {"cutoff", "switch_on"})
    if (const auto it = settings.find(key); it != settings.end()) formula::compute(*it);
  for (const char* const key : {"pairs", "types", "bonds", "angles", "dihedrals"})
    if (const auto it = settings.find(key); it != settings.end() && it->is_structured())
      for (Json& entry : *it)
        if (entry.is_object())
          for (Json& number : entry) formula::compute(number);
  return settings;
}

std::optional<GeneratedType> generate(const std::string& type, const Json& given,
                                      const CatalogueRow::Report& report) {
  const Json settings = with_numbers(given);
  const auto name = settings.find("potential");
  if (name == settings.end() || formula::potential_names(type).empty())
    return generate_formula(type, settings, report);
  if (name->is_null()) {
    Json rest = settings;
    rest.erase("potential");
    return generate_formula(type, rest, report);
  }
  const auto written = formula::write_out(type, settings, report);
  if (!written) return {};
  auto made = generate_formula(type, *written->settings, report);
  if (made) made->record = written->record;
  return made;
}

template <class Settings>
void add(Registry& registry, const std::string& type, const std::string& help) {
  registry.add<Force, Settings>(type, help, [](const Settings&, Setup&) -> std::unique_ptr<Force> {
    throw BugError("a formula is made by the type that was generated for it");
  });
  registry.generate_with([type](const Json& settings, const CatalogueRow::Report& report) {
    return generate(type, settings, report);
  });
  registry.vary_with(formula::potential_variants(type));
}

}  // namespace

void register_formula_forces(Registry& registry) {
  add<PairFormula>(registry, "pair_formula", "pair potential given by a formula of r");
  add<AnisotropicFormula>(registry, "anisotropic_formula",
                          "pair potential of particles with axes, given by a formula of r and "
                          "three cosines");
  add<BondFormula>(registry, "bond_formula", "bond potential given by a formula of r");
  add<AngleFormula>(registry, "angle_formula", "angle potential given by a formula of theta");
  add<DihedralFormula>(registry, "dihedral_formula",
                       "dihedral potential given by a formula of phi");
  add<ExternalFormula>(registry, "external_formula",
                       "external field given by a formula of x, y, z, t");
}

}  // namespace perrin
