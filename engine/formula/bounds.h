// Between which numbers the value of a formula lies.
#pragma once

#include <map>
#include <string>

#include "engine/formula/expression.h"

namespace perrin::formula {

/// Low and high are infinite where nothing is known.
struct Bounds {
  double low, high;
};

/// By interval arithmetic (R. E. Moore, Interval Analysis, 1966): never too narrow but for
/// rounding, and wider than needed where a name occurs more than once. Every name of the formula
/// must be among `names`.
Bounds bounds(const Expression& e, const std::map<std::string, Bounds>& names);

}  // namespace perrin::formula
