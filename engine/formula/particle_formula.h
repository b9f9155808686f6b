// A formula of what a configuration says of each particle.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/formula/parse.h"
#include "engine/system/configuration.h"

namespace perrin {

class ParticleFormula {
 public:
  /// Of x, y, z (as the job has them), type numbers apart: charge, diameter, mass and attributes.
  /// Throws UserError.
  explicit ParticleFormula(const std::string& text);
  /// Those that are in it, without x, y and z.
  const std::vector<std::string>& names() const { return formula_.parameters; }
  /// Of each particle, by id. Throws UserError where the system does not have what is in it.
  std::vector<double> values(const Configuration& configuration) const;

 private:
  formula::Formula formula_;
};

}  // namespace perrin
