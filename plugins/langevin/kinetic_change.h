// Heat, from two velocities.
#pragma once

#include <bit>

#include "engine/base/real.h"

namespace perrin::langevin {

/// 1/2 m (b² - a²), in double: heat is a small difference.
PERRIN_HD double kinetic_change(const Real4& a, const Real4& b, Real inverse_mass) {
#ifdef __CUDA_ARCH__
  const Real3 d = b.xyz() - a.xyz(), s = a.xyz() + b.xyz();
  const double dx = d.x, dy = d.y, dz = d.z, sx = s.x, sy = s.y, sz = s.z;
#else  // four numbers at a time
  using FourDoubles = double __attribute__((vector_size(32)));
  const auto p = std::bit_cast<FourReals>(a), q = std::bit_cast<FourReals>(b);
  const auto d = __builtin_convertvector(q - p, FourDoubles);
  const auto s = __builtin_convertvector(p + q, FourDoubles);
  const double dx = d[0], dy = d[1], dz = d[2], sx = s[0], sy = s[1], sz = s[2];
#endif
  return 0.5 * (dx * sx + dy * sy + dz * sz) / double(inverse_mass);
}

}  // namespace perrin::langevin
