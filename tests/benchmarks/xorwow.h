// XORWOW, the default generator of cuRAND, for the benchmarks that are held against papers which
// used it: G. Marsaglia, "Xorshift RNGs", J. Stat. Softw. 8, 14 (2003), section 3.1.
#pragma once

#include <cstdint>

#include "rng/distributions.h"
#include "rng/per_particle.h"

namespace perrin {

/// A xorshift of five words added to a Weyl sequence: period 2^192 - 2^32. 24 bytes.
class Xorwow : public Distributions<Xorwow> {
 public:
  static constexpr int state_words = 6;
  /// Not all of the first five words 0.
  PERRIN_HD explicit Xorwow(StridedWords w) {
    for (int i = 0; i < state_words; ++i) word_[i] = w[i];
  }
  PERRIN_HD std::uint32_t next() {
    std::uint32_t t = word_[0] ^ (word_[0] >> 2);
    for (int i = 0; i < 4; ++i) word_[i] = word_[i + 1];
    t ^= t << 1;
    word_[4] ^= (word_[4] << 4) ^ t;
    word_[5] += 362437u;
    return word_[4] + word_[5];
  }
  PERRIN_HD void save(StridedWords w) const {
    for (int i = 0; i < state_words; ++i) w[i] = word_[i];
  }

 private:
  std::uint32_t word_[state_words];
};

template <>
struct PerParticle<Xorwow> : PerParticleDefaults {
  static constexpr const char* name = "xorwow";
  static constexpr int words = Xorwow::state_words;
  using Local = Xorwow;
  static void seed(std::uint32_t* own, Philox& source) {
    for (int i = 0; i < words; ++i) own[i] = source.next();
    own[0] |= 1u;
  }
  PERRIN_HD static Local load(StridedWords w, const std::uint32_t*, std::uint32_t) {
    return Local(w);
  }
  PERRIN_HD static int save(StridedWords w, Local& g) {
    g.save(w);
    return 0;
  }
};

}  // namespace perrin
