// The centre of mass of a group of particles, by their unwrapped positions. For kernels.
#pragma once

#include <cstdint>

#include "engine/system/group.h"
#include "engine/system/particles.h"
#include "forces/unwrapped.h"

namespace perrin {

/// Mass-weighted positions in units of the padded edges, image counters included.
struct MassCenterSums {
  double v[4] = {};  // mass; mass · fraction
  PERRIN_HD MassCenterSums& operator+=(const MassCenterSums& b) {
    for (int k = 0; k < 4; ++k) v[k] += b.v[k];
    return *this;
  }
  PERRIN_HD Vec3<double> center(const Box& box) const {
    return point_of_padded(box, {v[1] / v[0], v[2] / v[0], v[3] / v[0]});
  }
};

/// What the particle at a place in memory adds to them, for sum().
struct AddToMassCenter {
  ConstParticleView particles;
  GroupMask group;
  PERRIN_HD MassCenterSums operator()(std::int64_t i) const {
    MassCenterSums s;
    if (!group.has(particles.id[i])) return s;
    const Vec3<double> f = unwrapped_fraction(particles.position[i], particles.image[i]);
    const double m = 1 / double(particles.velocity[i].w);
    s.v[0] = m, s.v[1] = m * f.x, s.v[2] = m * f.y, s.v[3] = m * f.z;
    return s;
  }
};

}  // namespace perrin
