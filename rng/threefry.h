// Threefry 4x32-20 (Salmon, Moraes, Dror, Shaw, SC'11): additions, rotations and xors only.
#pragma once

#include <cstdint>

#include "rng/distributions.h"
#include "rng/philox.h"

namespace perrin {

namespace detail {
template <int Bits>
PERRIN_HD void threefry_mix(std::uint32_t& a, std::uint32_t& b) {
  a += b;
  b = (b << Bits) | (b >> (32 - Bits));
  b ^= a;
}
}  // namespace detail

/// The bijection of four words under a key of four; 20 rounds, a key injection after every fourth.
PERRIN_HD Words4 threefry4x32(Words4 c, Words4 key) {
  const std::uint32_t k[5] = {key.x, key.y, key.z, key.w,
                              0x1BD11BDAu ^ key.x ^ key.y ^ key.z ^ key.w};
  c = {c.x + k[0], c.y + k[1], c.z + k[2], c.w + k[3]};
  for (int injection = 1; injection <= 5; ++injection) {
    // The rotations alternate between two sets of four rounds; even rounds mix (x,y) and (z,w), odd
    // ones (x,w) and (z,y).
    if (injection % 2 == 1) {
      detail::threefry_mix<10>(c.x, c.y), detail::threefry_mix<26>(c.z, c.w);
      detail::threefry_mix<11>(c.x, c.w), detail::threefry_mix<21>(c.z, c.y);
      detail::threefry_mix<13>(c.x, c.y), detail::threefry_mix<27>(c.z, c.w);
      detail::threefry_mix<23>(c.x, c.w), detail::threefry_mix<5>(c.z, c.y);
    } else {
      detail::threefry_mix<6>(c.x, c.y), detail::threefry_mix<20>(c.z, c.w);
      detail::threefry_mix<17>(c.x, c.w), detail::threefry_mix<11>(c.z, c.y);
      detail::threefry_mix<25>(c.x, c.y), detail::threefry_mix<10>(c.z, c.w);
      detail::threefry_mix<18>(c.x, c.w), detail::threefry_mix<20>(c.z, c.y);
    }
    c.x += k[injection % 5];
    c.y += k[(injection + 1) % 5];
    c.z += k[(injection + 2) % 5];
    c.w += k[(injection + 3) % 5] + std::uint32_t(injection);
  }
  return c;
}

/// A stream of threefry(counter, key), (counter, key + 1), … carried from key word y into x.
class Threefry : public Distributions<Threefry> {
 public:
  Threefry() = default;
  PERRIN_HD Threefry(Words4 counter, Words4 key) : counter_(counter), key_(key) {}

  PERRIN_HD std::uint32_t next() {
    if (left_ == 0) {
      out_ = threefry4x32(counter_, key_);
      if (++key_.y == 0) ++key_.x;
      left_ = 4;
    }
    const std::uint32_t word = out_.x;
    out_ = {out_.y, out_.z, out_.w, 0};
    --left_;
    return word;
  }

 private:
  Words4 counter_, out_, key_;
  int left_ = 0;
};

}  // namespace perrin
