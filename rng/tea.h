// TEA with 8 cycles as a hash, and Saru seeded by it (Zafar, Olano, Curtis, HPG 2010, "GPU random
// numbers via the Tiny Encryption Algorithm"; SaruTEA: Phillips, Anderson, Glotzer 2011).
#pragma once

#include <cstdint>

#include "rng/philox.h"
#include "rng/saru.h"

namespace perrin {

/// The key of Zafar et al. where a caller has no better one.
PERRIN_HD constexpr Words4 tea_key_of_zafar() {
  return {0xA341316Cu, 0xC8013EA4u, 0xAD90777Du, 0x7E95761Eu};
}

/// The Tiny Encryption Algorithm: `Cycles` full Feistel cycles on two words under a key of four.
template <int Cycles = 8>
PERRIN_HD Words2 tea(Words2 v, Words4 key) {
  std::uint32_t sum = 0;
  for (int cycle = 0; cycle < Cycles; ++cycle) {
    sum += 0x9E3779B9u;
    v.x += ((v.y << 4) + key.x) ^ (v.y + sum) ^ ((v.y >> 5) + key.y);
    v.y += ((v.x << 4) + key.z) ^ (v.x + sum) ^ ((v.x >> 5) + key.w);
  }
  return v;
}

/// A stream of the two words of tea8(block, key), then of the same block under the next key, and so
/// on: 2^65 numbers. The next key has a constant of many bits added to word y (a small step would
/// leave the results related), and 1 to word x whenever that has gone round.
class Tea : public Distributions<Tea> {
 public:
  Tea() = default;
  PERRIN_HD Tea(Words2 block, Words4 key) : block_(block), key_(key) {}

  PERRIN_HD std::uint32_t next() {
    if (!half_) {
      out_ = tea<8>(block_, key_);
      key_.y += 0xBB67AE85u;
      if (++blocks_ == 0) ++key_.x;
    }
    half_ = !half_;
    return half_ ? out_.x : out_.y;
  }

 private:
  Words2 block_, out_;
  Words4 key_;
  std::uint32_t blocks_ = 0;
  bool half_ = false;  // the second word of out_ is still to be given out
};

/// The Saru stream, its state being the two words of TEA8 (instead of Saru's own, weaker but faster
/// key hash).
class SaruTea : public Distributions<SaruTea> {
 public:
  SaruTea() = default;
  PERRIN_HD SaruTea(Words2 block, Words4 key) {
    const Words2 mixed = tea<8>(block, key);
    saru_ = Saru::from_mixed(mixed.x, mixed.y);
  }
  PERRIN_HD std::uint32_t next() { return saru_.next(); }

 private:
  Saru saru_;
};

}  // namespace perrin
