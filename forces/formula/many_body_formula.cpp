#include "forces/formula/many_body_formula.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "engine/components/registry.h"
#include "engine/job/cache.h"
#include "engine/job/compile_plugin.h"
#include "engine/settings/json_file.h"
#include "engine/settings/problems.h"
#include "engine/settings/settings_parse.h"
#include "forces/formula/many_body_source.h"
#include "forces/formula/source.h"

namespace perrin {
namespace {

/// For help and schema; what a job says is read as settings of the generated type.
struct ManyBodyFormula {
  std::string density, energy;
  std::optional<std::string> pair;
  std::optional<double> cutoff;
  std::string truncation = "cut";
  std::optional<double> switch_on;
  std::vector<Json> pairs;
  std::map<std::string, std::map<std::string, double>> types;
};

template <class D>
void describe(D& d, ManyBodyFormula& s) {
  d.example(
      "{\"density\": \"(1 - r/d)^2\", \"energy\": \"-a*sqrt(rho)\", \"pair\": \"b*(1 - r/d)^2\", "
      "\"cutoff\": 2.5, \"pairs\": [{\"types\": [\"A\", \"A\"], \"d\": 2.5, \"b\": 2}], "
      "\"types\": {\"A\": {\"a\": 1}}}");
  d.required("density", s.density, Any{},
             "what a particle at the distance r adds to the density rho of another; perrin help "
             "formula");
  d.required("energy", s.energy, Any{}, "energy of a particle whose density is rho");
  d.optional("pair", s.pair, Any{}, "energy of a pair at the distance r, beside it");
  d.optional("cutoff", s.cutoff, Positive{}, "cut-off distance of all pairs of types (length)");
  d.optional("truncation", s.truncation, OneOf{"cut", "energy_shift", "force_shift", "switch"},
             "truncation of density and pair energy at the cut-off, as of an energy");
  d.optional("switch_on", s.switch_on, Positive{},
             "distance at which \"switch\" begins (length); default: 0.9 of the cut-off");
  d.required("pairs", s.pairs, Any{},
             "for each pair of types: \"types\", the parameters of density and pair by their "
             "names, optionally \"cutoff\"; where both [\"A\", \"B\"] and [\"B\", \"A\"] are "
             "given, what the second adds to the density of the first");
  d.optional("types", s.types, Any{},
             "parameters of the energy for each particle type, by its name");
}

/// The formula at a key of the settings, or nothing after a report. `other`: the variable that
/// belongs to another formula; `reserved`: keys beside the parameters; `attributes`: names as they
/// stand in it.
std::optional<formula::Formula> read_formula(const Json& settings, const char* key,
                                             const char* variable, const char* other,
                                             const std::vector<std::string>& reserved,
                                             const CatalogueRow::Report& report,
                                             const std::vector<std::string>& attributes = {}) {
  const auto text = settings.find(key);
  if (text == settings.end() || !text->is_string()) {
    report(key, text == settings.end()
                    ? fmt::format("is missing: a formula of {}, as text", variable)
                    : fmt::format("must be text, got {}", shown(*text)));
    return {};
  }
  try {
    std::vector<std::string> variables{variable};
    variables.insert(variables.end(), attributes.begin(), attributes.end());
    auto formula = formula::parse(text->get<std::string>(), variables);
    for (const std::string& p : formula.parameters) {
      if (p == other)
        throw UserError(fmt::format("must be a formula of {}; {} is a variable of {} alone",
                                    variable, other,
                                    std::string(other) == "rho" ? "energy" : "density and pair"));
      for (const std::string& r : reserved)
        if (p == r)
          throw UserError(
              fmt::format("\"{}\" is a key of this force and cannot name a parameter", p));
    }
    return formula;
  } catch (const UserError& e) {
    report(key, e.what());
    return {};
  }
}

/// Whether an entry of a list or object of the settings gives a parameter.
bool gives(const Json& settings, const char* list, const std::string& parameter) {
  const auto entries = settings.find(list);
  if (entries == settings.end() || !(entries->is_array() || entries->is_object())) return false;
  return std::ranges::any_of(
      *entries, [&](const Json& entry) { return entry.is_object() && entry.contains(parameter); });
}

/// Names in the formulas that the settings do not give: attributes of particles, NAME_1 and NAME_2
/// in density and pair, NAME in the energy.
std::vector<std::string> attributes_in(const formula::Formula& density,
                                       const formula::Formula& energy, const formula::Formula& pair,
                                       const Json& settings) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& name) {
    if (std::ranges::count(found, name) == 0) found.push_back(name);
  };
  for (const auto* one : {&density, &pair})
    for (const std::string& p : one->parameters)
      if (const int of = formula::particle_of(p);
          (of == 1 || of == 2) && !gives(settings, "pairs", p))
        add(p.substr(0, p.size() - 2));
  for (const std::string& p : energy.parameters)
    if (!gives(settings, "types", p)) add(p);
  return found;
}

std::optional<GeneratedType> generate_many_body(const Json& settings,
                                                const CatalogueRow::Report& report) {
  const std::vector<std::string> keys{"types", "cutoff"};
  const auto pair_key = settings.find("pair");
  const bool has_pair = pair_key != settings.end() && !pair_key->is_null();
  std::vector<std::string> attributes, of_two;
  std::optional<formula::Formula> density, energy, pair;
  const auto read = [&] {
    density = read_formula(settings, "density", "r", "rho", keys, report, of_two);
    energy = read_formula(settings, "energy", "rho", "r", {}, report, attributes);
    pair = has_pair ? read_formula(settings, "pair", "r", "rho", keys, report, of_two)
                    : std::optional(formula::Formula{});
    return density && energy && pair;
  };
  if (!read()) return {};
  attributes = attributes_in(*density, *energy, *pair, settings);
  constexpr std::size_t most = 3;  // register_attribute_many_body()
  if (attributes.size() > most) {
    report("energy", fmt::format("has with density and pair {} names that are no parameters: {}; "
                                 "expected at most {} attributes of particles",
                                 attributes.size(), fmt::join(attributes, ", "), most));
    return {};
  }
  for (const std::string& name : attributes)
    of_two.insert(of_two.end(), {name + "_1", name + "_2"});
  if (!attributes.empty() && !read()) return {};
  formula::ManyBodyRequest request{"cut",
                                   settings["density"].get<std::string>(),
                                   settings["energy"].get<std::string>(),
                                   has_pair ? pair_key->get<std::string>() : "",
                                   *density,
                                   *energy,
                                   *pair,
                                   attributes};
  if (const auto end = settings.find("truncation"); end != settings.end() && end->is_string())
    request.truncation = end->get<std::string>();
  auto rest = std::make_shared<Json>(settings);
  for (const char* key : {"density", "energy", "pair"}) rest->erase(key);
  if (energy->parameters.empty() && rest->contains("types") && (*rest)["types"].empty())
    rest->erase("types");
  try {
    const std::string code = formula::many_body_source(request, "@");
    if (!generates_types()) return {};
    const std::string name = "many_body_formula " + text_hash(code);
    const auto plugin = compile_plugin(
        formula::many_body_source(request, name),
        fmt::format("the formulas {} and {}", request.density_text, request.energy_text));
    if (plugin) return GeneratedType{name, plugin->string(), rest};
    report("energy", "needs a compiler, and none was found (perrin help formula)");
  } catch (const UserError& e) {
    report("energy", e.what());
  }
  return {};
}

}  // namespace

void register_many_body_formula(Registry& registry) {
  registry.add<Force, ManyBodyFormula>(
      "many_body_formula", "many-body potential given by formulas of a density and its energy",
      [](const ManyBodyFormula&, Setup&) -> std::unique_ptr<Force> {
        throw BugError("a formula is made by the type that was generated for it");
      });
  registry.generate_with(generate_many_body);
}

}  // namespace perrin
