// Four positions as vectors of the CPU.
#pragma once

#include <emmintrin.h>

#include "engine/system/box.h"
#include "neighbor/inline.h"

namespace perrin {

/// By coordinate: whole 16-byte words, transposed (a gather of single words takes twice as long).
/// SSE2, which every x86-64 has.
struct FourPositions {
  __m128i x, y, z, w;

  PERRIN_INLINE FourPositions(__m128i a, __m128i b, __m128i c, __m128i d) {
    const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
    const __m128i ab2 = _mm_unpackhi_epi32(a, b), cd2 = _mm_unpackhi_epi32(c, d);
    x = _mm_unpacklo_epi64(ab, cd), y = _mm_unpackhi_epi64(ab, cd);
    z = _mm_unpacklo_epi64(ab2, cd2), w = _mm_unpackhi_epi64(ab2, cd2);
  }
  static PERRIN_INLINE __m128i load(const Position* p) {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(p));
  }
  /// The vectors from `shift` to four that follow one another in memory.
  static PERRIN_INLINE FourPositions from(const Position* p, __m128i shift) {
    return {_mm_sub_epi32(load(p), shift), _mm_sub_epi32(load(p + 1), shift),
            _mm_sub_epi32(load(p + 2), shift), _mm_sub_epi32(load(p + 3), shift)};
  }
  /// The same as lengths. By reference: vectors of four doubles have no calling convention on every
  /// x86-64.
  PERRIN_INLINE void to_lengths(const Metric& m, FourReals& a, FourReals& b, FourReals& c) const {
    const auto u = __builtin_convertvector(reinterpret_cast<FourInts>(x), FourReals);
    const auto v = __builtin_convertvector(reinterpret_cast<FourInts>(y), FourReals);
    const auto t = __builtin_convertvector(reinterpret_cast<FourInts>(z), FourReals);
    a = m.xx * u + m.xy * v + m.xz * t;
    b = m.yy * v + m.yz * t;
    c = m.zz * t;
  }
};

}  // namespace perrin
