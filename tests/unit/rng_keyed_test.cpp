// Keyed generators: keys that differ by small integers must give unrelated numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "rng/keyed.h"

namespace perrin {
namespace {

template <class G>
class RngKeyed : public testing::Test {};
using Keyed = testing::Types<Saru, Tea, SaruTea, Philox, Threefry>;
TYPED_TEST_SUITE(RngKeyed, Keyed);

struct Key {
  std::uint64_t seed = 1, step = 1000;
  std::uint32_t a = 1, b = 0, purpose = 64;
};
template <class G>
G make(const Key& k) {
  return keyed<G>(Purpose(k.purpose), k.seed, k.step, k.a, k.b);
}
template <class G>
std::uint64_t two_words(const Key& k) {
  G g = make<G>(k);
  const std::uint64_t high = g.next();
  return high << 32 | g.next();
}

// The ways in which the keys of one run, or of two, are neighbours.
const std::vector<std::pair<const char*, void (*)(Key&, std::uint32_t)>> ways = {
    {"id", [](Key& k, std::uint32_t i) { k.a = i; }},
    {"second id", [](Key& k, std::uint32_t i) { k.b = i; }},
    {"both ids", [](Key& k, std::uint32_t i) { k.a = k.b = i; }},
    {"step", [](Key& k, std::uint32_t i) { k.step = i; }},
    {"step beyond 2^32", [](Key& k, std::uint32_t i) { k.step = (std::uint64_t(i) << 32) + 5; }},
    {"step and id", [](Key& k, std::uint32_t i) { k.step = i, k.a = i; }},
    {"step against id",
     [](Key& k, std::uint32_t i) { k.step = i, k.a = 1u << 20 | (~i & 0xfffff); }},
    {"seed", [](Key& k, std::uint32_t i) { k.seed = i; }},
    {"high word of the seed", [](Key& k, std::uint32_t i) { k.seed = std::uint64_t(i) << 32; }},
    {"seed against step", [](Key& k, std::uint32_t i) { k.seed = i, k.step = (1u << 20) - i; }},
    {"purpose", [](Key& k, std::uint32_t i) { k.purpose = i; }},
};

// Along each way: the mean, the correlation with the next two keys, and each bit's votes with
// the same bit of the next key. For fair coins the count of agreements is binomial.
TYPED_TEST(RngKeyed, NeighbouringKeysAreIndependent) {
  constexpr int n = 40000;
  for (const auto& [name, set] : ways) {
    std::vector<std::uint64_t> words(n);
    for (int i = 0; i < n; ++i) {
      Key k;
      set(k, std::uint32_t(i));
      words[i] = two_words<TypeParam>(k);
    }
    double mean = 0, lag[2] = {0, 0};
    std::vector<int> agree(64);
    const auto centred = [&](int i) { return double(words[i] >> 32) * 0x1p-32 - 0.5; };
    for (int i = 0; i < n; ++i) {
      mean += centred(i) / n;
      for (int l = 1; l <= 2; ++l)
        if (i + l < n) lag[l - 1] += centred(i) * centred(i + l) * 12 / n;
      if (i + 1 < n)
        for (int b = 0; b < 64; ++b) agree[b] += ((words[i] ^ words[i + 1]) >> b & 1) == 0;
    }
    // 5 standard deviations; 11 ways × 67 checks × 5 generators: 1 in 500 by chance, seeds fixed.
    EXPECT_NEAR(mean, 0, 5 / std::sqrt(12.0 * n)) << name;
    for (double c : lag) EXPECT_NEAR(c, 0, 5 / std::sqrt(double(n))) << name;
    for (int b = 0; b < 64; ++b) EXPECT_NEAR(agree[b], n / 2.0, 5 * std::sqrt(n) / 2) << name << b;
    // 64 bits of 40000 keys: a chance repeat has probability 4·10^-11.
    std::sort(words.begin(), words.end());
    EXPECT_EQ(std::adjacent_find(words.begin(), words.end()), words.end()) << name;
  }
}

// A flip of any one bit of step, ids, seed or purpose flips each bit of the first two numbers half
// the time.
TYPED_TEST(RngKeyed, Avalanche) {
  constexpr int n = 8000;
  for (int bit = 0; bit < 64 + 64 + 32 + 32 + 16; ++bit) {
    std::vector<int> flips(64);
    for (int i = 0; i < n; ++i) {
      Key k{7, std::uint64_t(i) / 64, std::uint32_t(i % 64), 3, 64}, q = k;
      if (bit < 64)
        q.step ^= std::uint64_t(1) << bit;
      else if (bit < 128)
        q.seed ^= std::uint64_t(1) << (bit - 64);
      else if (bit < 160)
        q.a ^= 1u << (bit - 128);
      else if (bit < 192)
        q.b ^= 1u << (bit - 160);
      else
        q.purpose ^= 1u << (bit - 192);
      const std::uint64_t difference = two_words<TypeParam>(k) ^ two_words<TypeParam>(q);
      for (int b = 0; b < 64; ++b) flips[b] += difference >> b & 1;
    }
    // A pair of keys is met twice where both are in the sample, so the variance is up to twice that
    // of n fair coins. 208 × 64 counts for each generator: 5.5 standard deviations, 1 in 2000 by
    // chance.
    for (int b = 0; b < 64; ++b)
      EXPECT_NEAR(flips[b], n / 2.0, 5.5 * std::sqrt(2.0 * n) / 2)
          << "key bit " << bit << ", bit " << b;
  }
}

// All ids of 64 successive steps: the 64-bit words are distinct (by chance, a repeat among 4·10^6
// has probability 5·10^-7), so the hash loses nothing where it is used.
TYPED_TEST(RngKeyed, NoRepeatsOverIdsAndSteps) {
  std::vector<std::uint64_t> words;
  const RunKey key(Purpose::test, 99);
  for (std::uint64_t step = 0; step < 64; ++step)
    for (std::uint32_t id = 0; id < 65536; ++id) {
      TypeParam g = keyed<TypeParam>(key, step, id);
      const std::uint64_t high = g.next();
      words.push_back(high << 32 | g.next());
    }
  std::sort(words.begin(), words.end());
  EXPECT_EQ(std::adjacent_find(words.begin(), words.end()), words.end());
}

// Birthday spacings (Marsaglia) of 2^20 days in a year of 2^64: the sorted spacings hold 2^60/2^66
// repeats on average. Related keys show here first: TEA with the bare step in its key has hundreds.
TYPED_TEST(RngKeyed, BirthdaySpacings) {
  const RunKey key(Purpose::test, 7);
  for (const std::uint32_t ids : {1u, 64u, 1u << 20}) {
    std::vector<std::uint64_t> days;
    for (std::uint32_t i = 0; i < 1u << 20; ++i) {
      TypeParam g = keyed<TypeParam>(key, i / ids, i % ids);
      const std::uint64_t high = g.next();
      days.push_back(high << 32 | g.next());
    }
    std::sort(days.begin(), days.end());
    for (std::size_t i = days.size() - 1; i > 0; --i) days[i] -= days[i - 1];
    std::sort(days.begin() + 1, days.end());
    int repeats = 0;
    for (std::size_t i = 2; i < days.size(); ++i) repeats += days[i] == days[i - 1];
    EXPECT_LE(repeats, 1) << ids;
  }
}

TYPED_TEST(RngKeyed, PairsAreSymmetricAndDirectedOnesAreNot) {
  const RunKey key(Purpose::dpd, 5);
  TypeParam ij = keyed_pair<TypeParam>(key, 3, 10, 20), ji = keyed_pair<TypeParam>(key, 3, 20, 10);
  TypeParam directed = keyed<TypeParam>(key, 3, 20, 10);
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t x = ij.next();
    EXPECT_EQ(x, ji.next());
    EXPECT_NE(x, directed.next());
  }
}

// The fault of the papers' key, step + hashed seed, which the default must not share: two seeds
// whose hashes differ by d see the same noise d steps apart.
TEST(RngKeyedPhillips, SeedsShareShiftedNoise) {
  const PhillipsKey one(1);
  PhillipsKey other = one;
  other.hashed += 17;
  EXPECT_EQ(phillips_single<Saru>(one, 117, 3).next(), phillips_single<Saru>(other, 100, 3).next());
}

TEST(RngPurpose, PluginsHaveTheirOwnRange) {
  EXPECT_EQ(std::uint32_t(plugin_purpose(0)), 0x10000u);
  EXPECT_EQ(std::uint32_t(plugin_purpose(65534, 65535)), 0xffffffffu);
  EXPECT_NE(plugin_purpose(1, 0), plugin_purpose(0, 1));
}

}  // namespace
}  // namespace perrin
