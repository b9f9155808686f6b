#include "forces/formula/many_body_formula.h"

#include <fmt/format.h>

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
/// belongs to another formula; `reserved`: keys beside the parameters.
std::optional<formula::Formula> read_formula(const Json& settings, const char* key,
                                             const char* variable, const char* other,
                                             const std::vector<std::string>& reserved,
                                             const CatalogueRow::Report& report) {
  const auto text = settings.find(key);
  if (text == settings.end() || !text->is_string()) {
    report(key, text == settings.end()
                    ? fmt::format("is missing: a formula of {}, as text", variable)
                    : fmt::format("must be text, got {}", shown(*text)));
    return {};
  }
  try {
    auto formula = formula::parse(text->get<std::string>(), {variable});
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

std::optional<GeneratedType> generate_many_body(const Json& settings,
                                                const CatalogueRow::Report& report) {
  const std::vector<std::string> keys{"types", "cutoff"};
  const auto pair_key = settings.find("pair");
  const bool has_pair = pair_key != settings.end() && !pair_key->is_null();
  const auto density = read_formula(settings, "density", "r", "rho", keys, report);
  const auto energy = read_formula(settings, "energy", "rho", "r", {}, report);
  const auto pair = has_pair ? read_formula(settings, "pair", "r", "rho", keys, report)
                             : std::optional(formula::Formula{});
  if (!density || !energy || !pair) return {};
  formula::ManyBodyRequest request{"cut",
                                   settings["density"].get<std::string>(),
                                   settings["energy"].get<std::string>(),
                                   has_pair ? pair_key->get<std::string>() : "",
                                   *density,
                                   *energy,
                                   *pair};
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
