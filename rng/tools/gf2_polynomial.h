// Polynomials over GF(2) of degree up to 639, for finding and checking Mersenne twisters of 607
// bits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace perrin::gf2 {

constexpr int words = 10;
/// Bit i of the whole is the coefficient of x^i.
struct Polynomial : std::array<std::uint64_t, words> {};

inline bool coefficient(const Polynomial& p, int i) { return (p[i / 64] >> (i % 64)) & 1; }
inline void flip(Polynomial& p, int i) { p[i / 64] ^= std::uint64_t(1) << (i % 64); }
inline Polynomial operator^(Polynomial a, const Polynomial& b) {
  for (int k = 0; k < words; ++k) a[k] ^= b[k];
  return a;
}
inline int degree(const Polynomial& p) {
  for (int k = words - 1; k >= 0; --k)
    if (p[k]) return 64 * k + 63 - std::countl_zero(p[k]);
  return -1;
}
/// a·x^bits; what leaves the 640 bits is lost.
inline Polynomial shifted(const Polynomial& a, int bits) {
  Polynomial r{};
  const int whole = bits / 64, part = bits % 64;
  for (int k = words - 1; k >= whole; --k) {
    r[k] = a[k - whole] << part;
    if (part && k - whole - 1 >= 0) r[k] |= a[k - whole - 1] >> (64 - part);
  }
  return r;
}
/// The product, which must fit.
inline Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  Polynomial r{};
  for (int i = 0, n = degree(b); i <= n; ++i)
    if (coefficient(b, i)) r = r ^ shifted(a, i);
  return r;
}
/// a modulo a polynomial of degree ≤ 31 given as bits.
inline std::uint32_t remainder(const Polynomial& a, std::uint32_t modulus) {
  const int d = 31 - std::countl_zero(modulus);
  std::uint32_t r = 0;
  for (int i = degree(a); i >= 0; --i) {
    r = (r << 1) | std::uint32_t(coefficient(a, i));
    if (r >> d & 1) r ^= modulus;
  }
  return r;
}

/// Squares polynomials modulo p. Squaring is linear: the image of each group of four coefficients
/// is looked up in a table of 16.
class Squarer {
 public:
  explicit Squarer(const Polynomial& p) : degree_(degree(p)) {
    Polynomial power{{1}};  // x^(2i) mod p
    for (int i = 0; i < degree_; ++i) {
      auto& group = table_[i / 4];
      const int bit = 1 << (i % 4);
      for (int k = 0; k < bit; ++k) group[bit + k] = group[k] ^ power;
      for (int twice = 0; twice < 2; ++twice) {
        power = shifted(power, 1);
        if (coefficient(power, degree_)) power = power ^ p;
      }
    }
  }
  Polynomial operator()(const Polynomial& a) const {
    Polynomial r{};
    for (int group = 0; 4 * group < degree_; ++group) {
      const Polynomial& image = table_[group][(a[group / 16] >> (group % 16 * 4)) & 15];
      for (int k = 0; k < words; ++k) r[k] ^= image[k];
    }
    return r;
  }

 private:
  int degree_;
  std::array<std::array<Polynomial, 16>, 16 * words> table_{};
};

/// Whether p, of prime degree d ≥ 3, is irreducible: x^(2^d) = x modulo p, so every factor's degree
/// divides d and is 1 or d, and p has no factor x or x + 1. Where 2^d - 1 is prime, as for d = 607,
/// p then is primitive.
inline bool irreducible_of_prime_degree(const Polynomial& p) {
  int ones = 0;
  for (std::uint64_t w : p) ones += std::popcount(w);
  if (!coefficient(p, 0) || ones % 2 == 0) return false;
  const Squarer square(p);
  const Polynomial x{{2}};
  Polynomial power = x;
  for (int i = 0, d = degree(p); i < d; ++i) power = square(power);
  return power == x;
}

/// The shortest linear recurrence of a bit sequence (Berlekamp and Massey). Returns its length L;
/// for L ≤ 639 `recurrence` receives the characteristic polynomial, of degree L.
inline int berlekamp_massey(const std::vector<std::uint8_t>& bits,
                            Polynomial* recurrence = nullptr) {
  // Connection polynomials as words; `window` holds the latest bits, newest at position 0.
  const std::size_t n = bits.size(), size = n / 64 + 2;
  std::vector<std::uint64_t> current(size), previous(size), copy, window(size);
  current[0] = previous[0] = 1;
  int length = 0;
  std::size_t gap = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t used = std::size_t(length) / 64 + 1;
    for (std::size_t k = size - 1; k > 0; --k) window[k] = window[k] << 1 | window[k - 1] >> 63;
    window[0] = window[0] << 1 | bits[i];
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < used; ++k) sum ^= current[k] & window[k];
    if (std::popcount(sum) % 2 == 0) {
      ++gap;
      continue;
    }
    const bool longer = 2 * std::size_t(length) <= i;
    if (longer) copy = current;
    const std::size_t whole = gap / 64, part = gap % 64;
    for (std::size_t k = whole; k < size; ++k) {
      std::uint64_t w = previous[k - whole] << part;
      if (part && k > whole) w |= previous[k - whole - 1] >> (64 - part);
      current[k] ^= w;
    }
    if (longer) {
      length = int(i) + 1 - length;
      previous = copy;
      gap = 1;
    } else {
      ++gap;
    }
  }
  if (recurrence && length < 64 * words) {
    *recurrence = {};
    for (int i = 0; i <= length; ++i)
      if (current[std::size_t(i) / 64] >> (i % 64) & 1) flip(*recurrence, length - i);
  }
  return length;
}

}  // namespace perrin::gf2
