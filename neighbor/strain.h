// How rounding stretches the vectors between particles: distances are computed in Real from edges
// that were rounded, each kind of list in its way. In single precision an edge is off by up to 6e-8
// of itself, an energy by that times its virial, which is up to 1e-6 of the energy.
#pragma once

#include <array>

#include "engine/system/box.h"

namespace perrin {

struct TileGeometry;

/// Vectors come out as (1 + strain) times what they are; the strain is upper triangular.
struct Strain {
  double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;

  /// What is to be added to an energy of stretched vectors, to first order in the strain (the
  /// second is 1e-14). `virial`: xx yy zz xy xz yz of the sum of r ⊗ f of this energy.
  double energy(const std::array<double, 6>& virial) const {
    return xx * virial[0] + yy * virial[1] + zz * virial[2] + xy * virial[3] + xz * virial[4] +
           yz * virial[5];
  }
};

/// Of Metric: bonds and angles.
Strain metric_strain(const Box& box);
/// Of coordinates in tiles.
Strain tile_strain(const TileGeometry& geometry, const Box& box);
/// Of coordinates for which edges are rounded to multiples of `unit`.
Strain unit_strain(double unit, const Box& box);

}  // namespace perrin
