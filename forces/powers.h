// Powers of two and logarithms to base two that vectorise on the CPU, for potentials with
// exponentials or any real exponents: x^a = exp2_of(a * log2_of(x)), exp(x) = exp2_of(x / ln 2). In
// double precision they are those of the library.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "engine/base/real.h"

namespace perrin {

/// log2(x), x > 0 and not denormal. In float within 4·10⁻⁸ of its value (polynomial, fitted to
/// (log2(1 + f)) / f for 1 + f between the square roots of 1/2 and 2) and rounding.
template <class T>
PERRIN_HD T log2_of(T x) {
#ifndef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float>) {
    constexpr std::uint32_t sqrt_half = 0x3f3504f3u;
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::int32_t exponent = std::int32_t(bits - sqrt_half) >> 23;
    const float f = std::bit_cast<float>(bits - (std::uint32_t(exponent) << 23)) - 1.0f;
    float p = 0.1292626411f;
    p = p * f - 0.2089330554f;
    p = p * f + 0.2152125090f;
    p = p * f - 0.2386758029f;
    p = p * f + 0.2879390717f;
    p = p * f - 0.3607162535f;
    p = p * f + 0.4809102714f;
    p = p * f - 0.7213472128f;
    p = p * f + 1.4426950216f;
    return float(exponent) + f * p;
  }
#endif
  return std::log2(x);
}

/// 2^x. In float within 2·10⁻⁹ of its value (polynomial for |x| ≤ 1/2) and rounding; from 2^-126 to
/// 2^100, which is returned for all that lies beyond: differences of such numbers are finite.
template <class T>
PERRIN_HD T exp2_of(T x) {
  if constexpr (std::is_same_v<T, float>) {
    x = x > -126.0f ? x : -126.0f;
    x = x < 100.0f ? x : 100.0f;
#ifndef __CUDA_ARCH__
    constexpr float to_whole = 12582912.0f;  // 1.5 · 2²³: adding it rounds to whole numbers
    const float shifted = x + to_whole;
    const float f = x - (shifted - to_whole);
    float p = 1.5478018e-4f;
    p = p * f + 1.3400431e-3f;
    p = p * f + 9.6179945e-3f;
    p = p * f + 5.5503272e-2f;
    p = p * f + 2.4022652e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1.0f;
    const auto whole = std::bit_cast<std::uint32_t>(shifted) - 0x4b400000u;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(p) + (whole << 23));
#endif
  }
  return std::exp2(x);
}

}  // namespace perrin
