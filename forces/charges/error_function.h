// exp(-x) and erfc(x) exp(x²) of numbers that are not negative, without branches: GCC makes vectors
// of them on the CPU, which it does not of std::exp and std::erfc.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "engine/base/real.h"
#include "forces/device_math.h"

namespace perrin {

/// exp(-x), x ≥ 0. In float on the CPU within 1.2e-7 of the value, 0 beyond x = 87.
template <class T>
PERRIN_HD T decay(T x) {
#ifndef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float>) {
    // exp(-x) = 2^k exp(f), |f| ≤ log(2)/2. Adding `round` leaves k in the lowest bits.
    constexpr float round = 12582912.0f;
    const float y = x < 87.0f ? -x : -87.0f;
    const float shifted = y * 1.44269504f + round;
    const float k = shifted - round;
    const float f = (y - k * 0.693145752f) - k * 1.42860677e-6f;
    const float e =
        1.0f +
        f * (1.0f +
             f * (0.5f + f * (0.166666672f +
                              f * (0.0416664928f + f * (0.00833345205f + f * 0.00139333226f)))));
    const auto scale = (std::bit_cast<std::uint32_t>(shifted) << 23) + 0x3f800000u;
    return x < 87.0f ? e * std::bit_cast<float>(scale) : 0.0f;
  }
#endif
  return std::exp(-x);
}

namespace detail {

template <class T, std::size_t N>
PERRIN_HD T polynomial(const T (&c)[N], T x) {
  T sum = c[N - 1];
  for (std::size_t k = N - 1; k-- > 0;) sum = sum * x + c[k];
  return sum;
}

}  // namespace detail

/// erfc(x) exp(x²), x ≥ 0: (1 + 2x) times it is a series in (x - 3.75)/(x + 3.75), of which float
/// takes 12 terms (within 2e-7 of the value) and double 23 (5e-16). The variable is that of M. M.
/// Shepherd, J. G. Laframboise, Math. Comput. 36, 249 (1981); the coefficients were fitted by
/// Chebyshev interpolation in 40 digits.
template <class T>
PERRIN_HD T scaled_erfc(T x) {
  const T above = T(1) + T(2) * x, far = x + T(3.75);
  const T inverse = reciprocal(above * far);
  const T t = T(1) - T(7.5) * (above * inverse);
  if constexpr (std::is_same_v<T, float>) {
    constexpr float c[] = {1.23751259f,     -0.140240654f,  0.00358627038f,  0.082278423f,
                           -0.108814269f,   0.0922907665f,  -0.0586468577f,  0.0284092519f,
                           -0.00984449498f, 0.00167591218f, 0.000396307616f, -0.000224116753f};
    return detail::polynomial(c, t) * (far * inverse);
  } else {
    constexpr double c[] = {
        1.23751263083782748,     -0.140240598585545245,   0.00358541548547902569,
        0.0822767384899950605,   -0.108803930142444619,   0.09230432116428125,
        -0.0586933985766493402,  0.0283622773721111388,   -0.00974657968326526208,
        0.00175562616519706516,  0.000293714378044958009, -0.000290155352460776551,
        5.16465297417741622e-5,  2.23875657149118162e-5,  -1.14380480333468935e-5,
        -9.79262570730352307e-7, 1.74198215862248163e-6,  -5.08446537868730227e-8,
        -2.48571262480167447e-7, 1.87908232237004807e-8,  3.19792667166680421e-8,
        -1.95513588689856159e-9, -2.62310734713347593e-9};
    return detail::polynomial(c, t) * (far * inverse);
  }
}

}  // namespace perrin
