// What forces do to the total momentum, and which velocities an integrator moves: what the count of
// the degrees of freedom (engine/components/degrees_of_freedom.h) is made from.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/base/real.h"

namespace perrin {

/// How a force changes the total momentum. Nothing of it: what particles do to one another.
struct MomentumChange {
  /// Along these axes by an amount that depends on where the particles are: fields, traps, walls.
  std::array<bool, 3> varying{};
  /// The sum of constant forces on the particles; those of several Forces may cancel.
  Vec3<double> constant{};
};

/// What the particles' velocities are to an integrator.
enum class VelocityRole {
  moved,  // variables of its dynamics
  bath,   // none: overdamped motion. Nothing moves them, and kinetic quantities are those of the
          // heat bath (Integrator::bath_kt()), where these have a value
  rest    // none: a minimum is looked for, at temperature 0
};

/// Which velocities an integrator moves.
struct Motion {
  std::vector<std::uint32_t> types;  // [type]: 1 or 0; empty: all
  std::array<bool, 3> axes{true, true, true};
  bool conserves_momentum = true;  // false: a heat bath, or the like, takes momentum and gives it
  VelocityRole velocities = VelocityRole::moved;  // else `types` and `axes` say what moves

  bool moves(std::size_t type) const { return types.empty() || types[type] != 0; }
};

}  // namespace perrin
