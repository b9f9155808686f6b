// Arithmetic of the inner loops, for any floating-point type, on the CPU and on the GPU.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "engine/base/real.h"

namespace perrin {

/// 1/sqrt(x) for x ≥ 0; finite at 0. In float it is good to about 2 units in the last place
/// on both devices and costs neither a division nor a square root: the hardware's estimate on the
/// GPU; on the CPU an estimate from the exponent (3.5 %) and two third-order Householder steps,
/// which vectorise on every instruction set and give the same bits on all that have fused
/// multiply-add.
template <class T>
PERRIN_HD T inverse_sqrt(T x) {
  // Nothing of interest is closer than 10⁻¹², and two particles at one point make no NaN.
  constexpr T least = T(1e-24);
  if constexpr (std::is_same_v<T, float>) {
#ifdef __CUDA_ARCH__
    x = x > least ? x : least;
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    // The larger one of their bits, which have the same order: where floats are compared GCC
    // evaluates for both outcomes what follows.
    const auto bits = std::max(std::bit_cast<std::int32_t>(x), std::bit_cast<std::int32_t>(least));
    x = std::bit_cast<float>(bits);
    float y = std::bit_cast<float>(0x5f3759dfu - (std::uint32_t(bits) >> 1));
    float h = 1.0f - x * y * y;
    y += y * h * (0.5f + 0.375f * h);
    h = 1.0f - x * y * y;
    y += y * h * (0.5f + 0.375f * h);
    return y;
#endif
  } else {
    x = x > least ? x : least;
    return T(1) / std::sqrt(x);
  }
}

/// 1/x for x ≥ 10⁻²⁴. In float on the GPU by way of the inverse square root,
/// which is one instruction there; on the CPU an estimate from the exponent (within 5.1 %), a
/// third-order and a second-order step: within 8·10⁻⁸, in half the time of an inverse square root.
template <class T>
PERRIN_HD T reciprocal(T x) {
  if constexpr (std::is_same_v<T, float>) {
#ifdef __CUDA_ARCH__
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    float y = std::bit_cast<float>(0x7ef311c7u - std::bit_cast<std::uint32_t>(x));
    float e = 1.0f - x * y;
    y += y * (e + e * e);
    e = 1.0f - x * y;
    return y + y * e;
#endif
  } else {
    return T(1) / x;
  }
}

/// A distance and its inverse, from the distance squared.
template <class T>
struct Distance {
  T r, inverse;

  PERRIN_HD static Distance from_square(T r2) {
    const T inverse = inverse_sqrt(r2);
    return {r2 * inverse, inverse};
  }
};

}  // namespace perrin
