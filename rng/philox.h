// Philox 4x32-10: a counter-based generator (Salmon, Moraes, Dror, Shaw, SC'11, "Parallel random
// numbers: as easy as 1, 2, 3").
#pragma once

#include <cstdint>

#include "rng/distributions.h"

namespace perrin {

struct Words2 {
  std::uint32_t x = 0, y = 0;
  friend bool operator==(const Words2&, const Words2&) = default;
};
struct Words4 {
  std::uint32_t x = 0, y = 0, z = 0, w = 0;
  friend bool operator==(const Words4&, const Words4&) = default;
};

namespace detail {
PERRIN_HD std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b) {
  return std::uint32_t((std::uint64_t(a) * b) >> 32);
}
}  // namespace detail

/// The bijection of four words under a key of two words; R rounds (10 pass every test; 7 pass
/// BigCrush too, with less margin).
template <int Rounds = 10>
PERRIN_HD Words4 philox4x32(Words4 c, Words2 k) {
  for (int round = 0; round < Rounds; ++round) {
    const std::uint32_t high0 = detail::multiply_high(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x;
    const std::uint32_t high1 = detail::multiply_high(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
    c = {high1 ^ c.y ^ k.x, low1, high0 ^ c.w ^ k.y, low0};
    k.x += 0x9E3779B9u;
    k.y += 0xBB67AE85u;
  }
  return c;
}

/// A stream of the four words of philox(counter, key), then of philox(counter, key + 1), … with the
/// key taken as one 64-bit number: all four words of the counter are the caller's, and a stream
/// does not repeat within 2^66 numbers.
class Philox : public Distributions<Philox> {
 public:
  Philox() = default;
  PERRIN_HD Philox(Words4 counter, Words2 key) : counter_(counter), key_(key) {}

  PERRIN_HD std::uint32_t next() {
    if (left_ == 0) {
      out_ = philox4x32<10>(counter_, key_);
      if (++key_.y == 0) ++key_.x;
      left_ = 4;
    }
    // Shifted rather than indexed: the words stay in registers.
    const std::uint32_t word = out_.x;
    out_ = {out_.y, out_.z, out_.w, 0};
    --left_;
    return word;
  }

 private:
  Words4 counter_, out_;
  Words2 key_;
  int left_ = 0;
};

}  // namespace perrin
