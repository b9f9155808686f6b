#include "forces/formula/source.h"

#include <fmt/format.h>

#include <tuple>

#include "engine/base/error.h"
#include "forces/formula/code.h"

namespace perrin::formula {
namespace {

/// `text` with every @KEY@ replaced.
std::string filled(std::string text, const std::map<std::string, std::string>& values) {
  for (const auto& [key, value] : values) {
    const std::string mark = "@" + key + "@";
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size())
      text.replace(at, mark.size(), value);
  }
  return text;
}

/// What differs between the types.
struct Kind {
  std::vector<std::string> variables;
  std::map<std::string, std::string> code;  // C++ of the variables
  bool radial;
  const char *headers, *evaluate, *registration;
};

/// A pair or a bond: -dE/dr / r and E.
constexpr const char* radial_body = R"(
  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, [[maybe_unused]] const Coefficients& c) {
@STATEMENTS@    return {@FORCE@, @ENERGY@};
  }
)";
/// dE/d(cos theta) = -dE/d(theta) / sin theta. The bound on the sine keeps 0/0 away where the angle
/// is 0 or pi and at rest.
constexpr const char* angle_body = R"(
  template <class T>
  PERRIN_HD static AngleSlope<T> evaluate(T cosine, T sine,
                                          [[maybe_unused]] const Coefficients& c) {
    const T theta = std::atan2(sine, cosine);
    const T bounded = sine > T(1e-6) ? sine : T(1e-6);
@STATEMENTS@    return {@FORCE@ / bounded, @ENERGY@};
  }
)";
/// dE/dphi and E.
constexpr const char* dihedral_body = R"(
  static constexpr Torsion kind = Torsion::dihedral;
  template <class T>
  PERRIN_HD static TorsionSlope<T> evaluate(T cosine, T sine,
                                            [[maybe_unused]] const Coefficients& c) {
    const T phi = std::atan2(sine, cosine);
@STATEMENTS@    return {-(@FORCE@), @ENERGY@};
  }
)";
constexpr const char* external_body = R"(
  template <class T>
  PERRIN_HD static FieldForce<T> evaluate(T x, T y, T z, [[maybe_unused]] const Coefficients& c) {
@STATEMENTS@    return {@FORCE@, @ENERGY@};
  }
)";

/// The same where the formula has the time in it: in double precision.
constexpr const char* timed_external_body = R"(
  template <class T>
  PERRIN_HD static FieldForce<T> evaluate([[maybe_unused]] T x, [[maybe_unused]] T y,
                                          [[maybe_unused]] T z, T t,
                                          [[maybe_unused]] const Coefficients& c) {
@STATEMENTS@    return {@FORCE@, @ENERGY@};
  }
)";

const std::map<std::string, Kind>& kinds() {
  static const std::map<std::string, Kind> all{
      {"pair_formula",
       {{"r"},
        {},
        true,
        "#include \"forces/pair_force.h\"\n",
        radial_body,
        "register_pair_potential<Formula, Truncations<@TRUNCATION@>>(registry)"}},
      {"bond_formula",
       {{"r"},
        {},
        true,
        "#include \"forces/bond_force.h\"\n#include \"forces/device_math.h\"\n",
        radial_body,
        "register_bond<Formula>(registry)"}},
      {"angle_formula",
       {{"theta"},
        {{"theta", "theta"}},
        false,
        "#include \"forces/angle_force.h\"\n",
        angle_body,
        "register_angle<Formula>(registry)"}},
      {"dihedral_formula",
       {{"phi"},
        {{"phi", "phi"}},
        false,
        "#include \"forces/dihedral_force.h\"\n",
        dihedral_body,
        "register_dihedral<Formula>(registry)"}},
      {"external_formula",
       {{"x", "y", "z", "t"},
        {{"x", "x"}, {"y", "y"}, {"z", "z"}, {"t", "t"}},
        false,
        "#include \"forces/field_force.h\"\n",
        external_body,
        "register_field<Formula>(registry)"}}};
  return all;
}

constexpr const char* frame = R"(// Made by Perrin from the formula
//   @FORMULA@
#include "engine/job/plugin_api.h"
@HEADERS@#include "forces/number_range.h"
#include "forces/powers.h"

namespace {

using namespace perrin;

struct Formula {
  struct Settings {
@SETTINGS@  };
  struct Coefficients {
@COEFFICIENTS@  };
  static constexpr const char* type = "@TYPE@";
  static constexpr const char* help = "a formula";

  static Coefficients coefficients([[maybe_unused]] const Settings& s) {
    return {@HOST@};
  }
@MIX@@EVALUATE@};

template <class D>
void describe([[maybe_unused]] D& d, [[maybe_unused]] Formula::Settings& s) {
@DESCRIBE@}

void register_components(Registry& registry) { @REGISTRATION@; }

}  // namespace

PERRIN_PLUGIN("@TYPE@", "1.0", register_components)
)";

std::string mix_code(const std::map<std::string, std::string>& rules) {
  if (rules.empty()) return "";
  std::string code =
      "  static Settings mix(const Settings& a, const Settings& b, Mixing) {\n"
      "    Settings s;\n";
  for (const auto& [name, rule] : rules)
    code += fmt::format(
        fmt::runtime(rule == "geometric" ? "    s.p_{0} = std::sqrt(a.p_{0} * b.p_{0});\n"
                                         : "    s.p_{0} = (a.p_{0} + b.p_{0}) / 2;\n"),
        name);
  return code + "    return s;\n  }\n";
}

}  // namespace

const std::vector<std::string>& variables_of(const std::string& type) {
  return kinds().at(type).variables;
}

std::string plugin_source(const Request& request, const Formula& formula, const std::string& name) {
  const Kind& kind = kinds().at(request.type);
  std::vector<Expression> forces;
  const bool timed = names(formula.value, Atom::Kind::variable).contains("t");
  for (const std::string& v : kind.variables) {
    if (v == "t") continue;
    const Expression minus = multiply(number(-1), derivative(formula.value, v));
    forces.push_back(kind.radial ? multiply(minus, power(variable("r"), number(-1))) : minus);
  }
  Code code(kind.code, kind.radial);
  const auto write = [&] {
    std::string force;
    for (const Expression& f : forces) force += (force.empty() ? "" : ", ") + code.value(f);
    return std::pair{force, code.value(formula.value)};
  };
  auto [force, energy] = write();
  if (code.takes_root()) {  // then the inverse square comes from the inverse
    code = Code(kind.code, kind.radial, true);
    std::tie(force, energy) = write();
  }
  std::map<std::string, std::string> values{
      {"FORMULA", request.energy},       {"HEADERS", kind.headers}, {"TYPE", name},
      {"STATEMENTS", code.statements()}, {"FORCE", force},          {"ENERGY", energy},
      {"MIX", mix_code(request.mixing)}};
  // It stands in a comment of one line: nothing in it may end that for any compiler.
  for (char& c : values["FORMULA"])
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f' || c == '\\' || c == '?') c = ' ';
  values["TRUNCATION"] = request.truncation == "force_shift" ? "ForceShift"
                         : request.truncation == "switch"    ? "Switched"
                                                             : "PlainCut";
  for (const char* key : {"SETTINGS", "DESCRIBE", "COEFFICIENTS", "HOST"}) values[key] = "";
  for (const std::string& p : formula.parameters) {
    values["SETTINGS"] += fmt::format("    double p_{} = 0;\n", p);
    values["DESCRIBE"] +=
        fmt::format("  d.required(\"{0}\", s.p_{0}, Any{{}}, \"of the formula\");\n", p);
  }
  const auto& coefficients = code.coefficients();
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    values["COEFFICIENTS"] += fmt::format("    {} k{};\n", timed ? "double" : "Real", k);
    values["HOST"] += k > 0 ? ",\n            " : "";
    values["HOST"] +=
        timed ? coefficients[k]
              : fmt::format("in_range({}, \"a coefficient of the formula\")", coefficients[k]);
  }
  values["EVALUATE"] = filled(timed ? timed_external_body : kind.evaluate, values);
  values["REGISTRATION"] = filled(kind.registration, values);
  return filled(frame, values);
}

}  // namespace perrin::formula
