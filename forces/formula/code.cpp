#include "forces/formula/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "engine/base/error.h"

namespace perrin::formula {
namespace {

std::string literal(double value) {
  if (!std::isfinite(value))
    throw UserError("a number of the formula, or of its derivative, is beyond double precision");
  std::string text = fmt::format("{:.17g}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return value < 0 ? "(" + text + ")" : text;
}

constexpr const char* log2_e = "1.4426950408889634";

/// C++ of a call, with its arguments as C++ of the type `type`, where they are numbers.
std::string call_of_numbers(const std::string& f, const std::vector<std::string>& x,
                            const std::string& type) {
  const std::string zero = type + "(0)", one = type + "(1)";
  if (f == "abs") return fmt::format("std::abs({})", x[0]);
  if (f == "sign")
    return fmt::format("({0} > {1} ? {2} : {0} < {1} ? -{2} : {1})", x[0], zero, one);
  if (f == "step") return fmt::format("({} >= {} ? {} : {})", x[0], zero, one, zero);
  if (f == "less") return fmt::format("({} < {} ? {} : {})", x[0], x[1], one, zero);
  if (f == "min") return fmt::format("({0} < {1} ? {0} : {1})", x[0], x[1]);
  if (f == "max") return fmt::format("({0} < {1} ? {1} : {0})", x[0], x[1]);
  if (f == "if") return fmt::format("({} != {} ? {} : {})", x[0], zero, x[1], x[2]);
  if (f == "pow") return fmt::format("std::pow({}, {})", x[0], x[1]);
  if (f == "exp" && type == "T") return fmt::format("exp2_of(T({}) * {})", log2_e, x[0]);
  if (f == "log_slope")
    return fmt::format("({0} >= {1} ? {2} / {0} : {3}(NAN))", x[0], zero, one, type);
  return fmt::format("std::{}({})", f, x[0]);
}

/// The same of any arguments: where one that decides is not a number (NaN), the call is not. Of
/// comparisons, and of exp2_of(), that is no matter of course.
std::string call_code(const Atom& call, const std::vector<std::string>& x,
                      const std::string& type) {
  const std::string code = call_of_numbers(call.name, x, type);
  static const std::set<std::string> comparing{"sign", "step", "less", "min", "max", "if", "exp"};
  if (!comparing.contains(call.name)) return code;
  std::string numbers;
  for (std::size_t k = 0; k < (call.name == "if" ? 1 : x.size()); ++k)
    if (!is_number_everywhere(call.arguments[k]))
      numbers += fmt::format("{0}{1} == {1}", numbers.empty() ? "" : " && ", x[k]);
  return numbers.empty() ? code : fmt::format("({} ? {} : {}(NAN))", numbers, code, type);
}

std::string host_atom(const Atom& a) {
  if (a.kind == Atom::Kind::parameter) return "s.p_" + a.name;
  if (a.kind == Atom::Kind::sum) return "(" + host_code(a.arguments[0]) + ")";
  std::vector<std::string> arguments;
  for (const Expression& e : a.arguments) arguments.push_back("(" + host_code(e) + ")");
  return call_code(a, arguments, "double");
}

std::string host_term(const Term& term) {
  std::string code = literal(term.number);
  for (const Factor& f : term.factors)
    code += f.exponent == 1
                ? " * " + host_atom(*f.atom)
                : fmt::format(" * std::pow({}, {})", host_atom(*f.atom), literal(f.exponent));
  return code;
}

/// A power of r and another variable: what is subtracted from it loses no more digits when both are
/// multiplied by something first.
bool is_product(const Term& term) {
  const auto is_r = [](const Factor& f) {
    return f.atom->kind == Atom::Kind::variable && f.atom->name == "r";
  };
  const bool power = std::ranges::any_of(
      term.factors, [&](const Factor& f) { return is_r(f) && std::abs(f.exponent) >= 2; });
  return power && std::ranges::any_of(term.factors, [&](const Factor& f) {
           return !is_r(f) && has_variables(*f.atom);
         });
}

/// Terms of which none is a multiple of a sum of such products: numbers, parameters and powers of r
/// come together in each.
std::vector<Term> multiplied_out(const Expression& e) {
  const auto alone = [](Term term) {
    return std::make_shared<const Sum>(Sum{{std::move(term)}, ""});
  };
  std::vector<Term> terms;
  for (const Term& term : e->terms) {
    const auto sum = std::ranges::find_if(term.factors, [](const Factor& f) {
      return f.atom->kind == Atom::Kind::sum && f.exponent == 1 &&
             std::ranges::all_of(f.atom->arguments[0]->terms, is_product);
    });
    if (sum == term.factors.end()) {
      terms.push_back(term);
      continue;
    }
    Term rest = term;
    rest.factors.erase(rest.factors.begin() + (sum - term.factors.begin()));
    for (const Term& inner : sum->atom->arguments[0]->terms)
      terms.push_back(multiply(alone(rest), alone(inner))->terms.at(0));
  }
  return terms;
}

/// Divides b by a, where each factor of a is in b with a power at least as far from 0.
std::optional<std::vector<Factor>> divided(const std::vector<Factor>& b,
                                           const std::vector<Factor>& a) {
  std::vector<Factor> rest = b;
  for (const Factor& f : a) {
    const auto same = std::ranges::find_if(
        rest, [&](const Factor& other) { return other.atom->key == f.atom->key; });
    if (same == rest.end() || same->exponent * f.exponent < 0 ||
        std::abs(same->exponent) < std::abs(f.exponent))
      return std::nullopt;
    same->exponent -= f.exponent;
    if (same->exponent == 0) rest.erase(same);
  }
  return rest;
}

}  // namespace

std::string host_code(const Expression& e) {
  if (e->terms.empty()) return "0.0";
  std::string code;
  for (const Term& term : e->terms) code += (code.empty() ? "" : " + ") + host_term(term);
  return code;
}

std::string Code::statement(const std::string& expression) {
  const auto [it, inserted] = known_.try_emplace(expression, fmt::format("t{}", known_.size()));
  if (inserted) lines_.push_back(fmt::format("const T {} = {};", it->second, expression));
  return it->second;
}

std::string Code::coefficient(const std::string& host) {
  const auto it = std::ranges::find(coefficients_, host);
  const auto index = it - coefficients_.begin();
  if (it == coefficients_.end()) coefficients_.push_back(host);
  return fmt::format("T(c.k{})", first_coefficient_ + std::size_t(index));
}

std::string Code::power(const std::string& base, double n) {
  if (n == 1) return base;
  if (n == -1) return statement("T(1) / " + base);
  if (n == 0.5) return statement(fmt::format("std::sqrt({})", base));
  if (2 * n == std::floor(2 * n) && n != std::floor(n)) return power(power(base, 0.5), 2 * n);
  if (n != std::floor(n) || std::abs(n) > 64)
    return statement(fmt::format("std::pow({}, T({}))", base, literal(n)));
  if (n < 0) return power(power(base, -1), -n);
  const double half = std::floor(n / 2);
  const std::string root = power(base, half);
  const std::string square = half == 0 ? base : statement(fmt::format("{0} * {0}", root));
  return 2 * half == n ? square : statement(fmt::format("{} * {}", square, base));
}

void Code::take_root() {
  root_ = true;
  lines_.push_back("const auto distance = Distance<T>::from_square(r2);");
}

std::string Code::power_of_r(double n) {
  PERRIN_ASSERT(radial_);
  const bool even = std::fmod(n, 2) == 0;
  if (!even && 2 * n == std::floor(2 * n) && !root_) take_root();
  if (n == 1) return "distance.r";
  if (n == -1) return "distance.inverse";
  if (2 * n != std::floor(2 * n))
    return statement(fmt::format("exp2_of(T({}) * {})", literal(n / 2), statement("log2_of(r2)")));
  if (n != std::floor(n)) return power(power(power_of_r(n > 0 ? 1 : -1), 0.5), std::abs(2 * n));
  if (!even) {
    const std::string one = power_of_r(n > 0 ? 1 : -1);
    return statement(fmt::format("{} * {}", power_of_r(n > 0 ? n - 1 : n + 1), one));
  }
  if (n > 0) return power("r2", n / 2);
  const std::string inverse2 =
      root_ ? statement("distance.inverse * distance.inverse") : statement("reciprocal(r2)");
  return power(inverse2, -n / 2);
}

std::string Code::power_of_r(const Expression& exponent) {
  const std::string n = value(exponent);
  const std::string code = fmt::format("exp2_of(T(0.5) * {} * {})", n, statement("log2_of(r2)"));
  return statement(
      is_number_everywhere(exponent) ? code : fmt::format("({0} == {0} ? {1} : {0})", n, code));
}

/// By Horner's rule: r^a (A + r^b (B + …)), powers towards zero outside.
std::string Code::sum_of_powers(std::vector<Power> powers) {
  std::ranges::sort(powers, {}, [](const Power& p) { return std::abs(p.exponent); });
  std::string code;
  for (std::size_t k = powers.size(); k-- > 0;) {
    const double gap = powers[k].exponent - (k > 0 ? powers[k - 1].exponent : 0);
    code =
        code.empty() ? powers[k].factor : statement(fmt::format("{} + {}", powers[k].factor, code));
    if (gap == 0) continue;
    const std::string r = power_of_r(gap);
    code = code == "T(1.0)" ? r : statement(fmt::format("{} * {}", r, code));
  }
  return code;
}

std::string Code::atom(const Atom& a) {
  if (a.kind == Atom::Kind::variable) return a.name == "r" ? power_of_r(1) : variables_.at(a.name);
  if (a.kind == Atom::Kind::sum) return value(a.arguments[0]);
  PERRIN_ASSERT(a.kind == Atom::Kind::call);
  std::vector<std::string> arguments;
  // r is positive: its powers need no test of the sign, and vectorise.
  if (radial_ && a.name == "pow" && a.arguments[0]->key == variable("r")->key)
    return power_of_r(a.arguments[1]);
  for (const Expression& e : a.arguments) arguments.push_back(value(e));
  return statement(call_code(a, arguments, "T"));
}

std::string Code::factor(const Factor& f) { return power(atom(*f.atom), f.exponent); }

/// Horner's rule for what is not a power of r: a s^6 + b s^12 is (a + b s^6) s^6.
void Code::nest(std::vector<Group>& groups) {
  const std::vector<Group> whole = groups;
  for (std::size_t k = 0; k < groups.size(); ++k)
    for (std::size_t m = 0; m < groups.size(); ++m) {
      if (m == k || whole[m].factors.empty()) continue;
      const auto rest = divided(whole[k].factors, whole[m].factors);
      // The nearest of those that divide it: the one that most of them divide.
      if (rest &&
          (!groups[k].within || divided(whole[m].factors, whole[*groups[k].within].factors))) {
        groups[k].within = m;
        groups[k].factors = *rest;
      }
    }
}

std::string Code::sum_of_powers(const Group& group) {
  std::vector<Power> powers;
  for (const auto& [exponent, number] : group.numbers)
    if (group.host.count(exponent) == 0)
      powers.push_back({exponent, fmt::format("T({})", literal(number))});
  for (const auto& [exponent, products] : group.host) {
    std::string host;
    for (const std::string& product : products) host += (host.empty() ? "" : " + ") + product;
    if (const auto n = group.numbers.find(exponent); n != group.numbers.end())
      host += " + " + literal(n->second);
    powers.push_back({exponent, coefficient(host)});
  }
  // Powers of one sign make one chain; those of the other sign another.
  std::vector<Power> up, down;
  for (const Power& p : powers) (p.exponent > 0 ? up : down).push_back(p);
  std::string code;
  for (auto* side : {&down, &up}) {
    if (side->empty()) continue;
    const std::string part = sum_of_powers(*side);
    code = code.empty() ? part : statement(fmt::format("{} + {}", code, part));
  }
  return code;
}

std::string Code::value(const std::vector<Group>& groups, std::size_t k) {
  std::string code = sum_of_powers(groups[k]);
  for (std::size_t m = 0; m < groups.size(); ++m)
    if (groups[m].within == k) code = statement(fmt::format("{} + {}", code, value(groups, m)));
  for (const Factor& f : groups[k].factors) {
    const std::string value_of_factor = factor(f);
    code = code == "T(1.0)" ? value_of_factor
                            : statement(fmt::format("{} * {}", code, value_of_factor));
  }
  return code;
}

std::string Code::value(const Expression& e) {
  std::map<std::string, Group> by_key;
  for (const Term& term : multiplied_out(e)) {
    Term host{term.number, {}};
    std::vector<Factor> own;
    double of_r = 0;
    std::string key;
    for (const Factor& f : term.factors) {
      if (!has_variables(*f.atom)) {
        host.factors.push_back(f);
      } else if (f.atom->kind == Atom::Kind::variable && f.atom->name == "r") {
        of_r = f.exponent;
      } else {
        own.push_back(f);
        key += fmt::format("{}^{:a}*", f.atom->key, f.exponent);
      }
    }
    Group& group = by_key[key];
    group.factors = own;
    if (host.factors.empty())
      group.numbers[of_r] += host.number;
    else
      group.host[of_r].push_back(host_term(host));
  }
  std::vector<Group> groups;
  for (auto& [key, group] : by_key) groups.push_back(std::move(group));
  nest(groups);
  std::string total;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    if (groups[k].within) continue;
    const std::string code = value(groups, k);
    total = total.empty() ? code : statement(fmt::format("{} + {}", total, code));
  }
  return total.empty() ? "T(0)" : total;
}

std::string Code::statements() const {
  std::string text;
  for (const std::string& line : lines_) text += "    " + line + "\n";
  return text;
}

}  // namespace perrin::formula
