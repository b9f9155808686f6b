// A rigid molecule that is put somewhere, turned at random: where its particles are.
#pragma once

#include <string>

#include "engine/base/real.h"
#include "engine/system/box.h"
#include "engine/system/moved_position.h"
#include "engine/system/quaternion.h"
#include "rng/keyed.h"
#include "turn.h"
#include "whole_position.h"

namespace perrin::monte_carlo {

/// Uniform over the box, of a particle like this one; `flat`: in two dimensions, at its height.
PERRIN_HD Position place_in_box(const Words4& words, bool flat, const Position& like) {
  return {words.x, words.y, flat ? like.z : words.z, like.type()};
}

struct PlacedBody {
  Position first;  // of its first particle: of a rigid body, the centre
  Real4 turn;      // of the frame in which vectors are given
  bool flat;       // in two dimensions: nothing leaves the plane

  /// `words`: random.
  PERRIN_HD PlacedBody(const Position& there, const Words4& words, bool planar)
      : first(there), turn(random_turn(words.x, words.y, words.z, planar)), flat(planar) {}

  /// A particle like this one, at `from` from the first one in the frame (length).
  PERRIN_HD Position particle(const Metric& metric, const Real3& from, const Position& like) const {
    const Real3 by = metric.fixed(rotate(turn, from));
    return at_place_of(moved_by_axes(first, Real4{by.x, by.y, flat ? Real(0) : by.z, 0}), like);
  }
};

/// Why something that reaches so far (length) from its first particle, `first`, must not be put
/// into a box: it could meet copies of itself. Empty: it may.
std::string misfit(const Box& box, double reach, const std::string& what, const std::string& first);

}  // namespace perrin::monte_carlo
