// The small generators whose state is carried along: Hybrid Taus, the LCG (the bad example),
// Park-Miller; and the big one of the host, MT19937.
#pragma once

#include <cstdint>

#include "rng/distributions.h"

namespace perrin {

/// Three Tausworthe components and an LCG, combined by xor (L. Howes, D. Thomas, GPU Gems 3,
/// chapter 37). Its parts have 31, 29, 28 and 32 bits of state: period near 2^120. All but the
/// LCG's part is linear over GF(2): it fails binary rank and linear complexity tests in its lowest
/// bits. 16 bytes.
class HybridTaus : public Distributions<HybridTaus> {
 public:
  HybridTaus() = default;
  /// The first three must exceed 128: below, a component could be stuck at zero.
  PERRIN_HD HybridTaus(std::uint32_t z1, std::uint32_t z2, std::uint32_t z3, std::uint32_t z4)
      : z1_(z1), z2_(z2), z3_(z3), z4_(z4) {}
  PERRIN_HD static bool valid_seed(std::uint32_t z) { return z > 128u; }

  PERRIN_HD std::uint32_t next() {
    z1_ = tausworthe(z1_, 13, 19, 12, 4294967294u);
    z2_ = tausworthe(z2_, 2, 25, 4, 4294967288u);
    z3_ = tausworthe(z3_, 3, 11, 17, 4294967280u);
    z4_ = 1664525u * z4_ + 1013904223u;
    return z1_ ^ z2_ ^ z3_ ^ z4_;
  }
  PERRIN_HD std::uint32_t state(int i) const {
    return i == 0 ? z1_ : i == 1 ? z2_ : i == 2 ? z3_ : z4_;
  }

 private:
  PERRIN_HD static std::uint32_t tausworthe(std::uint32_t z, int s1, int s2, int s3,
                                            std::uint32_t mask) {
    return ((z & mask) << s3) ^ (((z << s1) ^ z) >> s2);
  }
  std::uint32_t z1_ = 129, z2_ = 129, z3_ = 129, z4_ = 0;
};

/// x → 1664525·x + 1013904223 mod 2^32 (Numerical Recipes' "quick and dirty"). Bit k has period
/// 2^(k+1): kept as the example of what a bad generator does to a simulation. 4 bytes.
class Lcg : public Distributions<Lcg> {
 public:
  static constexpr std::uint64_t period = std::uint64_t(1) << 32;
  Lcg() = default;
  PERRIN_HD explicit Lcg(std::uint32_t seed) : x_(seed) {}
  PERRIN_HD std::uint32_t next() { return x_ = 1664525u * x_ + 1013904223u; }
  PERRIN_HD std::uint32_t state() const { return x_; }

 private:
  std::uint32_t x_ = 0;
};

/// A number of 31 bits, 0 < x < 2^31, as a word: shifted up, the highest bit repeated at the
/// bottom.
PERRIN_HD std::uint32_t widen_31_bits(std::uint32_t x) { return (x << 1) | (x >> 30); }

/// x → 16807·x mod 2^31 - 1, the "minimal standard" (Park, Miller, CACM 31 (1988) 1192). 4 bytes.
class ParkMiller : public Distributions<ParkMiller> {
 public:
  static constexpr std::uint32_t modulus = 2147483647u;
  static constexpr std::uint64_t period = modulus - 1;
  ParkMiller() = default;
  /// 0 < seed < 2^31 - 1.
  PERRIN_HD explicit ParkMiller(std::uint32_t seed) : x_(seed) {}

  /// The number itself, 31 bits.
  PERRIN_HD std::uint32_t next_31_bits() {
    // p = high·2^31 + low = high + low modulo 2^31 - 1.
    const std::uint64_t p = std::uint64_t(16807) * x_;
    const std::uint32_t sum = std::uint32_t(p >> 31) + (std::uint32_t(p) & modulus);
    return x_ = sum >= modulus ? sum - modulus : sum;
  }
  PERRIN_HD std::uint32_t next() { return widen_31_bits(next_31_bits()); }
  PERRIN_HD std::uint32_t state() const { return x_; }

 private:
  std::uint32_t x_ = 1;
};

/// The Mersenne twister of 19937 bits (Matsumoto, Nishimura, ACM TOMACS 8 (1998) 3); for the host.
class Mt19937 : public Distributions<Mt19937> {
 public:
  explicit Mt19937(std::uint32_t seed = 5489u) {
    x_[0] = seed;
    for (int i = 1; i < n; ++i)
      x_[i] = 1812433253u * (x_[i - 1] ^ (x_[i - 1] >> 30)) + std::uint32_t(i);
  }
  std::uint32_t next() {
    const int i = position_, i1 = i + 1 < n ? i + 1 : 0, im = i + m < n ? i + m : i + m - n;
    const std::uint32_t y = (x_[i] & 0x80000000u) | (x_[i1] & 0x7fffffffu);
    x_[i] = x_[im] ^ (y >> 1) ^ ((0u - (y & 1u)) & 0x9908b0dfu);
    position_ = i1;
    std::uint32_t v = x_[i];
    v ^= v >> 11;
    v ^= (v << 7) & 0x9d2c5680u;
    v ^= (v << 15) & 0xefc60000u;
    return v ^ (v >> 18);
  }

  /// Whether this can be a state: that of a checkpoint may be anything. Of the first word one bit
  /// counts.
  bool valid() const {
    std::uint32_t any = x_[0] & 0x80000000u;
    for (int i = 1; i < n; ++i) any |= x_[i];
    return any != 0 && position_ >= 0 && position_ < n;
  }

 private:
  static constexpr int n = 624, m = 397;
  std::uint32_t x_[n] = {};
  int position_ = 0;
};

}  // namespace perrin
