// The text of a formula: numbers, names, + - * / ^ (also **), parentheses, functions
// (expression.h), comparisons (1 or 0), and definitions behind the formula, as in
// "4*epsilon*(x^12 - x^6); x = sigma/r".
#pragma once

#include <string>
#include <vector>

#include "engine/formula/expression.h"

namespace perrin::formula {

struct Formula {
  Expression value;
  std::vector<std::string> parameters;  // in the order in which the text names them
};

/// `variables`: the names that are no parameters; pi is a number. Throws UserError that shows the
/// place in the text and says what was expected there.
Formula parse(const std::string& text, const std::vector<std::string>& variables);

/// Of a formula of numbers alone, as "2^(1/6)". Throws UserError, also where it is not finite.
double value_of_numbers(const std::string& text);

}  // namespace perrin::formula
