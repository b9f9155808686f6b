// The published first numbers of every generator.
#include <gtest/gtest.h>

#include <vector>

#include "rng/keyed.h"
#include "rng/lagged_fibonacci.h"
#include "rng/mt607_table.h"
#include "rng/ran2.h"
#include "rng/stateful.h"

namespace perrin {
namespace {

using Numbers = std::vector<std::uint32_t>;

template <class G>
Numbers first(G g, int n = 5) {
  Numbers result;
  for (int i = 0; i < n; ++i) result.push_back(g.next());
  return result;
}

TEST(RngVectors, Saru) {
  EXPECT_EQ(first(Saru(12345)),
            (Numbers{1079710104u, 3001830119u, 2502533997u, 427346992u, 1961493165u}));
  EXPECT_EQ(first(Saru(123, 456)),
            (Numbers{2755451893u, 513691045u, 3783445201u, 3791666664u, 1290126963u}));
  EXPECT_EQ(first(Saru(123, 456, 789)),
            (Numbers{1390113115u, 1142103859u, 3925202511u, 1669827385u, 2602005188u}));
}

TEST(RngVectors, Tea) {
  EXPECT_EQ(tea<8>({1, 2}, tea_key_of_zafar()), (Words2{3590219078u, 2051381756u}));
  EXPECT_EQ(tea<8>({0, 0}, tea_key_of_zafar()), (Words2{4224205021u, 417766460u}));
}

// The known answers of Random123 (kat_vectors): zeros, ones, and the digits of pi.
TEST(RngVectors, Philox) {
  const std::uint32_t ones = 0xffffffffu;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words4{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (Words4{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
  EXPECT_EQ(
      philox4x32({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}),
      (Words4{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}));
  // The stream: the words of the block, then of the next key.
  Philox g({1, 2, 3, 4}, {5, 0xffffffffu});
  const Words4 a = philox4x32({1, 2, 3, 4}, {5, 0xffffffffu}), b = philox4x32({1, 2, 3, 4}, {6, 0});
  EXPECT_EQ(first(g, 8), (Numbers{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}));
}

TEST(RngVectors, Threefry) {
  const std::uint32_t ones = 0xffffffffu;
  EXPECT_EQ(threefry4x32({0, 0, 0, 0}, {0, 0, 0, 0}),
            (Words4{0x9c6ca96au, 0xe17eae66u, 0xfc10ecd4u, 0x5256a7d8u}));
  EXPECT_EQ(threefry4x32({ones, ones, ones, ones}, {ones, ones, ones, ones}),
            (Words4{0x2a881696u, 0x57012287u, 0xf6c7446eu, 0xa16a6732u}));
  EXPECT_EQ(threefry4x32({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u},
                         {0xa4093822u, 0x299f31d0u, 0x082efa98u, 0xec4e6c89u}),
            (Words4{0x59cd1dbbu, 0xb8879579u, 0x86b5d00cu, 0xac8b6d84u}));
}

TEST(RngVectors, HybridTaus) {
  EXPECT_EQ(first(HybridTaus(128, 129, 130, 131)),
            (Numbers{1214653444u, 2837844908u, 3324342444u, 2279264868u, 955106746u}));
}

TEST(RngVectors, Ran2) {
  Ran2 g(1);
  for (std::uint32_t iy : {612850790u, 544082547u, 200722134u, 1306737071u, 1940080159u})
    EXPECT_EQ(g.next_31_bits(), iy);
}

TEST(RngVectors, Lcg) {
  Lcg g(1);
  EXPECT_EQ(g.next(), 1664525u + 1013904223u);
  // 1664525·1015568748 + 1013904223 = 1690443820986223 mod 2^32
  EXPECT_EQ(g.next(), std::uint32_t(1664525ull * 1015568748ull + 1013904223ull));
}

TEST(RngVectors, ParkMiller) {
  ParkMiller g(1);
  std::uint32_t x = 0;
  for (int i = 0; i < 10000; ++i) x = g.next_31_bits();
  EXPECT_EQ(x, 1043618065u);
}

TEST(RngVectors, Mt19937) {
  EXPECT_EQ(first(Mt19937(5489)),
            (Numbers{3499211612u, 581869302u, 3890346734u, 3586334585u, 545404204u}));
  Mt19937 g(5489);
  std::uint32_t x = 0;
  for (int i = 0; i < 10000; ++i) x = g.next();
  EXPECT_EQ(x, 4123659995u);  // the value the C++ standard demands of std::mt19937
}

TEST(RngVectors, Mt607) {
  const auto table = mt607_table();
  EXPECT_EQ(table[0], (Mt607Parameters{0xe98e0000u, 0xddee7380u, 0x6f7a8000u}));
  EXPECT_EQ(table[1], (Mt607Parameters{0xf03e0001u, 0x32f77780u, 0xef658000u}));
  EXPECT_EQ(first(Mt607Generator(table[0], 777)),
            (Numbers{793808543u, 4038643949u, 2382843133u, 2240579559u, 1813895565u}));
}

TEST(RngVectors, LaggedFibonacci) {
  // Tiny lags by hand: x[n] = x[n-1] + x[n-3] from 1, 2, 3: 4, 6, 9, 13, 19, 28.
  LaggedFibonacci g({1, 3}, {1, 2, 3});
  EXPECT_EQ(first(g, 6), (Numbers{4, 6, 9, 13, 19, 28}));
  // With both conditions checked a row serves fewer numbers than its short lag.
  EXPECT_EQ(lags_for(1).long_lag, 4423);  // the first that passes the tests
  EXPECT_EQ(lags_for(1418).long_lag, 4423);
  EXPECT_EQ(lags_for(3000).long_lag, 9689);
  EXPECT_EQ(lags_for(1010201).long_lag, 3021377);
  for (const Lags& l : lag_table()) {
    EXPECT_GT(l.short_lag, l.parallel());
    EXPECT_GT(l.long_lag - l.short_lag, l.parallel());
  }
}

/// Polynomials over GF(2) modulo x^p + x^q + 1, lowest power first.
class Trinomial {
 public:
  Trinomial(std::size_t p, std::size_t q) : p_(p), q_(q), words_(p / 64 + 1) {}

  /// Whether x^(2^p) is x, which tells, of a p for which 2^p - 1 is prime, that the trinomial is
  /// irreducible and primitive.
  bool is_primitive() const {
    std::vector<std::uint64_t> f(words_);
    f[0] = 2;
    const auto x = f;
    for (std::size_t k = 0; k < p_; ++k) f = squared(f);
    return f == x;
  }

 private:
  std::vector<std::uint64_t> squared(const std::vector<std::uint64_t>& f) const {
    static const std::vector<std::uint16_t> spread = [] {
      std::vector<std::uint16_t> table(256);
      for (unsigned byte = 0; byte < 256; ++byte)
        for (unsigned bit = 0; bit < 8; ++bit)
          table[byte] = std::uint16_t(table[byte] | ((byte >> bit & 1u) << (2 * bit)));
      return table;
    }();
    std::vector<std::uint64_t> wide(2 * words_ + 1);
    for (std::size_t k = 0; k < words_; ++k)
      for (unsigned byte = 0; byte < 8; ++byte)
        wide[2 * k + byte / 4] |= std::uint64_t(spread[f[k] >> (8 * byte) & 255])
                                  << (16 * (byte % 4));
    // x^p is x^q + 1: what is above p comes back at 0 and at q, until nothing is.
    for (bool above = true; above;) {
      std::vector<std::uint64_t> high(words_ + 1);
      above = false;
      for (std::size_t k = 0; k < high.size(); ++k) {
        high[k] = word_at(wide, p_ + 64 * k);
        above = above || high[k] != 0;
      }
      wide[p_ / 64] &= (std::uint64_t(1) << (p_ % 64)) - 1;
      for (std::size_t k = p_ / 64 + 1; k < wide.size(); ++k) wide[k] = 0;
      for (std::size_t k = 0; k < high.size(); ++k) {
        if (high[k] == 0) continue;
        wide[k] ^= high[k];
        const std::size_t at = q_ + 64 * k;
        wide[at / 64] ^= high[k] << (at % 64);
        if (at % 64 != 0) wide[at / 64 + 1] ^= high[k] >> (64 - at % 64);
      }
    }
    wide.resize(words_);
    return wide;
  }
  static std::uint64_t word_at(const std::vector<std::uint64_t>& f, std::size_t bit) {
    const std::size_t k = bit / 64, shift = bit % 64;
    const std::uint64_t low = k < f.size() ? f[k] >> shift : 0;
    return shift != 0 && k + 1 < f.size() ? low | f[k + 1] << (64 - shift) : low;
  }
  std::size_t p_, q_, words_;
};

// The rows of more than 10^5 words would take minutes; they are in the literature's tables of
// primitive trinomials (R. P. Brent, P. Zimmermann). The paper's 12470, 23209 is reducible.
TEST(RngVectors, LagsArePrimitive) {
  EXPECT_TRUE(Trinomial(7, 1).is_primitive());
  EXPECT_FALSE(Trinomial(13, 6).is_primitive());
  for (const Lags& lags : lag_table())
    if (lags.long_lag < 100000) {
      EXPECT_TRUE(Trinomial(std::size_t(lags.long_lag), std::size_t(lags.short_lag)).is_primitive())
          << lags.long_lag;
    }
  EXPECT_FALSE(Trinomial(23209, 12470).is_primitive());
}

TEST(RngVectors, PhillipsKeys) {
  // gs = 42·0x12345677 + 0x12345, gs ^= gs >> 16, gs *= 0x45679, in 64-bit arithmetic cut to 32
  // bits.
  std::uint64_t gs = (42ull * 0x12345677ull + 0x12345ull) & 0xffffffffull;
  gs ^= gs >> 16;
  gs = (gs * 0x45679ull) & 0xffffffffull;
  const PhillipsKey key(42);
  EXPECT_EQ(key.hashed, gs);
  EXPECT_EQ(first(phillips_single<Saru>(key, 7, 3)), first(Saru(3, std::uint32_t(gs + 7))));
  EXPECT_EQ(first(phillips_pair<Saru>(key, 7, 9, 4)), first(Saru(4, 9, std::uint32_t(gs + 7))));
  // TEA: k₁ = 0xA341316C, the first word, gives way to the seed; for pairs k₁ to the step and k₂ to
  // the seed. Made with 64-bit arithmetic in Python from the definition of TEA.
  Tea single = phillips_single<Tea>(key, 7, 3), pair = phillips_pair<Tea>(key, 7, 9, 4);
  EXPECT_EQ(single.next(), 1347278952u);
  EXPECT_EQ(single.next(), 3854062092u);
  EXPECT_EQ(pair.next(), 2757717577u);
  EXPECT_EQ(pair.next(), 2075384284u);
  EXPECT_EQ(first(phillips_single<SaruTea>(key, 7, 3)),
            first(Saru::from_mixed(1347278952u, 3854062092u)));
  EXPECT_EQ(first(phillips_pair<SaruTea>(key, 7, 9, 4)),
            first(Saru::from_mixed(2757717577u, 2075384284u)));
}

}  // namespace
}  // namespace perrin
