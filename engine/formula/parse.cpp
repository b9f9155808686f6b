#include "engine/formula/parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numbers>

#include "engine/base/error.h"
#include "engine/settings/problems.h"

namespace perrin::formula {
namespace {

constexpr std::size_t longest_text = 4000;
constexpr std::size_t most_parameters = 64;  // the coefficients of a pair are kernel arguments
constexpr int deepest = 200;                 // parentheses within parentheses

/// One part of the text between semicolons: "x = sigma/r", or the formula itself.
struct Definition {
  std::size_t begin, end;
  bool being_read = false;
  Expression value;
};

class Parser {
 public:
  Parser(const std::string& text, const std::vector<std::string>& variables)
      : text_(text), variables_(variables) {}

  Formula read() {
    if (text_.size() > longest_text)
      throw UserError(
          fmt::format("the formula has {} characters, more than {}", text_.size(), longest_text));
    std::size_t end = find_end(0);
    const std::size_t main_end = end;
    while (end < text_.size()) {
      const std::size_t begin = end + 1;
      end = find_end(begin);
      add_definition(begin, end);
    }
    Formula formula{part(0, main_end), {}};
    for (const auto& [name, d] : definitions_)
      if (!d.value) fail(d.begin, fmt::format("\"{}\" is defined but not used", name));
    if (parameters_.size() > most_parameters)
      throw UserError(
          fmt::format("the formula has {} parameters ({}, …), at most {} are possible: write "
                      "parameters that are the same for all types as numbers",
                      parameters_.size(), parameters_.front(), most_parameters));
    formula.parameters = parameters_;
    return formula;
  }

 private:
  std::size_t find_end(std::size_t from) const {
    return std::min(text_.find(';', from), text_.size());
  }

  /// Whether a character of UTF-8 goes on with this byte.
  bool within_character(std::size_t at) const {
    return at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xc0) == 0x80;
  }
  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    std::size_t number = 1;
    for (std::size_t k = 0; k < at; ++k) number += within_character(k) ? 0 : 1;
    throw UserError(fmt::format("{}, at character {}: {} >>> {}", what, number, text_.substr(0, at),
                                text_.substr(std::min(at, text_.size()))));
  }
  [[noreturn]] void expected(const std::string& what) {
    skip();
    std::size_t next = at_ + 1;
    while (within_character(next)) ++next;
    fail(at_, at_ < end_
                  ? fmt::format("expected {}, got \"{}\"", what, text_.substr(at_, next - at_))
                  : fmt::format("expected {}, but the text ends", what));
  }

  void skip() {
    while (at_ < end_ && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  /// Is this next? Then it is read.
  bool take(const std::string& mark) {
    skip();
    if (text_.compare(at_, mark.size(), mark) != 0 || at_ + mark.size() > end_) return false;
    at_ += mark.size();
    return true;
  }
  std::string take_name() {
    skip();
    std::size_t end = at_;
    const auto letter = [&](std::size_t k) {
      return k < end_ && (std::isalnum(static_cast<unsigned char>(text_[k])) || text_[k] == '_');
    };
    if (letter(at_) && !std::isdigit(static_cast<unsigned char>(text_[at_])))
      while (letter(end)) ++end;
    const std::string name = text_.substr(at_, end - at_);
    at_ = end;
    return name;
  }

  void add_definition(std::size_t begin, std::size_t end) {
    at_ = begin, end_ = end;
    skip();
    const std::size_t where = at_;
    const std::string name = take_name();
    if (name.empty()) expected("the name of a definition");
    if (!take("=")) expected("=");
    if (std::ranges::count(variables_, name) > 0 || arity(name) > 0 || name == "pi")
      fail(where, fmt::format("\"{}\" is a reserved name", name));
    if (!definitions_.try_emplace(name, Definition{at_, end, false, nullptr}).second)
      fail(where, fmt::format("\"{}\" is defined twice", name));
  }

  /// The expression that is all of this part of the text.
  Expression part(std::size_t begin, std::size_t end) {
    const std::size_t at = at_, old_end = end_;
    at_ = begin, end_ = end;
    const Expression value = comparison();
    skip();
    if (at_ < end_) expected("an operator");
    for (const Term& term : value->terms)
      if (!std::isfinite(term.number)) fail(begin, "this number is beyond double precision");
    at_ = at, end_ = old_end;
    return value;
  }

  Expression comparison() {
    const Expression a = sum();
    const auto less = [](const Expression& x, const Expression& y) { return call("less", {x, y}); };
    const auto no = [](const Expression& x) { return add(number(1), multiply(number(-1), x)); };
    if (take("<=")) return no(less(sum(), a));
    if (take(">=")) return no(less(a, sum()));
    if (take("<")) return less(a, sum());
    if (take(">")) return less(sum(), a);
    return a;
  }

  Expression sum() {
    Expression total = product();
    for (;;) {
      if (take("+"))
        total = add(total, product());
      else if (take("-"))
        total = add(total, multiply(number(-1), product()));
      else
        return total;
    }
  }

  Expression product() {
    Expression total = signed_power();
    for (;;) {
      skip();
      const std::size_t at = at_;
      if (take("*")) {
        total = multiply(total, signed_power());
      } else if (take("/")) {
        const Expression below = signed_power();
        if (below->terms.empty()) fail(at, "division by zero");
        total = multiply(total, power(below, number(-1)));
      } else {
        return total;
      }
    }
  }

  Expression signed_power() {
    if (take("-")) return multiply(number(-1), signed_power());
    if (take("+")) return signed_power();
    const Expression base = operand();
    skip();
    const std::size_t at = at_;
    if (!take("^") && !take("**")) return base;
    const Expression exponent = signed_power();  // 2^3^2 is 2^(3^2)
    try {
      return power(base, exponent);
    } catch (const UserError& e) {
      fail(at, e.what());
    }
  }

  Expression operand() {
    if (++depth_ > deepest) fail(at_, "parentheses are nested too deeply");
    const Expression value = operand_of_any_depth();
    --depth_;
    return value;
  }

  Expression operand_of_any_depth() {
    skip();
    const std::size_t at = at_;
    if (take("(")) {
      const Expression inner = comparison();
      if (!take(")")) expected("\")\"");
      return inner;
    }
    if (at_ < end_ && (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.')) {
      double value = 0;
      const auto [rest, error] = std::from_chars(text_.data() + at_, text_.data() + end_, value);
      if (error != std::errc() || !std::isfinite(value))
        expected("a number in the range of double");
      at_ = std::size_t(rest - text_.data());
      return number(value);
    }
    const std::string name = take_name();
    if (name.empty()) expected("a number, a name or \"(\"");
    if (take("(")) return function(name, at);
    if (arity(name) > 0 && std::ranges::count(variables_, name) == 0)
      expected(fmt::format("\"(\" after the function {}", name));
    return named(name, at);
  }

  Expression function(const std::string& name, std::size_t at) {
    const int count = arity(name);
    if (count == 0)
      fail(at, fmt::format("unknown function \"{}\"; {}", name, suggest(name, function_names())));
    std::vector<Expression> arguments;
    do {
      arguments.push_back(comparison());
    } while (take(","));
    if (!take(")")) expected("\",\" or \")\"");
    if (int(arguments.size()) != count)
      fail(at, fmt::format("{} takes {} argument{}, got {}", name, count, count == 1 ? "" : "s",
                           arguments.size()));
    const Expression value =
        name == "pow" ? power(arguments[0], arguments[1]) : call(name, arguments);
    for (const Term& term : value->terms)
      if (!std::isfinite(term.number)) fail(at, fmt::format("{} is not defined here", name));
    return value;
  }

  Expression named(const std::string& name, std::size_t at) {
    if (name == "pi") return number(std::numbers::pi);
    if (std::ranges::count(variables_, name) > 0) return variable(name);
    if (const auto it = definitions_.find(name); it != definitions_.end()) {
      Definition& d = it->second;
      if (d.being_read) fail(at, fmt::format("\"{}\" is defined in terms of itself", name));
      d.being_read = true;
      if (!d.value) d.value = part(d.begin, d.end);
      d.being_read = false;
      return d.value;
    }
    if (std::ranges::count(parameters_, name) == 0) parameters_.push_back(name);
    return parameter(name);
  }

  const std::string& text_;
  const std::vector<std::string>& variables_;
  std::map<std::string, Definition> definitions_;
  std::vector<std::string> parameters_;
  std::size_t at_ = 0, end_ = 0;
  int depth_ = 0;
};

}  // namespace

Formula parse(const std::string& text, const std::vector<std::string>& variables) {
  return Parser(text, variables).read();
}

double value_of_numbers(const std::string& text) {
  const Formula formula = parse(text, {});
  if (!formula.parameters.empty())
    throw UserError(fmt::format("\"{}\" is no number", formula.parameters.front()));
  const double value = evaluate(formula.value, {});
  if (!std::isfinite(value)) throw UserError(fmt::format("its value is {}", value));
  return value;
}

}  // namespace perrin::formula
