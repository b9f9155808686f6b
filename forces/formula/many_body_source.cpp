#include "forces/formula/many_body_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "forces/formula/code.h"
#include "forces/formula/source.h"

namespace perrin::formula {
namespace {

constexpr const char* many_body_frame = R"(// Made by Perrin from the formulas
//   density: @DENSITY@
//   energy: @ENERGY@
//   pair: @PAIR@
#include "engine/job/plugin_api.h"
#include "forces/@HEADER@.h"
#include "forces/number_range.h"
#include "forces/powers.h"

namespace {

using namespace perrin;

struct Formula {
  struct Settings {
@SETTINGS@  };
  struct TypeSettings {
@TYPE_SETTINGS@  };
  struct Coefficients {
@COEFFICIENTS@  };
  struct TypeCoefficients {
@TYPE_COEFFICIENTS@  };
  static constexpr const char* type = "@TYPE@";
  static constexpr const char* help = "formulas";
@ATTRIBUTES@
  static Coefficients coefficients([[maybe_unused]] const Settings& s) {
    return {@HOST@};
  }
  static TypeCoefficients type_coefficients([[maybe_unused]] const TypeSettings& s) {
    return {@TYPE_HOST@};
  }
@FUNCTIONS@};

template <class D>
void describe([[maybe_unused]] D& d, [[maybe_unused]] Formula::Settings& s) {
@DESCRIBE@}

template <class D>
void describe([[maybe_unused]] D& d, [[maybe_unused]] Formula::TypeSettings& s) {
@DESCRIBE_TYPE@}

void register_components(Registry& registry) {
  @REGISTRATION@(registry);
}

}  // namespace

PERRIN_PLUGIN("@TYPE@", "1.0", register_components)
)";

constexpr const char* function_of_r = R"(
  template <class T>
  PERRIN_HD static PairForce<T> @NAME@(T r2, [[maybe_unused]] const Coefficients& all@WORDS@) {
@OWN@@STATEMENTS@    return {@SLOPE@, @VALUE@};
  }
)";
constexpr const char* function_of_density = R"(
  template <class T>
  PERRIN_HD static Embedding<T> embedding([[maybe_unused]] T rho,
                                          [[maybe_unused]] const TypeCoefficients& c@WORD@) {
@STATEMENTS@    return {@SLOPE@, @VALUE@};
  }
)";

/// A function and what it is made from.
struct Function {
  std::string text;
  std::vector<std::string> coefficients;  // C++ in double
};

/// As text of an argument.
std::string word(const char* name) {
  return fmt::format(", [[maybe_unused]] const Real4& {}", name);
}

/// -f'/r and f; `attributes`: NAME_1 and NAME_2 are in it.
Function of_r(const std::string& name, const Formula& formula,
              const std::vector<std::string>& attributes) {
  std::map<std::string, std::string> names;
  for (std::size_t k = 0; k < attributes.size(); ++k) {
    names[attributes[k] + "_1"] = fmt::format("T(a.{})", "xyz"[k]);
    names[attributes[k] + "_2"] = fmt::format("T(b.{})", "xyz"[k]);
  }
  const Expression slope = multiply(multiply(number(-1), derivative(formula.value, "r")),
                                    power(variable("r"), number(-1)));
  Code code(names, true);
  std::string of_slope = code.value(slope), of_value = code.value(formula.value);
  if (code.takes_root()) {  // then the inverse square comes from the inverse
    code = Code(names, true, true);
    of_slope = code.value(slope), of_value = code.value(formula.value);
  }
  const std::string own = code.coefficients().empty()
                              ? std::string()
                              : fmt::format("    const auto& c = all.of_{};\n", name);
  return {filled(function_of_r, {{"WORDS", attributes.empty() ? "" : word("a") + word("b")},
                                 {"NAME", name},
                                 {"OWN", own},
                                 {"STATEMENTS", code.statements()},
                                 {"SLOPE", of_slope},
                                 {"VALUE", of_value}}),
          code.coefficients()};
}

/// F' and F.
Function of_density(const Formula& formula, const std::vector<std::string>& attributes) {
  std::map<std::string, std::string> names{{"rho", "rho"}};
  for (std::size_t k = 0; k < attributes.size(); ++k)
    names[attributes[k]] = fmt::format("T(a.{})", "xyz"[k]);
  Code code(names, false);
  const std::string slope = code.value(derivative(formula.value, "rho"));
  const std::string value = code.value(formula.value);
  return {filled(function_of_density, {{"WORD", attributes.empty() ? "" : word("a")},
                                       {"STATEMENTS", code.statements()},
                                       {"SLOPE", slope},
                                       {"VALUE", value}}),
          code.coefficients()};
}

std::string members(std::size_t count, const char* indent) {
  std::string code;
  for (std::size_t k = 0; k < count; ++k) code += fmt::format("{}Real k{};\n", indent, k);
  return code;
}

std::string values_of(const std::vector<std::string>& coefficients) {
  std::string code;
  for (const std::string& c : coefficients)
    code += fmt::format("{}in_range({}, \"a coefficient of the formula\")",
                        code.empty() ? "" : ",\n            ", c);
  return code;
}

void add_parameters(const std::vector<std::string>& names, std::string& settings,
                    std::string& describe) {
  for (const std::string& p : names) {
    settings += fmt::format("    double p_{} = 0;\n", p);
    describe += fmt::format("  d.required(\"{0}\", s.p_{0}, Any{{}}, \"of the formula\");\n", p);
  }
}

}  // namespace

std::string many_body_source(const ManyBodyRequest& request, const std::string& name) {
  const bool plain = request.attributes.empty();
  std::map<std::string, std::string> values{
      {"TYPE", name},
      {"DENSITY", in_one_line(request.density_text)},
      {"ENERGY", in_one_line(request.energy_text)},
      {"PAIR", request.pair_text.empty() ? "none" : in_one_line(request.pair_text)},
      {"HEADER", plain ? "many_body_force" : "attribute_many_body"},
      {"ATTRIBUTES", plain ? "" : attribute_list(request.attributes)},
      {"REGISTRATION",
       fmt::format(fmt::runtime(plain ? "register_many_body_potential<Formula, Truncations<{}>>"
                                      : "register_attribute_many_body<Formula, Truncations<{}>>"),
                   mode_of(request.truncation))}};
  for (const char* key : {"SETTINGS", "TYPE_SETTINGS", "COEFFICIENTS", "HOST", "DESCRIBE",
                          "DESCRIBE_TYPE", "FUNCTIONS"})
    values[key] = "";
  std::vector<std::string> parameters = request.density.parameters;
  std::vector<std::pair<std::string, Function>> functions{
      {"density", of_r("density", request.density, request.attributes)}};
  if (!request.pair_text.empty()) {
    functions.emplace_back("pair", of_r("pair", request.pair, request.attributes));
    for (const std::string& p : request.pair.parameters)
      if (std::ranges::count(parameters, p) == 0) parameters.push_back(p);
  }
  add_parameters(parameters, values["SETTINGS"], values["DESCRIBE"]);
  add_parameters(request.energy.parameters, values["TYPE_SETTINGS"], values["DESCRIBE_TYPE"]);
  for (const auto& [of, function] : functions) {
    values["FUNCTIONS"] += function.text;
    if (function.coefficients.empty()) continue;
    values["COEFFICIENTS"] += fmt::format("    struct {{\n{}    }} of_{};\n",
                                          members(function.coefficients.size(), "      "), of);
    values["HOST"] += fmt::format("{}{{{}}}", values["HOST"].empty() ? "" : ",\n            ",
                                  values_of(function.coefficients));
  }
  if (values["COEFFICIENTS"].empty()) {  // an empty struct is not made of numbers
    values["COEFFICIENTS"] = "    Real none;\n";
    values["HOST"] = "0";
  }
  const Function embedding = of_density(request.energy, request.attributes);
  values["FUNCTIONS"] += embedding.text;
  values["TYPE_COEFFICIENTS"] = members(embedding.coefficients.size(), "    ");
  values["TYPE_HOST"] = values_of(embedding.coefficients);
  return filled(many_body_frame, values);
}

}  // namespace perrin::formula
