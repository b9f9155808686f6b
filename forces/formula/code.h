// C++ for formulas: what depends on parameters alone is computed once on the host, in double; the
// rest is the body of a kernel.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/formula/expression.h"

namespace perrin::formula {

/// Collects the statements that compute values of expressions of one set of variables, for the
/// floating-point type T of a kernel.
class Code {
 public:
  /// C++ for each variable. With `radial` the variable r is given by its square r2 instead, and a
  /// root is taken only where an odd power of r asks for it, or `root` says so.
  Code(std::map<std::string, std::string> variables, bool radial, bool root = false)
      : variables_(std::move(variables)), radial_(radial) {
    if (root) take_root();
  }
  bool takes_root() const { return root_; }
  /// So many are there already, of other code: the first of these is c.kN.
  void begin_coefficients_at(std::size_t n) { first_coefficient_ = n; }

  /// The C++ of its value; statements it needs are added before.
  std::string value(const Expression& e);

  /// "    const T t0 = …;" and so on.
  std::string statements() const;
  /// What stands for c.k0, c.k1, … : C++ in double of the settings s.
  const std::vector<std::string>& coefficients() const { return coefficients_; }

 private:
  struct Power {
    double exponent;     // of r
    std::string factor;  // C++
  };
  /// What has the same factors but for the power of r; what parameters and numbers make is one
  /// coefficient.
  struct Group {
    std::vector<Factor> factors;
    std::map<double, std::vector<std::string>> host;  // by the power of r: sums of products
    std::map<double, double> numbers;                 // where there are no parameters
    std::optional<std::size_t> within;  // the group whose factors this one is multiplied by, too
  };
  static void nest(std::vector<Group>& groups);
  std::string statement(const std::string& expression);
  std::string coefficient(const std::string& host);
  std::string sum_of_powers(std::vector<Power> powers);
  std::string sum_of_powers(const Group& group);
  std::string value(const std::vector<Group>& groups, std::size_t k);
  std::string factor(const Factor& f);
  std::string atom(const Atom& a);
  std::string power(const std::string& base, double exponent);
  std::string power_of_r(double exponent);
  std::string power_of_r(const Expression& exponent);
  void take_root();

  std::map<std::string, std::string> variables_;
  bool radial_, root_ = false;
  std::size_t first_coefficient_ = 0;
  std::vector<std::string> lines_, coefficients_;
  std::map<std::string, std::string> known_;  // C++ of what has a name: that name
};

/// C++ of an expression without variables, in double; parameters are s.p_NAME.
std::string host_code(const Expression& e);

}  // namespace perrin::formula
