#include "engine/formula/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/error.h"

namespace perrin::formula {
namespace {

/// Keys grow with the formula: what is longer than this would take long to compile as well.
constexpr std::size_t longest_key = 200000;

const std::map<std::string, int>& functions() {
  static const std::map<std::string, int> all{
      {"sqrt", 1}, {"exp", 1},  {"log", 1},  {"sin", 1},  {"cos", 1},      {"tan", 1},
      {"asin", 1}, {"acos", 1}, {"atan", 1}, {"sinh", 1}, {"cosh", 1},     {"tanh", 1},
      {"erf", 1},  {"erfc", 1}, {"abs", 1},  {"sign", 1}, {"step", 1},     {"min", 2},
      {"max", 2},  {"pow", 2},  {"less", 2}, {"if", 3},   {"log_slope", 1}};
  return all;
}

std::string key_of(const Term& term) {
  std::string key;
  for (const Factor& f : term.factors) key += fmt::format("{}^{:a}*", f.atom->key, f.exponent);
  return key;
}

Expression make(std::vector<Term> terms) {
  std::map<std::string, Term> sorted;
  for (Term& term : terms) {
    const auto [it, inserted] = sorted.try_emplace(key_of(term), term);
    if (!inserted) it->second.number += term.number;
  }
  auto sum = std::make_shared<Sum>();
  for (auto& [key, term] : sorted) {
    if (term.number == 0) continue;
    // A number alone is looked at by who has made it.
    if (!std::isfinite(term.number) && (sorted.size() > 1 || !term.factors.empty()))
      throw UserError(
          "numbers of the formula, or of its derivative, multiply or add up to one that is beyond "
          "double precision (1.8e308): choose other units");
    sum->key += fmt::format("{:a}*{}+", term.number, key);
    sum->terms.push_back(std::move(term));
  }
  if (sum->key.size() > longest_key)
    throw UserError(
        "the formula, or its derivative, has too many terms when it is multiplied out; use a "
        "table, or move parts out of powers and products");
  return sum;
}

Expression of_atom(Atom atom, double exponent = 1) {
  atom.key = fmt::format("{}{}(", int(atom.kind), atom.name);
  for (const Expression& e : atom.arguments) atom.key += e->key + ",";
  atom.key += ")";
  return make({{1, {{std::make_shared<const Atom>(std::move(atom)), exponent}}}});
}

Expression as_atom(const Expression& sum, double exponent = 1) {
  return of_atom({Atom::Kind::sum, "", {sum}, ""}, exponent);
}

bool is_call(const Atom& atom, const char* function) {
  return atom.kind == Atom::Kind::call && atom.name == function;
}

bool is_r(const Atom& atom) { return atom.kind == Atom::Kind::variable && atom.name == "r"; }

bool is_integer(double x) { return x == std::floor(x) && std::abs(x) < 1e6; }

bool is_one(const Expression& e) {
  return e->terms.size() == 1 && e->terms[0].factors.empty() && e->terms[0].number == 1;
}

/// One factor and no number before it.
bool is_factor(const Sum& sum) {
  return sum.terms.size() == 1 && sum.terms[0].factors.size() == 1 && sum.terms[0].number == 1;
}

/// Nowhere negative, be it a number everywhere or not.
bool is_never_negative(const Atom& atom) {
  if (is_r(atom)) return true;
  if (atom.kind == Atom::Kind::call) {
    static const std::set<std::string> not_negative{"exp",  "erfc", "abs", "cosh",
                                                    "step", "less", "acos"};
    return not_negative.contains(atom.name);
  }
  if (atom.kind != Atom::Kind::sum) return false;
  return std::ranges::all_of(atom.arguments[0]->terms, [](const Term& term) {
    return term.number > 0 && std::ranges::all_of(term.factors, [](const Factor& f) {
             return !is_integer(f.exponent) || std::fmod(f.exponent, 2) == 0 ||
                    is_never_negative(*f.atom);
           });
  });
}

/// What stays of sqrt(x) where its square has become x: if(step(x), 1, sqrt(x)), the number 1 where
/// x is not negative, and no number elsewhere.
Factor has_root(const Factor& f) {
  const Expression x = make({{1, {{f.atom, 1}}}}), root = make({{1, {{f.atom, 0.5}}}});
  const Expression chosen = of_atom({Atom::Kind::call, "step", {x}, ""});
  return of_atom({Atom::Kind::call, "if", {chosen, make({{1, {}}}), root}, ""})
      ->terms[0]
      .factors[0];
}

/// Of has_root(): any power of it is what it is, and its derivative is 0.
bool is_has_root(const Atom& atom) {
  if (!is_call(atom, "if") || !is_one(atom.arguments[1])) return false;
  const Sum &chosen = *atom.arguments[0], &root = *atom.arguments[2];
  return is_factor(root) && root.terms[0].factors[0].exponent == 0.5 && is_factor(chosen) &&
         is_call(*chosen.terms[0].factors[0].atom, "step") &&
         has_root(root.terms[0].factors[0]).atom->key == atom.key;
}

/// Takes to the power p, or multiplies by a factor of the same atom: a root that comes to a whole
/// power goes on to ask for a number that has one.
class Factors {
 public:
  void add(const Factor& f) {
    const auto [it, inserted] = factors_.try_emplace(f.atom->key, f);
    if (inserted || is_has_root(*f.atom)) return;
    const bool root = !is_integer(it->second.exponent) || !is_integer(f.exponent);
    it->second.exponent += f.exponent;
    if (root) check(it->second);
  }
  void add(Factor f, double power) {
    if (is_has_root(*f.atom)) return add(f);  // 1 to any power
    const bool root = !is_integer(f.exponent);
    f.exponent *= power;
    add(f);
    if (root) check(f);
  }
  /// In the order of their keys, without those of the exponent 0.
  std::vector<Factor> list() const {
    std::vector<Factor> all;
    for (const auto& [key, f] : factors_)
      if (f.exponent != 0) all.push_back(f);
    return all;
  }

 private:
  void check(const Factor& f) {
    if (is_integer(f.exponent) && !is_never_negative(*f.atom)) add(has_root(f));
  }

  std::map<std::string, Factor> factors_;
};

Term multiplied(const Term& a, const Term& b) {
  Factors factors;
  for (const Term* term : {&a, &b})
    for (const Factor& f : term->factors) factors.add(f);
  return {a.number * b.number, factors.list()};
}

bool has_factor(const Term& term, const Atom& atom) {
  return std::ranges::any_of(term.factors,
                             [&](const Factor& f) { return f.atom->key == atom.key; });
}

/// Powers of variables and parameters alone.
bool is_plain(const Term& term) {
  return std::ranges::all_of(term.factors, [](const Factor& f) {
    return f.atom->kind == Atom::Kind::variable || f.atom->kind == Atom::Kind::parameter;
  });
}

bool is_number(const Expression& e) {
  return e->terms.empty() || (e->terms.size() == 1 && e->terms[0].factors.empty());
}
double value_of(const Expression& e) { return e->terms.empty() ? 0 : e->terms[0].number; }

/// A product of positive numbers, as long as its parameters are; where they are not, its logarithm
/// is a number nowhere.
bool is_positive(const Expression& e) {
  return e->terms.size() == 1 && e->terms[0].number > 0 &&
         std::ranges::all_of(e->terms[0].factors, [](const Factor& f) {
           return is_r(*f.atom) || f.atom->kind == Atom::Kind::parameter ||
                  (f.atom->kind == Atom::Kind::call && f.atom->name == "exp");
         });
}

/// The power of r in all terms of a sum, as far as they have one in common; 0: none.
double common_power_of_r(const Sum& sum) {
  double common = 0;
  for (const Term& term : sum.terms) {
    const auto r =
        std::ranges::find_if(term.factors, [](const Factor& f) { return is_r(*f.atom); });
    if (r == term.factors.end() || common * r->exponent < 0) return 0;
    if (common == 0 || std::abs(r->exponent) < std::abs(common)) common = r->exponent;
  }
  return common;
}

Expression power(const Expression& base, double p) {
  if (p == 1) return base;
  if (p == 0) return number(1);
  if (base->terms.empty()) {
    if (p < 0) throw UserError("division by zero");
    return base;
  }
  if (base->terms.size() > 1) {
    // r is positive: (a r^k + b r^k)^p = (a + b)^p r^(k p), and of an even power there is no root.
    const double k = common_power_of_r(*base);
    if (k == 0) return as_atom(base, p);
    const Expression r = variable("r");
    return multiply(as_atom(multiply(base, power(r, -k)), p), power(r, k * p));
  }
  const Term& term = base->terms[0];
  if (is_integer(p)) {
    Factors factors;
    for (const Factor& f : term.factors) factors.add(f, p);
    return make({{std::pow(term.number, p), factors.list()}});
  }
  // Of a product only positive factors have a root of their own.
  if (term.number > 0 && term.factors.size() == 1 &&
      (is_r(*term.factors[0].atom) || term.factors[0].exponent == 1)) {
    Term result{std::pow(term.number, p), term.factors};
    result.factors[0].exponent *= p;
    return make({result});
  }
  Term positive{1, {}}, rest{term.number, {}};
  for (const Factor& f : term.factors) (is_r(*f.atom) ? positive : rest).factors.push_back(f);
  for (Factor& f : positive.factors) f.exponent *= p;
  if (rest.factors.empty() && rest.number > 0) {
    positive.number = std::pow(rest.number, p);
    return make({positive});
  }
  return multiply(make({positive}), as_atom(make({rest}), p));
}

}  // namespace

int arity(const std::string& function) {
  const auto it = functions().find(function);
  return it == functions().end() ? 0 : it->second;
}

std::vector<std::string> function_names() {
  std::vector<std::string> list;
  for (const auto& [name, count] : functions()) list.push_back(name);
  return list;
}

Expression number(double value) { return make({{value, {}}}); }
Expression variable(const std::string& name) {
  return of_atom({Atom::Kind::variable, name, {}, ""});
}
Expression parameter(const std::string& name) {
  return of_atom({Atom::Kind::parameter, name, {}, ""});
}

Expression add(const Expression& a, const Expression& b) {
  std::vector<Term> terms = a->terms;
  terms.insert(terms.end(), b->terms.begin(), b->terms.end());
  return make(std::move(terms));
}

Expression multiply(const Expression& a, const Expression& b) {
  if (a->terms.empty() || b->terms.empty()) return number(0);
  const bool one_a = a->terms.size() == 1, one_b = b->terms.size() == 1;
  if (one_a && one_b) return make({multiplied(a->terms[0], b->terms[0])});
  if (!one_a && !one_b) return multiply(as_atom(a), as_atom(b));
  const Term& term = one_a ? a->terms[0] : b->terms[0];
  const Expression& sum = one_a ? b : a;
  // Where each term has all of the factors already, powers are added and nothing is multiplied.
  const bool has_all = std::ranges::all_of(sum->terms, [&](const Term& t) {
    return std::ranges::all_of(term.factors,
                               [&](const Factor& f) { return has_factor(t, *f.atom); });
  });
  if (!has_all && !(is_plain(term) && std::ranges::all_of(sum->terms, is_plain)))
    return multiply(make({term}), as_atom(sum));
  std::vector<Term> terms;
  for (const Term& t : sum->terms) terms.push_back(multiplied(term, t));
  return make(std::move(terms));
}

Expression power(const Expression& base, const Expression& exponent) {
  if (is_number(exponent)) return power(base, value_of(exponent));
  if (base->terms.size() != 1) return call("pow", {base, exponent});
  // r is positive: (a r^k)^n = a^n r^(k n).
  Term rest{base->terms[0].number, {}};
  Expression of_r = number(1);
  for (const Factor& f : base->terms[0].factors) {
    if (is_r(*f.atom))
      of_r = call("pow", {variable("r"), multiply(number(f.exponent), exponent)});
    else
      rest.factors.push_back(f);
  }
  if (rest.number == 1 && rest.factors.empty()) return of_r;
  return multiply(call("pow", {make({rest}), exponent}), of_r);
}

Expression call(const std::string& function, const std::vector<Expression>& arguments) {
  PERRIN_ASSERT(arity(function) == int(arguments.size()));
  if (function == "sqrt") return power(arguments[0], 0.5);
  if (function == "pow" && is_number(arguments[1]))
    return power(arguments[0], value_of(arguments[1]));
  if (std::ranges::all_of(arguments, is_number)) {
    std::vector<double> values;
    for (const Expression& e : arguments) values.push_back(value_of(e));
    return number(evaluate(function, values));
  }
  return of_atom({Atom::Kind::call, function, arguments, ""});
}

namespace {

/// Of a call of a function of one argument, by that argument.
Expression slope(const std::string& f, const Expression& x) {
  const Expression one = number(1), minus = number(-1);
  const auto self = [&](const char* name) { return call(name, {x}); };
  const Expression x2 = power(x, 2);
  if (f == "exp") return self("exp");
  if (f == "log") return is_positive(x) ? power(x, -1) : self("log_slope");
  if (f == "log_slope") return multiply(minus, power(self("log_slope"), 2));
  if (f == "sin") return self("cos");
  if (f == "cos") return multiply(minus, self("sin"));
  if (f == "tan") return power(self("cos"), -2);
  if (f == "asin") return power(add(one, multiply(minus, x2)), -0.5);
  if (f == "acos") return multiply(minus, power(add(one, multiply(minus, x2)), -0.5));
  if (f == "atan") return power(add(one, x2), -1);
  if (f == "sinh") return self("cosh");
  if (f == "cosh") return self("sinh");
  if (f == "tanh") return add(one, multiply(minus, power(self("tanh"), 2)));
  const Expression gauss =
      multiply(number(2 / std::sqrt(std::numbers::pi)), call("exp", {multiply(minus, x2)}));
  if (f == "erf") return gauss;
  if (f == "erfc") return multiply(minus, gauss);
  if (f == "abs") return self("sign");
  return number(0);  // sign, step
}

Expression derivative(const Atom& atom, const std::string& by) {
  if (atom.kind == Atom::Kind::variable) return number(atom.name == by ? 1 : 0);
  if (atom.kind == Atom::Kind::parameter) return number(0);
  if (atom.kind == Atom::Kind::sum) return derivative(atom.arguments[0], by);
  const auto& x = atom.arguments;
  const auto d = [&](std::size_t k) { return derivative(x[k], by); };
  if (atom.name == "less") return number(0);
  if (is_has_root(atom)) return number(0);
  if (atom.name == "if") return call("if", {x[0], d(1), d(2)});
  if (atom.name == "min") return call("if", {call("less", {x[0], x[1]}), d(0), d(1)});
  if (atom.name == "max") return call("if", {call("less", {x[0], x[1]}), d(1), d(0)});
  if (atom.name == "pow") {
    // By the power itself where its base cannot be 0.
    const Expression lower = x[0]->key == variable("r")->key
                                 ? multiply(call("pow", x), power(x[0], -1))
                                 : call("pow", {x[0], add(x[1], number(-1))});
    return add(multiply(multiply(x[1], lower), d(0)),
               multiply(call("pow", x), multiply(call("log", {x[0]}), d(1))));
  }
  const Expression inner = d(0);
  return inner->terms.empty() ? inner : multiply(slope(atom.name, x[0]), inner);
}

void collect(const Expression& e, Atom::Kind kind, std::set<std::string>& found) {
  for (const Term& term : e->terms)
    for (const Factor& f : term.factors) {
      if (f.atom->kind == kind) found.insert(f.atom->name);
      for (const Expression& a : f.atom->arguments) collect(a, kind, found);
    }
}

}  // namespace

Expression derivative(const Expression& e, const std::string& by) {
  Expression total = number(0);
  for (const Term& term : e->terms)
    for (std::size_t k = 0; k < term.factors.size(); ++k) {
      const Factor& f = term.factors[k];
      const Expression inner = derivative(*f.atom, by);
      if (inner->terms.empty()) continue;
      Term rest{term.number * f.exponent, term.factors};
      rest.factors[k].exponent -= 1;
      if (rest.factors[k].exponent == 0) rest.factors.erase(rest.factors.begin() + long(k));
      total = add(total, multiply(make({rest}), inner));
    }
  return total;
}

std::set<std::string> names(const Expression& e, Atom::Kind kind) {
  std::set<std::string> found;
  collect(e, kind, found);
  return found;
}

namespace {

bool is_number_everywhere(const Factor& f) {
  const Atom& atom = *f.atom;
  if (is_r(atom) || atom.kind == Atom::Kind::parameter) return true;
  static const std::set<std::string> of_all_numbers{"exp",  "sin", "cos",  "atan", "sinh", "cosh",
                                                    "tanh", "erf", "erfc", "abs",  "sign", "step",
                                                    "min",  "max", "less", "if"};
  if (atom.kind == Atom::Kind::call && !of_all_numbers.contains(atom.name)) return false;
  return f.exponent > 0 && is_integer(f.exponent) &&
         std::ranges::all_of(atom.arguments,
                             [](const Expression& e) { return is_number_everywhere(e); });
}

}  // namespace

bool is_number_everywhere(const Expression& e) {
  return std::ranges::all_of(e->terms, [](const Term& term) {
    return std::ranges::all_of(term.factors,
                               [](const Factor& f) { return is_number_everywhere(f); });
  });
}

bool has_variables(const Expression& e) { return !names(e, Atom::Kind::variable).empty(); }

bool has_variables(const Atom& atom) {
  return atom.kind == Atom::Kind::variable ||
         std::ranges::any_of(atom.arguments, [](const Expression& e) { return has_variables(e); });
}

double evaluate(const Expression& e, const std::map<std::string, double>& values) {
  double total = 0;
  for (const Term& term : e->terms) {
    double product = term.number;
    for (const Factor& f : term.factors) {
      const Atom& atom = *f.atom;
      std::vector<double> arguments;
      for (const Expression& a : atom.arguments) arguments.push_back(evaluate(a, values));
      double value = 0;
      if (atom.kind == Atom::Kind::call) {
        value = evaluate(atom.name, arguments);
      } else if (atom.kind == Atom::Kind::sum) {
        value = arguments[0];
      } else {
        PERRIN_ASSERT(values.count(atom.name) == 1);
        value = values.at(atom.name);
      }
      product *= std::pow(value, f.exponent);
    }
    total += product;
  }
  return total;
}

double evaluate(const std::string& f, const std::vector<double>& x) {
  // What decides, or is the greater one, is a number.
  const std::size_t read = f == "if" ? 1 : x.size();
  for (std::size_t k = 0; k < read; ++k)
    if (std::isnan(x[k])) return x[k];
  if (f == "sqrt") return std::sqrt(x[0]);
  if (f == "exp") return std::exp(x[0]);
  if (f == "log") return std::log(x[0]);
  if (f == "log_slope") return x[0] >= 0 ? 1 / x[0] : NAN;
  if (f == "sin") return std::sin(x[0]);
  if (f == "cos") return std::cos(x[0]);
  if (f == "tan") return std::tan(x[0]);
  if (f == "asin") return std::asin(x[0]);
  if (f == "acos") return std::acos(x[0]);
  if (f == "atan") return std::atan(x[0]);
  if (f == "sinh") return std::sinh(x[0]);
  if (f == "cosh") return std::cosh(x[0]);
  if (f == "tanh") return std::tanh(x[0]);
  if (f == "erf") return std::erf(x[0]);
  if (f == "erfc") return std::erfc(x[0]);
  if (f == "abs") return std::abs(x[0]);
  if (f == "sign") return x[0] > 0 ? 1 : x[0] < 0 ? -1 : 0;
  if (f == "step") return x[0] >= 0 ? 1 : 0;
  if (f == "min") return std::min(x[0], x[1]);
  if (f == "max") return std::max(x[0], x[1]);
  if (f == "pow") return std::pow(x[0], x[1]);
  if (f == "less") return x[0] < x[1] ? 1 : 0;
  PERRIN_ASSERT(f == "if");
  return x[0] != 0 ? x[1] : x[2];
}

}  // namespace perrin::formula
