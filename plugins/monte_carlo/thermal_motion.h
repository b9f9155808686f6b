// Motion that a heat bath gives to who comes into a box.
#pragma once

#include <array>
#include <cmath>

#include "engine/base/real.h"
#include "rng/keyed.h"

namespace perrin::monte_carlo {

/// `weight`: 1/mass, which velocities have as their fourth number.
inline Real4 drawn_velocity(Philox& random, double kt, Real weight, int dimension) {
  const double width = std::sqrt(kt * double(weight));
  Vec3<double> v;
  for (int axis = 0; axis < dimension; ++axis) v[axis] = width * random.normal<double>();
  return {Real(v.x), Real(v.y), Real(v.z), weight};
}

/// About the axes of the particle's frame; 0 where it has no moment of inertia.
inline Real4 drawn_angular_momentum(Philox& random, double kt, const Real4& moment, int dimension) {
  Vec3<double> l;
  const std::array<Real, 3> of{moment.x, moment.y, moment.z};
  for (int axis = dimension == 2 ? 2 : 0; axis < 3; ++axis)
    l[axis] = std::sqrt(kt * double(of[std::size_t(axis)])) * random.normal<double>();
  return {Real(l.x), Real(l.y), Real(l.z), 0};
}

}  // namespace perrin::monte_carlo
