// Formulas of energies, in a normal form: sums of products of powers.
//
// A product is a number times powers of atoms: variables, parameters, calls of functions, or sums
// that must stay together. Numbers are multiplied out, powers of one atom are added, a product is
// distributed over a sum of powers; (r - r0)^2 stays what it is, since multiplied out it would lose
// digits. What is alike is so alike in its key, and derivatives come out as sparse as the formula.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace perrin::formula {

struct Sum;
using Expression = std::shared_ptr<const Sum>;

struct Atom {
  enum class Kind { variable, parameter, call, sum };
  Kind kind;
  std::string name;                   // of a variable, parameter or function
  std::vector<Expression> arguments;  // of a call; of a sum: itself
  std::string key;                    // equal for equal atoms
};

struct Factor {
  std::shared_ptr<const Atom> atom;
  double exponent;
};

struct Term {
  double number;
  std::vector<Factor> factors;  // in the order of their keys, each atom once, no exponent 0
};

struct Sum {
  std::vector<Term> terms;  // in the order of their keys; none: zero
  std::string key;
};

/// How many arguments a function takes; 0: there is none of this name. Calls: sqrt exp log sin cos
/// tan asin acos atan sinh cosh tanh erf erfc abs sign step, min max pow less, and if(c, a, b), a
/// where c is not 0. step(x) is 1 from 0 on; less(a, b) is 1 where a < b, else 0. Derivatives have
/// log_slope(x), 1/x where x has a logarithm. Of what is not a number (NaN), as the logarithm of a
/// negative number, no function is a number, a comparison and "if" of such a condition neither.
int arity(const std::string& function);
std::vector<std::string> function_names();

Expression number(double value);
/// A variable called "r" is positive.
Expression variable(const std::string& name);
Expression parameter(const std::string& name);
Expression add(const Expression& a, const Expression& b);
Expression multiply(const Expression& a, const Expression& b);
/// Throws UserError for a power of zero that is not positive.
Expression power(const Expression& base, const Expression& exponent);
Expression call(const std::string& function, const std::vector<Expression>& arguments);

/// With respect to a variable; exact, where min, max, abs, step and if have one.
Expression derivative(const Expression& e, const std::string& variable);
/// Variables in it, or parameters.
std::set<std::string> names(const Expression& e, Atom::Kind kind);
bool has_variables(const Expression& e);
/// False where it may be that it is not a number (NaN) for some values of its variables.
bool is_number_everywhere(const Expression& e);
bool has_variables(const Atom& atom);
/// Its value where variables and parameters have these; a name that is missing is a BugError.
double evaluate(const Expression& e, const std::map<std::string, double>& values);
/// A function's value.
double evaluate(const std::string& function, const std::vector<double>& arguments);

}  // namespace perrin::formula
