// Saru: a small keyed generator with 64 bits of state (S. Worley; described in Phillips, Anderson,
// Glotzer, J. Comput. Phys. 230 (2011) 7191).
#pragma once

#include <cstdint>

#include "rng/distributions.h"

namespace perrin {

/// Keyed by one, two or three words; then a stream of 32-bit words. The state is an LCG `s` (period
/// 2^32) and a Weyl-like sequence `w` (period 3666320093): together about 2^63.8 numbers.
/// About 40 integer instructions to key it with three words, 10 for each number.
class Saru : public Distributions<Saru> {
 public:
  Saru() = default;
  PERRIN_HD explicit Saru(std::uint32_t a) {
    s_ = 0x79dedea3u * (a ^ arithmetic_shift(a, 14));
    w_ = a ^ arithmetic_shift(s_, 8);
    finish();
  }
  PERRIN_HD Saru(std::uint32_t a, std::uint32_t b) {
    b += a << 16;
    a += b << 11;
    b += arithmetic_shift(a, 7);
    a ^= arithmetic_shift(b, 3);
    b *= 0xA5366B4Du;
    b ^= b >> 10;
    b ^= arithmetic_shift(b, 19);
    a += b ^ 0x6d2d4e11u;
    combine(a, b);
  }
  PERRIN_HD Saru(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    c ^= (a << 7) ^ (b >> 6);
    b += (a >> 4) ^ (c >> 15);
    a ^= (b << 9) + (c << 8);
    c ^= 0xA5366B4Du * ((b >> 11) ^ (a << 1));
    b += 0x72BE1579u * ((a << 4) ^ (c >> 16));
    a ^= 0x3F38A6EDu * ((c >> 5) ^ arithmetic_shift(b, 22));
    b += a * c;
    a += c ^ (b >> 2);
    b ^= arithmetic_shift(b, 17);
    combine(a, b);
  }
  /// From a state given out by state_s(), state_w().
  PERRIN_HD static Saru from_state(std::uint32_t s, std::uint32_t w) {
    Saru g;
    g.s_ = s;
    g.w_ = w;
    return g;
  }
  /// From two words that are already well mixed (of TEA, Philox …): any words will do; the highest
  /// bit of the second makes room for the bound of w.
  PERRIN_HD static Saru from_mixed(std::uint32_t s, std::uint32_t w) {
    return from_state(s, bounded(w));
  }

  PERRIN_HD std::uint32_t next() {
    s_ = 0x4beb5d59u * s_ + 0x2600e1f7u;
    // asr(w,31) & K written as a product; see highest_bit.
    w_ = (w_ + 0x8009d14bu) + highest_bit(w_) * 0xda879addu;
    const std::uint32_t v = (s_ ^ (s_ >> 26)) + w_;
    return (v ^ (v >> 20)) * 0x6957f5a7u;
  }

  PERRIN_HD std::uint32_t state_s() const { return s_; }
  PERRIN_HD std::uint32_t state_w() const { return w_; }

 private:
  /// x >> 31, for a product. On the GPU in assembly, lest the compiler turn the product back into
  /// a mask: Saru is bound by the unit that shifts and combines bits, while the multipliers have
  /// time. Measured on an H200: 2.8·10^12 numbers/s, against 2.1 with the mask and 2.2 to 2.3 with
  /// shifts as high halves of products, which occupy the multipliers twice.
  PERRIN_HD static std::uint32_t highest_bit(std::uint32_t x) {
#ifdef __CUDA_ARCH__
    std::uint32_t bit;
    asm("shr.u32 %0, %1, 31;" : "=r"(bit) : "r"(x));
    return bit;
#else
    return x >> 31;
#endif
  }
  PERRIN_HD static std::uint32_t arithmetic_shift(std::uint32_t x, int bits) {
    return std::uint32_t(std::int32_t(x) >> bits);
  }
  // w lives in a range of 3666320093 values, which its recurrence walks through one by one.
  PERRIN_HD static std::uint32_t bounded(std::uint32_t w) { return 0xABCB96F7u + (w >> 1); }
  PERRIN_HD void combine(std::uint32_t a, std::uint32_t b) {
    s_ = 0x79dedea3u * (a ^ arithmetic_shift(a, 14));
    w_ = (s_ + b) ^ arithmetic_shift(s_, 8);
    finish();
  }
  PERRIN_HD void finish() {
    s_ += w_ * (w_ ^ 0xdddf97f5u);
    w_ = bounded(w_);
  }

  std::uint32_t s_ = 0, w_ = 0;
};

}  // namespace perrin
