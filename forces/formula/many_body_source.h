// The source of a plug-in with a many-body potential from formulas (forces/many_body_potential.h).
#pragma once

#include <string>
#include <vector>

#include "engine/formula/parse.h"

namespace perrin::formula {

/// What of a force stands in its code: the texts, and what is read of them.
struct ManyBodyRequest {
  std::string truncation;
  std::string density_text, energy_text, pair_text;  // pair_text: empty: there is none
  Formula density, energy, pair;                     // of r, of rho, of r
  std::vector<std::string> attributes{};             // of particles, that are in them
};

/// Its text, in which the type of the force is called `name`.
std::string many_body_source(const ManyBodyRequest& request, const std::string& name);

}  // namespace perrin::formula
