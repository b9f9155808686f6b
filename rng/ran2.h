// Ran2 of Numerical Recipes (second edition, chapter 7.1): L'Ecuyer's two combined LCGs with a
// Bays-Durham shuffle.
#pragma once

#include <cstdint>

#include "rng/distributions.h"
#include "rng/stateful.h"
#include "rng/words.h"

namespace perrin {

/// Period about 2.3·10^18. The state is idum, idum2, iy and the shuffle table of 32: 140 bytes.
/// Words is where the table is kept (words 3 to 34 of it; words 0 to 2 are the others while at
/// rest).
template <class Words>
class BasicRan2 : public Distributions<BasicRan2<Words>> {
 public:
  static constexpr int state_words = 35;

  BasicRan2() = default;
  /// The state as it rests in words.
  PERRIN_HD explicit BasicRan2(Words words) : words_(words) {
    idum_ = std::int32_t(words_[0]);
    idum2_ = std::int32_t(words_[1]);
    iy_ = std::int32_t(words_[2]);
  }
  /// Puts the state to rest.
  PERRIN_HD void save() {
    words_[0] = std::uint32_t(idum_);
    words_[1] = std::uint32_t(idum2_);
    words_[2] = std::uint32_t(iy_);
  }
  /// As the book's ran2 called with idum = -seed; 0 < seed < 2^31.
  PERRIN_HD void seed(std::uint32_t s) {
    idum_ = idum2_ = s > 0u ? std::int32_t(s) : 1;
    for (int j = table_size + 7; j >= 0; --j) {
      idum_ = first(idum_);
      if (j < table_size) words_[3 + j] = std::uint32_t(idum_);
    }
    iy_ = std::int32_t(words_[3]);
  }

  /// The book's iy: 1 to 2147483562.
  PERRIN_HD std::uint32_t next_31_bits() {
    idum_ = first(idum_);
    const std::int32_t k = idum2_ / 52774;
    idum2_ = 40692 * (idum2_ - k * 52774) - k * 3791;
    if (idum2_ < 0) idum2_ += 2147483399;
    constexpr std::int32_t division = 1 + (modulus - 1) / table_size;
    const int j = iy_ / division;
    iy_ = std::int32_t(words_[3 + j]) - idum2_;
    words_[3 + j] = std::uint32_t(idum_);
    if (iy_ < 1) iy_ += modulus - 1;
    return std::uint32_t(iy_);
  }
  PERRIN_HD std::uint32_t next() { return widen_31_bits(next_31_bits()); }

 private:
  static constexpr std::int32_t modulus = 2147483563;
  static constexpr int table_size = 32;
  /// 40014·x mod 2147483563 without overflow (Schrage).
  PERRIN_HD static std::int32_t first(std::int32_t x) {
    const std::int32_t k = x / 53668;
    x = 40014 * (x - k * 53668) - k * 12211;
    return x < 0 ? x + modulus : x;
  }

  Words words_;
  std::int32_t idum_ = 1, idum2_ = 1, iy_ = 0;
};

/// Ran2 with its state in the object.
class Ran2 : public BasicRan2<OwnWords<35>> {
 public:
  explicit Ran2(std::uint32_t s) { seed(s); }
};

}  // namespace perrin
