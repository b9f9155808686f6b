// A function of the energy as a job gives it: a number, a formula of E, or a table.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/settings/settings.h"

namespace neutron {

class Curve {
 public:
  static Curve constant(double value);
  /// Throws UserError where the text is no formula of E alone.
  static Curve formula(const std::string& text);
  /// Linear between its points; energies must be positive and increase, values not negative.
  /// Throws UserError.
  static Curve table(std::vector<double> energies, std::vector<double> values);
  /// A number, the text of a formula, a list of pairs [E, value], or {"file": name} with two
  /// columns; `find` says where a file of this name is. Throws UserError.
  static Curve read(const perrin::Json& value,
                    const std::function<std::filesystem::path(const std::string&)>& find);

  double operator()(double energy) const { return value_(energy); }
  bool is_constant() const { return constant_; }
  /// Of a table; empty otherwise.
  const std::vector<double>& energies() const { return energies_; }
  const std::vector<double>& values() const { return values_; }

 private:
  std::function<double(double)> value_;
  std::vector<double> energies_, values_;
  bool constant_ = false;
};

}  // namespace neutron
