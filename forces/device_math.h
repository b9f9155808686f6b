// Arithmetic of the inner loops, for any floating-point type, on the CPU and on the GPU.
#pragma once

#include <cmath>
#include <type_traits>

#include "engine/real.h"

namespace perrin {

/// 1/x. On the GPU in float: the hardware's reciprocal (2 units in the last place) instead of the
/// correctly rounded division with its slow path.
template <class T>
PERRIN_HD T reciprocal(T x) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float>) return __fdividef(1.0f, x);
#endif
  return T(1) / x;
}

/// 1/sqrt(x).
template <class T>
PERRIN_HD T inverse_sqrt(T x) {
#ifdef __CUDA_ARCH__
  return ::rsqrt(x);
#else
  return T(1) / std::sqrt(x);
#endif
}

/// A distance and its inverse, from the distance squared.
template <class T>
struct Distance {
  T r, inverse;

  /// The tiny constant changes no distance that matters (it is 10⁻¹² long) and keeps two particles
  /// at one point from making a NaN: soft potentials are finite there.
  PERRIN_HD static Distance from_square(T r2) {
    const T inverse = inverse_sqrt(r2 + T(1e-24));
    return {r2 * inverse, inverse};
  }
};

}  // namespace perrin
