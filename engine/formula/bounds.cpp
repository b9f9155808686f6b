#include "engine/formula/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "engine/base/error.h"

namespace perrin::formula {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr Bounds anything{-infinite, infinite};

/// 0 times infinity is 0 here: the bound is reached by no number.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

/// NaN means that nothing is known.
Bounds sane(Bounds b) {
  return {std::isnan(b.low) ? -infinite : b.low, std::isnan(b.high) ? infinite : b.high};
}

Bounds multiplied(const Bounds& a, const Bounds& b) {
  const double all[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                        times(a.high, b.high)};
  return {*std::ranges::min_element(all), *std::ranges::max_element(all)};
}

Bounds power_of(const Bounds& x, double p) {
  const bool whole = p == std::floor(p), even = whole && std::fmod(p, 2) == 0;
  if (x.low < 0 && !whole) return anything;
  if (p < 0 && x.low <= 0 && x.high >= 0)
    return even || x.low >= 0 ? Bounds{std::pow(std::max(-x.low, x.high), p), infinite} : anything;
  const double low = std::pow(x.low, p), high = std::pow(x.high, p);
  if (even && x.low < 0 && x.high > 0) return {0, std::max(low, high)};
  return {std::min(low, high), std::max(low, high)};
}

template <class F>
Bounds rising(const Bounds& x, const F& f) {
  return {f(x.low), f(x.high)};
}

Bounds called(const std::string& f, const std::vector<Bounds>& x) {
  const auto of = [&](double v) { return evaluate(f, {v}); };
  static const std::set<std::string> all_rising{"exp",  "log",  "sinh", "tanh", "erf",
                                                "asin", "atan", "sign", "step"};
  if (all_rising.contains(f)) return rising(x[0], of);
  if (f == "erfc" || f == "acos") return {of(x[0].high), of(x[0].low)};
  if (f == "sin" || f == "cos") return {-1, 1};
  if (f == "abs" || f == "cosh") {
    const double low = of(x[0].low), high = of(x[0].high);
    const bool around = x[0].low < 0 && x[0].high > 0;
    return {around ? of(0) : std::min(low, high), std::max(low, high)};
  }
  if (f == "min") return {std::min(x[0].low, x[1].low), std::min(x[0].high, x[1].high)};
  if (f == "max") return {std::max(x[0].low, x[1].low), std::max(x[0].high, x[1].high)};
  if (f == "less") return {x[0].high < x[1].low ? 1.0 : 0.0, x[0].low < x[1].high ? 1.0 : 0.0};
  if (f == "if") {
    if (x[0].low > 0 || x[0].high < 0) return x[1];
    if (x[0].low == 0 && x[0].high == 0) return x[2];
    return {std::min(x[1].low, x[2].low), std::max(x[1].high, x[2].high)};
  }
  if (f == "pow" && x[0].low > 0) {  // exp(b log a)
    const Bounds product = multiplied({std::log(x[0].low), std::log(x[0].high)}, x[1]);
    return {std::exp(product.low), std::exp(product.high)};
  }
  return anything;
}

}  // namespace

Bounds bounds(const Expression& e, const std::map<std::string, Bounds>& names) {
  Bounds total{0, 0};
  for (const Term& term : e->terms) {
    Bounds product{term.number, term.number};
    for (const Factor& f : term.factors) {
      const Atom& atom = *f.atom;
      std::vector<Bounds> arguments;
      for (const Expression& a : atom.arguments) arguments.push_back(bounds(a, names));
      Bounds value = anything;
      if (atom.kind == Atom::Kind::call) {
        value = called(atom.name, arguments);
      } else if (atom.kind == Atom::Kind::sum) {
        value = arguments[0];
      } else {
        PERRIN_ASSERT(names.contains(atom.name));
        value = names.at(atom.name);
      }
      product = multiplied(product, sane(power_of(sane(value), f.exponent)));
    }
    total = sane({total.low + product.low, total.high + product.high});
  }
  return total;
}

}  // namespace perrin::formula
