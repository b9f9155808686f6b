// How far particles may move before lists are built again, in a box that may change.
#pragma once

#include <cmath>

#include "engine/system/box.h"

namespace perrin {

/// How far a particle may come from where it was when the list was built, before the list must be
/// built again (length; negative: at once), and still have room for lengths that shrink by the
/// share `reserve`. A pair within the range R is now at most λ(R + 2d) apart in the box of the
/// list, if both have moved by d: λ is the longest that a unit vector of the present box becomes in
/// that one. The list has it if this is at most R + skin.
PERRIN_HD double move_limit(const Box& built, const Box& now, double range, double skin,
                            double reserve) {
  double a[3], b[3];
  for (int axis = 0; axis < 3; ++axis) {
    const bool periodic = now.periodic[std::size_t(axis)];
    a[axis] = periodic ? 1 : 1 + 2 * built.padding[axis];
    b[axis] = periodic ? 1 : 1 + 2 * now.padding[axis];
  }
  // The upper triangular matrix from vectors of one box to those of the other.
  const double yy_now = now.length.y * b[1], zz_now = now.length.z * b[2];
  const double xx = built.length.x * a[0] / (now.length.x * b[0]);
  const double yy = built.length.y * a[1] / yy_now, zz = built.length.z * a[2] / zz_now;
  const double xy = (built.xy * a[1] - xx * now.xy * b[1]) / yy_now;
  const double yz = (built.yz * a[2] - yy * now.yz * b[2]) / zz_now;
  const double xz = (built.xz * a[2] - xx * now.xz * b[2] - xy * now.yz * b[2]) / zz_now;
  const auto most = [](double u, double v, double w) {
    const double larger = u > v ? u : v;
    return larger > w ? larger : w;
  };
  const auto size = [](double u) { return u < 0 ? -u : u; };
  // At least the spectral norm; the same for a diagonal matrix.
  const double rows = most(xx + size(xy) + size(xz), yy + size(yz), zz);
  const double columns = most(xx, size(xy) + yy, size(xz) + size(yz) + zz);
  double norm2 = rows * columns;
  if (xy != 0 || xz != 0 || yz != 0) {  // in shear half as much: |1 + N|² ≤ 1 + 2 |sym N| + |N|²
    const double nx = xx - 1, ny = yy - 1, nz = zz - 1;
    const double sxy = size(xy) / 2, sxz = size(xz) / 2, syz = size(yz) / 2;
    const double all = 1 + 2 * most(nx + sxy + sxz, sxy + ny + syz, sxz + syz + nz) + nx * nx +
                       ny * ny + nz * nz + 4 * (sxy * sxy + sxz * sxz + syz * syz);
    norm2 = all < norm2 ? all : norm2;
  }
  const double stretch = (1 + reserve) * std::sqrt(norm2);
  return stretch <= 1 ? skin / 2 : (skin - (stretch - 1) * range) / (2 * stretch);
}

}  // namespace perrin
