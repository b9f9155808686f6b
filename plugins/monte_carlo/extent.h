// How far what moves as one reaches along the edges of the box. Distances within it are kept, and
// energies within it are not asked for, if no particle of it meets a copy of another one: a trial
// that begins or ends where one might is not made.
#pragma once

#include <algorithm>

#include "engine/system/box.h"

namespace perrin::monte_carlo {

/// In units of the edges.
struct MostExtent {
  double along[3];  // along axes that are not periodic: as long as it likes

  MostExtent(const Box& box, double range) {
    const Vec3<double> heights = box.heights();
    for (int axis = 0; axis < 3; ++axis)
      along[axis] = box.periodic[std::size_t(axis)] && axis < box.dimension
                        ? 1 - range / heights[axis]
                        : 1e300;
  }
};

struct Extent {
  Vec3<double> low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};

  PERRIN_HD void add(const Vec3<double>& fraction) {
    for (int axis = 0; axis < 3; ++axis) {
      const double f = fraction[axis];
      low[axis] = f < low[axis] ? f : low[axis], high[axis] = f > high[axis] ? f : high[axis];
    }
  }
  PERRIN_HD bool is_within(const MostExtent& most) const {
    for (int axis = 0; axis < 3; ++axis)
      if (high[axis] - low[axis] > most.along[axis]) return false;
    return true;
  }
};

}  // namespace perrin::monte_carlo
