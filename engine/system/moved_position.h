// A position moved by a displacement, as fixed-point numbers round it.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/base/real.h"

namespace perrin {

/// The nearest integer of a number below 2^31 in size.
PERRIN_HD std::int32_t round_to_int(float x) {
#ifdef __CUDA_ARCH__
  return __float2int_rn(x);
#else
  return static_cast<std::int32_t>(std::lrint(x));
#endif
}
PERRIN_HD std::int32_t round_to_int(double x) {
#ifdef __CUDA_ARCH__
  return __double2int_rn(x);
#else
  return static_cast<std::int32_t>(std::lrint(x));
#endif
}

/// a - b, rounded once: never made part of a product.
PERRIN_HD float difference(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fsub_rn(a, b);
#else
  return a - b;
#endif
}
PERRIN_HD double difference(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dsub_rn(a, b);
#else
  return a - b;
#endif
}

/// A displacement along an axis (fixed-point units) as whole units. What is left of it goes to the
/// remainder, in units of 2^-8: a displacement and its opposite come back to the same place.
PERRIN_HD std::int32_t whole_units(Real by, std::int32_t& remainder) {
  const std::int32_t whole = round_to_int(by);
  remainder += round_to_int(Real(256) * difference(by, Real(whole)));
  const std::int32_t carry = (remainder + 128) >> 8;  // rounded down
  remainder -= carry * 256;
  return whole + carry;
}

/// A position moved by a displacement in fixed-point units (w is 0), axis by axis.
PERRIN_HD Position moved_by_axes(Position p, const Real4& by) {
  std::int32_t rx = p.remainder(0), ry = p.remainder(1), rz = p.remainder(2);
  p.x += std::uint32_t(whole_units(by.x, rx));
  p.y += std::uint32_t(whole_units(by.y, ry));
  p.z += std::uint32_t(whole_units(by.z, rz));
  p.set_remainders(rx, ry, rz);
  return p;
}

/// What the periodic face crossed on the way counts, if there is one. Whole units and carry never
/// go against the displacement: remainders are rounded in one direction wherever a particle comes
/// from.
PERRIN_HD std::int32_t crossing(std::uint32_t before, std::uint32_t after, Real by) {
  return by >= 0 ? (after < before ? 1 : 0) : (after > before ? -1 : 0);
}

}  // namespace perrin
