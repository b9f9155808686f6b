// Formulas: what is read, its value, its derivatives, the code that comes of it, and what is said
// of mistakes. Forces from formulas: tests/physics/registry_forces_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "engine/base/error.h"
#include "engine/formula/program.h"
#include "forces/formula/source.h"

namespace perrin::formula {
namespace {

const std::vector<std::string> only_r{"r"};

struct Case {
  std::string text;
  std::function<double(double)> value;  // of r, with a = 0.7 and b = 1.3
};

std::vector<Case> cases() {
  const double a = 0.7, b = 1.3;
  const auto c = [](bool yes) { return yes ? 1.0 : 0.0; };
  return {
      {"2 + 3*4", [](double) { return 14; }},
      {"-r^2", [](double r) { return -r * r; }},
      {"2^3^2/r", [](double r) { return 512 / r; }},
      {"r**-2 - 1.5e-1", [](double r) { return 1 / (r * r) - 0.15; }},
      {"(r - a)^2*b", [=](double r) { return b * (r - a) * (r - a); }},
      {"4*a*(x^12 - x^6); x = y/r; y = b",
       [=](double r) { return 4 * a * (std::pow(b / r, 12) - std::pow(b / r, 6)); }},
      {"a*exp(-r/b)/r", [=](double r) { return a * std::exp(-r / b) / r; }},
      {"a*(1 - exp(-b*(r - 1)))^2",
       [=](double r) { return a * std::pow(1 - std::exp(-b * (r - 1)), 2); }},
      {"sqrt(a*r)*r^0.25", [=](double r) { return std::sqrt(a * r) * std::pow(r, 0.25); }},
      {"sqrt(r^2 + a)*b^-0.5", [=](double r) { return std::sqrt(r * r + a) / std::sqrt(b); }},
      {"pow(r, a) + r^b", [=](double r) { return std::pow(r, a) + std::pow(r, b); }},
      {"b*((a/r)^b - (2*a*r^3)^a)",
       [=](double r) { return b * (std::pow(a / r, b) - std::pow(2 * a * r * r * r, a)); }},
      {"b^r", [=](double r) { return std::pow(b, r); }},
      {"log(r) + sin(r)*cos(a*r) - tan(r/3)",
       [=](double r) { return std::log(r) + std::sin(r) * std::cos(a * r) - std::tan(r / 3); }},
      {"asin(r/4) + acos(r/5)*atan(r)",
       [=](double r) { return std::asin(r / 4) + std::acos(r / 5) * std::atan(r); }},
      {"sinh(r) - cosh(a*r) + tanh(r)",
       [=](double r) { return std::sinh(r) - std::cosh(a * r) + std::tanh(r); }},
      {"erf(r)*erfc(b*r)", [=](double r) { return std::erf(r) * std::erfc(b * r); }},
      {"abs(r - 1.55) + min(r, a*r^2) - max(r, 1.2)",
       [=](double r) { return std::abs(r - 1.55) + std::min(r, a * r * r) - std::max(r, 1.2); }},
      {"step(r - b)*r + if(r < a, 1, r^3) + (r >= 1.15) + (r <= 1.1)",
       [=](double r) {
         return c(r >= b) * r + (r < a ? 1 : r * r * r) + c(r >= 1.15) + c(r <= 1.1);
       }},
      {"sign(r - b)*pi", [=](double r) { return (r > b ? 1 : -1) * M_PI; }},
  };
}

TEST(Formula, HasTheValueThatItSays) {
  for (const Case& k : cases())
    for (double r = 0.61; r < 2.4; r += 0.17)
      EXPECT_NEAR(evaluate(parse(k.text, only_r).value, {{"r", r}, {"a", 0.7}, {"b", 1.3}}),
                  k.value(r), 1e-12 * (1 + std::abs(k.value(r))))
          << k.text << " at " << r;
}

TEST(Formula, DerivativesAreThoseOfDifferences) {
  for (const Case& k : cases()) {
    const Expression slope = derivative(parse(k.text, only_r).value, "r");
    for (double r = 0.61; r < 2.4; r += 0.17) {
      // Five points: what is left is h⁴ f⁽⁵⁾/30, below 1e-8 for the steepest of them.
      const double h = 1e-3;
      const auto& f = k.value;
      const double expected =
          (f(r - 2 * h) - 8 * f(r - h) + 8 * f(r + h) - f(r + 2 * h)) / (12 * h);
      EXPECT_NEAR(evaluate(slope, {{"r", r}, {"a", 0.7}, {"b", 1.3}}), expected,
                  2e-8 * (1 + std::abs(expected)))
          << k.text << " at " << r;
    }
  }
}

TEST(Formula, WhatIsNoNumberIsNotHidden) {
  const std::map<std::string, double> outside{{"r", 2.0}};
  for (const char* const text : {"log(1 - r)",
                                 "max(0, log(1 - r))",
                                 "max(log(1 - r), 0)",
                                 "min(0, sqrt(1 - r))",
                                 "min(sqrt(1 - r), 0)",
                                 "if(log(1 - r) < 1, 2, 3)",
                                 "if(log(1 - r) >= 1, 2, 3)",
                                 "step(sqrt(1 - r))",
                                 "sign(log(1 - r))",
                                 "exp(-sqrt(1 - r))",
                                 "r^log(1 - r)",
                                 "abs(log(1 - r^2))",
                                 "sqrt(1 - r)^2",
                                 "sqrt(1 - r)*sqrt(1 - r)",
                                 "((1 - r)^0.25)^4",
                                 "r*sqrt(1 - r)/sqrt(1 - r)",
                                 "(1 - r)^1.5*(1 - r)^-0.5",
                                 "r/(1 - r)^-1.5*(1 - r)^0.5",
                                 "sqrt(3*r*(1 - r))^2",
                                 "exp(log(1 - r))",
                                 "pow(sqrt(1 - r), 2)",
                                 "sqrt(1 - r)^-4"}) {
    const Expression e = parse(text, only_r).value;
    EXPECT_FALSE(is_number_everywhere(e)) << text;
    EXPECT_TRUE(std::isnan(evaluate(e, outside))) << text;
    const double r = 2;
    const auto code = program(e, only_r);
    EXPECT_TRUE(std::isnan(ProgramView{code.data(), int(code.size())}.evaluate(&r))) << text;
    const std::string name = text;
    if (name.starts_with("step") || name.starts_with("sign")) continue;  // their slope is 0
    EXPECT_TRUE(std::isnan(evaluate(derivative(e, "r"), outside))) << text;
  }
  for (const char* const text :
       {"4*(r^-12 - r^-6)", "if(r < 1, (1 - r)^2, 0)", "max(0, 1 - r)^2", "exp(-r)/r",
        "if(r < 1, sqrt(1 - r), 0)", "sqrt(r - 1)^2", "sqrt((1 - r)^2)", "log(exp(1 - r))"}) {
    const Expression e = parse(text, only_r).value;
    EXPECT_TRUE(std::isfinite(evaluate(e, outside))) << text;
    EXPECT_TRUE(std::isfinite(evaluate(derivative(e, "r"), outside))) << text;
  }
  EXPECT_TRUE(is_number_everywhere(parse("4*(r^-12 - r^-6)*exp(-r)", only_r).value));
}

TEST(Formula, OnlyWhatMayBeNoNumberIsAskedWhetherItIs) {
  const auto asks = [](const char* text) {
    const std::string code =
        plugin_source({"pair_formula", text, "cut", {}}, parse(text, only_r), "x");
    return code.find("NAN") != std::string::npos;
  };
  EXPECT_FALSE(asks("if(r < 1, 4*(r^-12 - r^-6) + 1, 0)"));
  EXPECT_FALSE(asks("max(0, 1 - r)^2 + exp(-r) + log(r)"));
  EXPECT_FALSE(asks("sqrt(r)^2 + sqrt(r^2 + 3*(1 - r)^2)^2"));
  EXPECT_TRUE(asks("max(0, sqrt(1 - r))"));
  EXPECT_TRUE(asks("exp(-sqrt(1 - r))"));
  EXPECT_TRUE(asks("log(1 - r)"));
}

TEST(Formula, NamesItsParametersInTheirOrder) {
  const Formula f = parse("4*epsilon*(x^12 - x^6) + q; x = sigma/r", only_r);
  EXPECT_EQ(f.parameters, (std::vector<std::string>{"epsilon", "sigma", "q"}));
  EXPECT_EQ(names(f.value, Atom::Kind::variable), std::set<std::string>{"r"});
}

TEST(Formula, EqualThingsAreOneThing) {
  const auto key = [](const char* text) { return parse(text, only_r).value->key; };
  EXPECT_EQ(key("4*e*((s/r)^12 - (s/r)^6)"), key("-4*e*s^6*r^-6 + e*4/r^12*s^12"));
  EXPECT_EQ(key("(a + b)*(a + b)"), key("(b + a)^2"));
  EXPECT_EQ(key("r - r"), key("0"));
  EXPECT_NE(key("(r - a)^2"), key("r^2 - 2*a*r + a^2")) << "multiplied out it would lose digits";
}

TEST(Formula, EvenPowersNeedNoRoot) {
  const auto source = [](const char* text) {
    return plugin_source({"pair_formula", text, "cut", {}}, parse(text, only_r), "x");
  };
  EXPECT_EQ(source("4*e*((s/r)^12 - (s/r)^6)").find("Distance"), std::string::npos);
  EXPECT_EQ(source("e*(s/r)^n").find("Distance"), std::string::npos);
  EXPECT_NE(source("exp(-r)").find("Distance"), std::string::npos);
}

/// How often the code of a pair multiplies; s is an attribute.
long products_of(const char* text) {
  const Request request{"pair_formula", text, "cut", {}, {"s"}};
  const std::string source = plugin_source(request, parse(text, variables_of(request)), "x");
  const std::size_t from = source.find("evaluate("), to = source.find("return {t", from);
  return std::ranges::count(source.substr(from, to - from), '*');
}

TEST(Formula, PowersOfAttributesFollowHornersRule) {
  // 0.5 s_1 + 0.5 s_2, s to the 3rd and 6th, r to -2, -6, -8, -12 and -14, and for force and energy
  // (A + B s^6) s^6 with numbers, parameters and powers of r in A and B.
  EXPECT_LE(products_of("4*epsilon*((x/r)^12 - (x/r)^6); x = (s_1 + s_2)/2"), 18);
  EXPECT_LE(products_of("4*epsilon*(x^12/r^12 - x^6/r^6); x = s_1*s_2"), 23);
}

TEST(Formula, MistakesAreShownWhereTheyAre) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "expected a number, a name or \"(\", but the text ends, at character 1"},
      {"4*(r", "expected \")\", but the text ends, at character 5: 4*(r >>> "},
      {"4*)r", "expected a number, a name or \"(\", got \")\", at character 3: 4* >>> )r"},
      {"r^σσ + 1", "got \"σ\", at character 3: r^ >>> σσ"},
      {"r^2*(1 + σ)", "got \"σ\", at character 10"},
      {"r r", "expected an operator, got \"r\", at character 3"},
      {"2*snh(r)", "unknown function \"snh\"; did you mean \"sinh\"?, at character 3"},
      {"min(r)", "min takes 2 arguments, got 1"},
      {"exp + r", "expected \"(\" after the function exp"},
      {"a/(r - r)", "division by zero, at character 2"},
      {"0^-1", "division by zero"},
      {"log(-1)", "log is not defined here"},
      {"r + 1e200^2", "beyond double precision"},
      {"1e200*e*1e200/r", "beyond double precision"},
      {"x; x = y; y = x", "\"x\" is defined in terms of itself"},
      {"r; x = 2", "\"x\" is defined but not used"},
      {"x; x = 1; x = 2", "\"x\" is defined twice"},
      {"x; r = 1", "\"r\" is a reserved name"},
      {"1e999", "expected a number in the range of double"},
      {std::string(300, '('), "parentheses are nested"},
      {std::string(5000, '1'), "the formula has 5000 characters"},
  };
  for (const auto& [text, expected] : wrong) {
    try {
      parse(text, only_r);
      ADD_FAILURE() << text << " was taken";
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(expected), std::string::npos)
          << text << ": " << e.what();
    }
  }
}

}  // namespace
}  // namespace perrin::formula
