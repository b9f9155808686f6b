// What random words say of a trial: numbers, places in a row, directions, rotations; and turns
// about an axis.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/base/real.h"
#include "rng/math.h"

namespace perrin::monte_carlo {

/// 0 … n - 1
PERRIN_HD std::uint32_t below(std::uint32_t n, std::uint32_t word) {
  return std::uint32_t((std::uint64_t(n) * word) >> 32);
}

/// From -most to most, each number as likely as its opposite.
template <class T>
PERRIN_HD T between(T most, std::uint32_t word) {
  return most * ((T(std::int32_t(word >> 8) - (1 << 23)) + T(0.5)) * T(0x1p-23));
}

/// Of a uniform number between 0 and 1.
PERRIN_HD float log_of(std::uint32_t word) {
  return exact::log((float(word >> 8) + 0.5f) * 0x1p-24f);
}

/// Uniform on the unit sphere: Archimedes.
template <class T>
PERRIN_HD Vec3<T> direction(std::uint32_t word, std::uint32_t other) {
  const T z = between(T(1), word), ring = std::sqrt(1 - z * z);
  const T turned = between(T(M_PI), other);
  return {ring * std::cos(turned), ring * std::sin(turned), z};
}

/// A quaternion, uniform over all rotations (K. Shoemake, in Graphics Gems III, 124 (1992)); in two
/// dimensions about z.
PERRIN_HD Real4 random_turn(std::uint32_t word, std::uint32_t other, std::uint32_t third,
                            bool flat) {
  const Real a = between(Real(M_PI), other);
  if (flat) return {0, 0, std::sin(a / 2), std::cos(a / 2)};
  const Real part = (Real(word >> 8) + Real(0.5)) * Real(0x1p-24), b = between(Real(M_PI), third);
  const Real p = std::sqrt(1 - part), q = std::sqrt(part);
  return {p * std::sin(a), p * std::cos(a), q * std::sin(b), q * std::cos(b)};
}

/// About an axis through the origin, of length 1.
template <class T>
struct Turn {
  Vec3<T> axis;
  T cosine, sine;

  PERRIN_HD Turn(const Vec3<T>& about, T angle)
      : axis(about), cosine(std::cos(angle)), sine(std::sin(angle)) {}
  /// What is added to r (O. Rodrigues).
  PERRIN_HD Vec3<T> step(const Vec3<T>& r) const {
    return (cosine - 1) * r + sine * cross(axis, r) + ((1 - cosine) * dot(axis, r)) * axis;
  }
};

}  // namespace perrin::monte_carlo
