// Forces whose potential falls without end along an axis.
#pragma once

#include <array>

namespace perrin {

/// What a Force derives from as well that is of a potential only along an axis that ends: along a
/// periodic one particles would fall for ever, by their unwrapped coordinates, and no energy says
/// where they are more likely. What decides by energies cannot take it there.
class EndlessPotential {
 public:
  virtual ~EndlessPotential() = default;
  /// Along which axes it falls.
  virtual std::array<bool, 3> falls_along() const = 0;
};

}  // namespace perrin
