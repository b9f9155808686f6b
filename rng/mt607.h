// MT607: Mersenne twisters with 607 bits of state, each with parameters of its own (Matsumoto,
// Nishimura, "Dynamic creation of pseudorandom number generators", MCQMC 1998, Springer 2000).
#pragma once

#include <cstdint>

#include "rng/distributions.h"
#include "rng/words.h"

namespace perrin {

/// Twist matrix a (its low half is the number of the generator) and tempering masks b and c.
struct Mt607Parameters {
  std::uint32_t a = 0, b = 0, c = 0;
  friend bool operator==(const Mt607Parameters&, const Mt607Parameters&) = default;
};

/// The recurrence, its seeding and tempering; where the state is kept is the caller's affair.
struct Mt607 {
  static constexpr int bits = 607;
  static constexpr int n = 19, m = 9, r = 1;
  static constexpr int shift_u = 12, shift_b = 7, shift_c = 15, shift_l = 18;

  /// x[k+n] from x[k], x[k+1], x[k+m].
  PERRIN_HD static std::uint32_t twist(std::uint32_t x0, std::uint32_t x1, std::uint32_t xm,
                                       std::uint32_t a) {
    const std::uint32_t y = (x0 & (~0u << r)) | (x1 & ~(~0u << r));
    return xm ^ (y >> 1) ^ ((0u - (y & 1u)) & a);
  }
  PERRIN_HD static std::uint32_t temper(std::uint32_t y, const Mt607Parameters& p) {
    y ^= y >> shift_u;
    y ^= (y << shift_b) & p.b;
    y ^= (y << shift_c) & p.c;
    return y ^ (y >> shift_l);
  }
  /// x[i] of the state for a seed, from x[i-1]; x[0] is the seed.
  PERRIN_HD static std::uint32_t seed_next(std::uint32_t previous, int i) {
    return 1812433253u * (previous ^ (previous >> 30)) + std::uint32_t(i);
  }
};

/// One such generator. Words is where its state is kept: x[0] … x[18] and the position in it.
template <class Words>
class BasicMt607 : public Distributions<BasicMt607<Words>> {
 public:
  static constexpr int state_words = Mt607::n + 1;

  BasicMt607() = default;
  /// The state as it rests in words.
  PERRIN_HD BasicMt607(const Mt607Parameters& p, Words words)
      : parameters_(p), words_(words), position_(int(words_[Mt607::n])) {}
  /// Puts the state to rest.
  PERRIN_HD void save() { words_[Mt607::n] = std::uint32_t(position_); }
  PERRIN_HD void seed(std::uint32_t s) {
    words_[0] = s;
    for (int i = 1; i < Mt607::n; ++i) words_[i] = s = Mt607::seed_next(s, i);
    position_ = 0;
  }

  PERRIN_HD std::uint32_t next() {
    const int i = position_;
    const int i1 = i + 1 < Mt607::n ? i + 1 : 0;
    const int im = i + Mt607::m < Mt607::n ? i + Mt607::m : i + Mt607::m - Mt607::n;
    const std::uint32_t x = Mt607::twist(words_[i], words_[i1], words_[im], parameters_.a);
    words_[i] = x;
    position_ = i1;
    return Mt607::temper(x, parameters_);
  }

 private:
  Mt607Parameters parameters_;
  Words words_;
  int position_ = 0;
};

/// The numbers of BasicMt607, bit for bit, with the state in registers, for kernels that draw many:
/// the first word is always the oldest, and every number moves all words by one place. (An array
/// that is indexed by what a thread has drawn would lie in memory on a GPU, and threads of a warp
/// have drawn different amounts.)
class Mt607Registers : public Distributions<Mt607Registers> {
 public:
  Mt607Registers() = default;
  /// From the state that BasicMt607 puts to rest.
  template <class Words>
  PERRIN_HD Mt607Registers(const Mt607Parameters& p, Words words) : parameters_(p) {
    const int position = int(words[Mt607::n]);
#pragma unroll
    for (int i = 0; i < Mt607::n; ++i) {
      const int k = position + i;
      word_[i] = words[k < Mt607::n ? k : k - Mt607::n];
    }
  }
  /// Puts the state to rest, the oldest word first: to BasicMt607 it is the same state.
  template <class Words>
  PERRIN_HD void save(Words words) const {
#pragma unroll
    for (int i = 0; i < Mt607::n; ++i) words[i] = word_[i];
    words[Mt607::n] = 0;
  }

  PERRIN_HD std::uint32_t next() {
    const std::uint32_t x = Mt607::twist(word_[0], word_[1], word_[Mt607::m], parameters_.a);
#pragma unroll
    for (int i = 0; i + 1 < Mt607::n; ++i) word_[i] = word_[i + 1];
    word_[Mt607::n - 1] = x;
    return Mt607::temper(x, parameters_);
  }

 private:
  Mt607Parameters parameters_;
  std::uint32_t word_[Mt607::n] = {};
};

/// A generator with its state in the object. Period 2^607 - 1 for the parameters of
/// mt607_parameters().
class Mt607Generator : public BasicMt607<OwnWords<Mt607::n + 1>> {
 public:
  Mt607Generator(const Mt607Parameters& p, std::uint32_t s) : BasicMt607(p, {}) { seed(s); }
};

}  // namespace perrin
