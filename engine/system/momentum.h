// What forces do to the total momentum, and which velocities an integrator moves: what the count of
// the degrees of freedom (engine/components/degrees_of_freedom.h) is made from.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
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

  /// Of several integrators, each of a group: in place of `types` and `axes`.
  struct OfEach {
    std::vector<std::uint8_t> axes;        // [id]: 1, 2 and 4 for motion along x, y and z
    std::array<std::int64_t, 3> moving{};  // particles that move along an axis
  };
  std::shared_ptr<const OfEach> of_each{};

  bool moves(std::size_t type) const { return types.empty() || types[type] != 0; }
  /// Particles of so many types, along all axes of a box of this dimension.
  bool moves_all(std::size_t type_count, int dimension) const {
    bool all = true;
    for (std::size_t t = 0; t < type_count; ++t) all = all && moves(t);
    for (int axis = 0; axis < dimension; ++axis) all = all && axes[std::size_t(axis)];
    return all;
  }
  /// Whether a particle of this type moves along an axis.
  bool moves(std::size_t type, std::size_t id, std::size_t axis) const {
    return of_each ? (of_each->axes[id] >> axis & 1) != 0 : axes[axis] && moves(type);
  }
};

}  // namespace perrin
