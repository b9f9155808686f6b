// The library of named potentials: formulas with names, parameters, ranges and sources. An entry of
// the table (library_atoms.cpp, library_colloids.cpp, library_models.cpp) is all that there is to
// say of a potential; jobs, help, schema, reference and tests read it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/settings/settings.h"

namespace perrin::formula {

struct Parameter {
  /// What is no real number is best known when the formula is compiled: where all entries of a job
  /// agree on it, it becomes a number of the formula.
  enum class Kind { real, exponent, whole_exponent };

  std::string name;
  Check check;
  std::string unit;  // "length"; empty where it has none
  std::string meaning;
  std::optional<double> value = std::nullopt;  // where the job gives none
  std::string above = "";                      // the parameter that it must exceed
  Kind kind = Kind::real;

  /// "1/length" and so on are part of it.
  std::string help() const;
};

using Values = std::map<std::string, double>;

/// A number to hold the formula against.
struct Number {
  enum class Kind {
    energy_at,  // at `at`
    slope_at,   // dE/dx at `at`
    minimum,    // the energy of the minimum that is within `near` of `at`
    zero        // the energy changes its sign within `near` of `at`
  };
  Kind kind;
  double at;
  double value = 0;
  double tolerance = 1e-12;  // of the value; below it a publication has rounded
  double near = 1e-9;
};

/// Parameters that were published or lead to numbers that are known, and these numbers.
struct Sample {
  std::string of;  // "argon (table II)"
  Values values;   // without those that have their defaults
  std::vector<Number> numbers;
};

struct Potential {
  std::string type;  // "pair_formula", "dihedral_formula"
  std::string name;
  std::string title;   // one line
  std::string energy;  // the formula
  std::vector<Parameter> parameters;
  std::string source;
  std::vector<Sample> samples;
  std::string from = "";   // formula of the distance where it begins; empty: 0
  std::string range = "";  // formula of the distance where it ends; empty: it does not
  bool smooth = false;     // the force is 0 at its range, too
  std::string note = "";   // more sentences

  const Parameter* parameter(const std::string& key) const;
  /// Of a formula of parameters (`from`, `range`).
  double value_of(const std::string& text, const Values& values) const;
  /// With defaults for what is missing.
  Values complete(Values values) const;
};

/// In the order of their names.
const std::vector<Potential>& potentials();
/// nullptr where there is none.
const Potential* find_potential(const std::string& name);
std::vector<std::string> potential_names(const std::string& type);

// Parts of the table.
std::vector<Potential> atoms();
std::vector<Potential> colloids();
std::vector<Potential> models();

}  // namespace perrin::formula
