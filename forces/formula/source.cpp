#include "forces/formula/source.h"

#include <fmt/format.h>

#include <cctype>
#include <tuple>
#include <utility>

#include "engine/base/error.h"
#include "forces/formula/code.h"

namespace perrin::formula {
namespace {

/// What differs between the types.
struct Kind {
  std::vector<std::string> variables;
  std::map<std::string, std::string> code;  // C++ of the variables
  bool radial;                              // r is among the variables, and r2 its square
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
/// Of the distance and the directions of two axes (forces/anisotropic/interaction.h).
constexpr const char* anisotropic_body = R"(
  template <class T>
  PERRIN_HD static AxialEnergy<T> evaluate([[maybe_unused]] T r, [[maybe_unused]] T cos_1,
                                           [[maybe_unused]] T cos_2, [[maybe_unused]] T cos_12,
                                           [[maybe_unused]] const Coefficients& c) {
    [[maybe_unused]] const T r2 = r * r;
@STATEMENTS@    const T minus[4] = {@FORCE@};
    return {@ENERGY@, -minus[0], -minus[1], -minus[2], -minus[3]};
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

/// With attributes of both particles.
constexpr const char* attribute_pair_body = R"(
  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, [[maybe_unused]] const Coefficients& c,
                                         [[maybe_unused]] const Real4& a,
                                         [[maybe_unused]] const Real4& b) {
@STATEMENTS@    return {@FORCE@, @ENERGY@};
  }
  template <class T>  // of particles whose attributes are 0
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    return evaluate(r2, c, Real4{}, Real4{});
  }
@RANGE@)";
constexpr const char* range_body = R"(
  static constexpr const char* range_formula = "@RANGE_FORMULA@";
  static std::map<std::string, double> parameters([[maybe_unused]] const Settings& s) {
    return {@PARAMETERS@};
  }
  PERRIN_HD static Real range([[maybe_unused]] const Coefficients& c,
                              [[maybe_unused]] const Real4& a, [[maybe_unused]] const Real4& b) {
    using T = Real;
@RANGE_STATEMENTS@    return @RANGE_VALUE@;
  }
)";
/// Of three and of four particles.
constexpr const char* attribute_angle_body = R"(
  template <class T>
  PERRIN_HD static AngleSlope<T> evaluate(T cosine, T sine,
                                          [[maybe_unused]] const Coefficients& c,
                                          [[maybe_unused]] const Real4& w1,
                                          [[maybe_unused]] const Real4& w2,
                                          [[maybe_unused]] const Real4& w3) {
    const T theta = std::atan2(sine, cosine);
    const T bounded = sine > T(1e-6) ? sine : T(1e-6);
@STATEMENTS@    return {@FORCE@ / bounded, @ENERGY@};
  }
)";
constexpr const char* attribute_dihedral_body = R"(
  static constexpr Torsion kind = Torsion::dihedral;
  template <class T>
  PERRIN_HD static TorsionSlope<T> evaluate(T cosine, T sine,
                                            [[maybe_unused]] const Coefficients& c,
                                            [[maybe_unused]] const Real4& w1,
                                            [[maybe_unused]] const Real4& w2,
                                            [[maybe_unused]] const Real4& w3,
                                            [[maybe_unused]] const Real4& w4) {
    const T phi = std::atan2(sine, cosine);
@STATEMENTS@    return {-(@FORCE@), @ENERGY@};
  }
)";
constexpr const char* attribute_external_body = R"(
  static constexpr bool timed = @TIMED@;
  template <class T>
  PERRIN_HD static FieldForce<T> evaluate([[maybe_unused]] T x, [[maybe_unused]] T y,
                                          [[maybe_unused]] T z, [[maybe_unused]] T t,
                                          [[maybe_unused]] const Coefficients& c,
                                          [[maybe_unused]] const Real4& a) {
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
      {"anisotropic_formula",
       {{"r", "cos_1", "cos_2", "cos_12"},
        {{"cos_1", "cos_1"}, {"cos_2", "cos_2"}, {"cos_12", "cos_12"}},
        true,
        "#include \"forces/anisotropic/anisotropic_force.h\"\n",
        anisotropic_body,
        "register_axial_potential<Formula>(registry)"}},
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

/// Kinds whose formulas have attributes in them.
const std::map<std::string, Kind>& kinds_with_attributes() {
  static const std::map<std::string, Kind> all{
      {"pair_formula",
       {{"r"},
        {},
        true,
        "#include \"forces/attribute_pair_force.h\"\n",
        attribute_pair_body,
        "register_attribute_pair_potential<Formula, Truncations<@TRUNCATION@>>(registry)"}},
      {"bond_formula",
       {{"r"},
        {},
        true,
        "#include \"forces/bond_force.h\"\n#include \"forces/device_math.h\"\n",
        attribute_pair_body,
        "register_bond<Formula>(registry)"}},
      {"angle_formula",
       {{"theta"},
        {{"theta", "theta"}},
        false,
        "#include \"forces/angle_force.h\"\n",
        attribute_angle_body,
        "register_angle<Formula>(registry)"}},
      {"dihedral_formula",
       {{"phi"},
        {{"phi", "phi"}},
        false,
        "#include \"forces/dihedral_force.h\"\n",
        attribute_dihedral_body,
        "register_dihedral<Formula>(registry)"}},
      {"external_formula",
       {{"x", "y", "z", "t"},
        {{"x", "x"}, {"y", "y"}, {"z", "z"}, {"t", "t"}},
        false,
        "#include \"forces/attribute_field_force.h\"\n",
        attribute_external_body,
        "register_attribute_field<Formula>(registry)"}}};
  return all;
}

/// The kind of a request, with the C++ of its attributes.
Kind kind_of(const Request& request) {
  if (request.attributes.empty()) return kinds().at(request.type);
  Kind kind = kinds_with_attributes().at(request.type);
  for (std::size_t k = 0; k < request.attributes.size(); ++k) {
    const std::string component(1, "xyzw"[k]), &name = request.attributes[k];
    const int members = members_of(request.type);
    if (members == 1) kind.code[name] = fmt::format("T(a.{})", component);
    for (int m = 1; members > 1 && m <= members; ++m)
      kind.code[fmt::format("{}_{}", name, m)] = fmt::format(
          "T({}.{})", kind.radial ? std::string(1, "ab"[m - 1]) : fmt::format("w{}", m), component);
  }
  return kind;
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
@ATTRIBUTES@
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

std::string filled(std::string text, const std::map<std::string, std::string>& values) {
  for (const auto& [key, value] : values) {
    const std::string mark = "@" + key + "@";
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size())
      text.replace(at, mark.size(), value);
  }
  return text;
}

std::string in_one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f' || c == '\\' || c == '?') c = ' ';
  return text;
}

std::string attribute_list(const std::vector<std::string>& attributes) {
  std::string names;
  for (const std::string& a : attributes)
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", a);
  return fmt::format("  static constexpr std::array<const char*, {}> attributes{{{}}};\n",
                     attributes.size(), names);
}

const char* mode_of(const std::string& truncation) {
  return truncation == "force_shift" ? "ForceShift"
         : truncation == "switch"    ? "Switched"
                                     : "PlainCut";
}

const std::vector<std::string>& variables_of(const std::string& type) {
  return kinds().at(type).variables;
}

int members_of(const std::string& type) {
  return type == "external_formula"   ? 1
         : type == "angle_formula"    ? 3
         : type == "dihedral_formula" ? 4
                                      : 2;
}

int particle_of(const std::string& name) {
  const std::size_t n = name.size();
  return n > 2 && name[n - 2] == '_' && name[n - 1] >= '1' && name[n - 1] <= '4' ? name[n - 1] - '0'
                                                                                 : 0;
}

std::vector<std::string> variables_of(const Request& request) {
  std::vector<std::string> all = variables_of(request.type);
  for (const std::string& name : request.attributes)
    if (const int members = members_of(request.type); members == 1)
      all.push_back(name);
    else
      for (int m = 1; m <= members; ++m) all.push_back(fmt::format("{}_{}", name, m));
  return all;
}

std::string plugin_source(const Request& request, const Formula& formula, const std::string& name) {
  const Kind kind = kind_of(request);
  std::vector<Expression> forces;
  const bool over_r = kind.radial && kind.variables.size() == 1;  // a force along the distance
  const bool timed = names(formula.value, Atom::Kind::variable).contains("t");
  for (const std::string& v : kind.variables) {
    if (v == "t") continue;
    const Expression minus = multiply(number(-1), derivative(formula.value, v));
    forces.push_back(over_r ? multiply(minus, power(variable("r"), number(-1))) : minus);
  }
  // What is subtracted for each pair takes a root already; its inverse gives the inverse square.
  const bool root = !request.attributes.empty() && request.type == "pair_formula" &&
                    (request.truncation == "force_shift" || request.truncation == "switch");
  Code code(kind.code, kind.radial, root);
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
  std::map<std::string, std::string> values{{"FORMULA", in_one_line(request.energy)},
                                            {"HEADERS", kind.headers},
                                            {"TYPE", name},
                                            {"STATEMENTS", code.statements()},
                                            {"FORCE", force},
                                            {"ENERGY", energy},
                                            {"MIX", mix_code(request.mixing)},
                                            {"ATTRIBUTES", ""},
                                            {"TIMED", timed ? "true" : "false"}};
  if (!request.attributes.empty()) values["ATTRIBUTES"] = attribute_list(request.attributes);
  values["TRUNCATION"] = mode_of(request.truncation);
  for (const char* key : {"SETTINGS", "DESCRIBE", "COEFFICIENTS", "HOST"}) values[key] = "";
  for (const std::string& p : formula.parameters) {
    values["SETTINGS"] += fmt::format("    double p_{} = 0;\n", p);
    values["DESCRIBE"] +=
        fmt::format("  d.required(\"{0}\", s.p_{0}, Any{{}}, \"of the formula\");\n", p);
  }
  std::vector<std::string> coefficients = code.coefficients();
  values["RANGE"] = "";
  if (!request.range.empty()) {
    Code range(kind.code, false);
    range.begin_coefficients_at(coefficients.size());
    const auto formula_of_range = parse(request.range, variables_of(request));
    values["RANGE_VALUE"] = range.value(formula_of_range.value);
    values["RANGE_STATEMENTS"] = range.statements();
    values["RANGE_FORMULA"] = request.range;
    for (char& c : values["RANGE_FORMULA"])
      if (std::isspace(static_cast<unsigned char>(c))) c = ' ';
    values["PARAMETERS"] = "";
    for (const std::string& p : formula_of_range.parameters)
      values["PARAMETERS"] +=
          fmt::format("{}{{\"{}\", s.p_{}}}", values["PARAMETERS"].empty() ? "" : ", ", p, p);
    coefficients.insert(coefficients.end(), range.coefficients().begin(),
                        range.coefficients().end());
    values["RANGE"] = filled(range_body, values);
  }
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    values["COEFFICIENTS"] += fmt::format("    {} k{};\n", timed ? "double" : "Real", k);
    values["HOST"] += k > 0 ? ",\n            " : "";
    values["HOST"] +=
        timed ? coefficients[k]
              : fmt::format("in_range({}, \"a coefficient of the formula\")", coefficients[k]);
  }
  const bool plain = request.attributes.empty();
  values["EVALUATE"] = filled(timed && plain ? timed_external_body : kind.evaluate, values);
  values["REGISTRATION"] = filled(kind.registration, values);
  return filled(frame, values);
}

}  // namespace perrin::formula
