// The source of a plug-in with a force from a formula: what its author would have written.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/formula/parse.h"

namespace perrin::formula {

/// What of a force stands in its code.
struct Request {
  std::string type;                           // "pair_formula", …
  std::string energy;                         // the formula
  std::string truncation;                     // pairs
  std::map<std::string, std::string> mixing;  // pairs: "geometric" or "arithmetic" by parameter
  std::vector<std::string> attributes{};      // of particles, that are in the formula
  std::string range{};                        // pairs with attributes: formula of how far; or empty
};

/// The variables of a type: r, theta, phi, or x, y, z; of particles with axes r and cosines.
const std::vector<std::string>& variables_of(const std::string& type);
/// Of how many particles the energy of a type is: formulas of several have attributes as NAME_1,
/// NAME_2, …
int members_of(const std::string& type);
/// Of a name that ends in _1, _2, _3 or _4 that number, else 0.
int particle_of(const std::string& name);
/// The variables of a request: those of its type and its attributes.
std::vector<std::string> variables_of(const Request& request);

// For sources.
/// `text` with every @KEY@ replaced.
std::string filled(std::string text, const std::map<std::string, std::string>& values);
/// A formula in a comment of one line: nothing in it ends that for any compiler.
std::string in_one_line(std::string text);
/// The member `attributes` of a potential that reads them.
std::string attribute_list(const std::vector<std::string>& attributes);
/// The class of a truncation (forces/truncation.h).
const char* mode_of(const std::string& truncation);

/// Its text, in which the type of the force is called `name`.
std::string plugin_source(const Request& request, const Formula& formula, const std::string& name);

}  // namespace perrin::formula
