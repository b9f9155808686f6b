// Elementary functions that give the same bits on CPU and GPU, in every instruction set.
#pragma once

#include <cstdint>

#include "engine/base/real.h"

// The mathematical libraries of host and device differ in the last bits, and compilers fuse a·b + c
// on some processors but not on others. Here every fused operation is written as one, no product is
// left for a compiler to fuse, and sqrt and division are the correctly rounded ones of IEEE 754: so
// noise, and with it a trajectory's first step, is identical wherever it is computed. Polynomials
// are near-minimax fits made for this file (Chebyshev interpolation in 120-bit arithmetic).
namespace perrin::exact {

PERRIN_HD float fma(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}
PERRIN_HD double fma(double a, double b, double c) {
#ifdef __CUDA_ARCH__
  return __fma_rn(a, b, c);
#else
  return __builtin_fma(a, b, c);
#endif
}
PERRIN_HD float sqrt(float a) {
#ifdef __CUDA_ARCH__
  return __fsqrt_rn(a);
#else
  return __builtin_sqrtf(a);
#endif
}
PERRIN_HD double sqrt(double a) {
#ifdef __CUDA_ARCH__
  return __dsqrt_rn(a);
#else
  return __builtin_sqrt(a);
#endif
}
PERRIN_HD float divide(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fdiv_rn(a, b);
#else
  return a / b;
#endif
}
PERRIN_HD double divide(double a, double b) {
#ifdef __CUDA_ARCH__
  return __ddiv_rn(a, b);
#else
  return a / b;
#endif
}
/// A product that is never fused with a following addition.
PERRIN_HD float multiply(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return __builtin_fmaf(a, b, -0.0f);
#endif
}
PERRIN_HD double multiply(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return __builtin_fma(a, b, -0.0);
#endif
}

template <class To, class From>
PERRIN_HD To bits_of(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

/// Natural logarithm of a positive normal number; relative error below 2^-23 (float), 2^-52
/// (double). log(1) is 0.
PERRIN_HD float log(float u) {
  // u = m·2^e with m between sqrt(1/2) and sqrt(2); log m = f + f²·q(f) with f = m - 1.
  const std::int32_t bits = bits_of<std::int32_t>(u);
  const std::int32_t shifted = (bits - 0x3f3504f3) & std::int32_t(0xff800000u);
  const float e = float(shifted >> 23);
  const float f = bits_of<float>(bits - shifted) - 1.0f;
  float q = -0.0767364150167f;
  q = fma(q, f, 0.12722672788f);
  q = fma(q, f, -0.131275556513f);
  q = fma(q, f, 0.142048559526f);
  q = fma(q, f, -0.166266456291f);
  q = fma(q, f, 0.200012344611f);
  q = fma(q, f, -0.250007812398f);
  q = fma(q, f, 0.333333300284f);
  q = fma(q, f, -0.499999976498f);
  // e·ln 2 in two parts: the first is exact in the sum.
  const float small = fma(multiply(f, f), q, multiply(e, -2.12194440e-4f));
  return fma(e, 0.693359375f, f + small);
}
PERRIN_HD double log(double u) {
  // log m = 2 artanh(s), s = f/(2 + f); 2s = f - s·f keeps f's own bits.
  const std::int64_t bits = bits_of<std::int64_t>(u);
  const std::int64_t shifted = (bits - 0x3fe6a09e667f3bcdLL) & std::int64_t(0xfff0000000000000uLL);
  const double e = double(shifted >> 52);
  const double f = bits_of<double>(bits - shifted) - 1.0;
  const double s = divide(f, 2.0 + f);
  const double z = multiply(s, s);
  double q = 0.1308676700994817371292;
  q = fma(q, z, 0.1326875966856061268623);
  q = fma(q, z, 0.1538624020581347787918);
  q = fma(q, z, 0.1818179563088475319999);
  q = fma(q, z, 0.2222222239180046932903);
  q = fma(q, z, 0.2857142857080323001453);
  q = fma(q, z, 0.4000000000000087760633);
  q = fma(q, z, 0.6666666666666666646477);
  // f - s·(f - z·q)  =  2s + s·z·q
  const double small = fma(-s, fma(-z, q, f), multiply(e, 1.90821492927058770002e-10));
  return fma(e, 6.93147180369123816490e-1, f + small);
}

template <class T>
struct SinCos {
  T sin, cos;
};

/// Sine and cosine of 2π·turn/2^32: the argument is exact and needs no range reduction.
template <class T>
PERRIN_HD SinCos<T> sincos_turn(std::uint32_t turn);

namespace detail {
/// Turns (sin, cos) of the angle within ±π/4 into those of the whole angle.
template <class T>
PERRIN_HD SinCos<T> to_quadrant(T s, T c, std::uint32_t quadrant) {
  const bool odd = quadrant & 1u;
  const T sine = odd ? c : s, cosine = odd ? s : c;
  return {quadrant & 2u ? -sine : sine, (quadrant + 1u) & 2u ? -cosine : cosine};
}
}  // namespace detail

template <>
PERRIN_HD SinCos<float> sincos_turn<float>(std::uint32_t turn) {
  // t in [-1, 1): the angle in units of π/4 around the middle of its quadrant.
  const float t = multiply(float(std::int32_t(turn << 2)), 0x1p-31f);
  const float z = multiply(t, t);
  float s = -3.59542907251e-5f;
  s = fma(s, z, 0.00249000680149f);
  s = fma(s, z, -0.0807454347081f);
  s = multiply(fma(s, z, 0.785398160977f), t);
  float c = 3.54195272814e-6f;
  c = fma(c, z, -0.000325961380347f);
  c = fma(c, z, 0.0158543381473f);
  c = fma(c, z, -0.308425137344f);
  c = fma(c, z, 1.0f);
  return detail::to_quadrant(s, c, (turn + 0x20000000u) >> 30);
}
template <>
PERRIN_HD SinCos<double> sincos_turn<double>(std::uint32_t turn) {
  const double t = double(std::int32_t(turn << 2)) * 0x1p-31;
  const double z = multiply(t, t);
  double s = -2.022590618589011341011e-14;
  s = fma(s, z, 6.948154114367228290379e-12);
  s = fma(s, z, -1.757247420480887597503e-9);
  s = fma(s, z, 3.133616889192818361366e-7);
  s = fma(s, z, -0.00003657620418214708649144);
  s = fma(s, z, 0.002490394570192716390006);
  s = fma(s, z, -0.08074551218828078152746);
  s = multiply(fma(s, z, 0.7853981633974483096143), t);
  double c = -3.863156948832655952198e-13;
  c = fma(c, z, 1.150067970094049586498e-10);
  c = fma(c, z, -2.461136623830974229012e-8);
  c = fma(c, z, 0.000003590860447448611791913);
  c = fma(c, z, -0.0003259918869271995706397);
  c = fma(c, z, 0.01585434424381548895085);
  c = fma(c, z, -0.3084251375340424567171);
  c = fma(c, z, 1.0);
  return detail::to_quadrant(s, c, (turn + 0x20000000u) >> 30);
}

}  // namespace perrin::exact
