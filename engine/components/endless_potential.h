// Forces whose potential falls without end along an axis, and walls, behind which it does not.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "engine/system/box.h"

namespace perrin {

class Force;

/// What a Force derives from as well that is of a potential only along an axis that ends: along a
/// periodic one particles would fall for ever, by their unwrapped coordinates, and no energy says
/// where they are more likely. What decides by energies cannot take it there.
class EndlessPotential {
 public:
  virtual ~EndlessPotential() = default;
  /// Along which axes it falls.
  virtual std::array<bool, 3> falls_along() const = 0;
  virtual bool acts_on(std::size_t type) const = 0;
};

/// What a Force derives from as well that particles of some types do not pass, wherever they come
/// from.
class Wall {
 public:
  virtual ~Wall() = default;
  /// The axis across which it stands.
  virtual int axis() const = 0;
  virtual bool stops(std::size_t type) const = 0;
};

/// A force of a job, and the group that it acts on ("all": everybody).
struct ForceOnGroup {
  const Force* force;  // nullptr: none
  std::string on;
};

/// The periodic axes round which `forces[k]` drives particles: of one of the types at least, and
/// without a wall for that type and its group.
std::array<bool, 3> drives_round(std::span<const ForceOnGroup> forces, std::size_t k,
                                 const Box& box, std::size_t types);

}  // namespace perrin
