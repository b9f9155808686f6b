// The algebra behind MT607, and the shipped table.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "rng/mt607_table.h"
#include "rng/stateful.h"
#include "rng/tools/mt607_search.h"

namespace perrin {
namespace {

// The same numbers from wherever the state has come to, and the same state afterwards.
TEST(RngMt607, RegistersDrawTheSameNumbers) {
  for (int before = 0; before < 2 * Mt607::n; ++before) {
    const Mt607Parameters p = mt607_table()[std::size_t(before)];
    std::uint32_t memory[Mt607::n + 1], other[Mt607::n + 1];
    BasicMt607<StridedWords> reference(p, StridedWords{memory, 1});
    reference.seed(777);
    for (int k = 0; k < before; ++k) reference.next();
    reference.save();
    std::copy(memory, memory + Mt607::n + 1, other);
    Mt607Registers registers(p, StridedWords{other, 1});
    for (int k = 0; k < 3 * before + 5; ++k) ASSERT_EQ(registers.next(), reference.next());
    registers.save(StridedWords{other, 1});
    BasicMt607<StridedWords> again(p, StridedWords{other, 1});
    for (int k = 0; k < 100; ++k) ASSERT_EQ(again.next(), reference.next());
  }
}

std::vector<std::uint8_t> bits_of_outputs(const Mt607Parameters& p, int bit, int n) {
  Mt607Generator g(p, 4242);
  for (int i = 0; i < Mt607::n; ++i) g.next();  // past the seed, which has one bit too many
  std::vector<std::uint8_t> bits;
  for (int i = 0; i < n; ++i) bits.push_back(g.next() >> bit & 1);
  return bits;
}

TEST(RngGf2, BerlekampMasseyFindsRecurrences) {
  // A register of length 5 (x^5 + x^2 + 1), and the length of 00…01.
  std::vector<std::uint8_t> bits = {1, 0, 0, 1, 1};
  for (int i = 5; i < 40; ++i) bits.push_back(bits[i - 5] ^ bits[i - 3]);
  gf2::Polynomial p{};
  EXPECT_EQ(gf2::berlekamp_massey(bits, &p), 5);
  EXPECT_EQ(p[0], 0b100101u);
  std::vector<std::uint8_t> late(100);
  late[99] = 1;
  EXPECT_EQ(gf2::berlekamp_massey(late), 100);
}

TEST(RngGf2, IrreducibilityOfPrimeDegree) {
  // All 32 polynomials of degree 5 against trial division.
  for (std::uint64_t p = 32; p < 64; ++p) {
    bool composite = false;
    for (std::uint32_t q = 2; q < 8; ++q) composite |= gf2::remainder({{p}}, q) == 0;
    EXPECT_EQ(gf2::irreducible_of_prime_degree({{p}}), !composite) << p;
  }
  // 2^607 - 1: x^607 + x^105 + 1 is primitive, x^607 + x + 1 is not irreducible.
  gf2::Polynomial p{};
  gf2::flip(p, 607), gf2::flip(p, 105), gf2::flip(p, 0);
  EXPECT_TRUE(gf2::irreducible_of_prime_degree(p));
  gf2::Polynomial q{};
  gf2::flip(q, 607), gf2::flip(q, 1), gf2::flip(q, 0);
  EXPECT_FALSE(gf2::irreducible_of_prime_degree(q));
}

TEST(RngMt607, CharacteristicPolynomialIsThatOfTheOutput) {
  const Mt607Matrix matrix;
  for (std::size_t id : {0u, 1u, 2u, 17u}) {
    gf2::Polynomial found{};
    const auto& p = mt607_table()[id];
    ASSERT_EQ(gf2::berlekamp_massey(bits_of_outputs(p, 13, 1300), &found), Mt607::bits);
    EXPECT_EQ(found, matrix.characteristic(p.a)) << id;
  }
  // An arbitrary matrix is hardly ever primitive: this one is not, although its id is right.
  EXPECT_FALSE(matrix.primitive(0xe98e0002u));
}

TEST(RngMt607, EveryRowOfTheTableIsPrimitiveAndDistinct) {
  const auto table = mt607_table();
  ASSERT_GE(table.size(), 4096u);
  const Mt607Matrix matrix;
  std::set<std::uint32_t> matrices;
  for (std::size_t id = 0; id < table.size(); ++id) {
    EXPECT_TRUE(matrix.primitive(table[id].a)) << id;
    EXPECT_EQ(table[id].a & 0xffffu, id);
    matrices.insert(table[id].a);
  }
  EXPECT_EQ(matrices.size(), table.size());
}

// k(v) by brute force: the longest run of outputs whose v highest bits are linearly independent
// functions of the state, each function given by its values along the sequence.
int independent_outputs(const Mt607Parameters& p, int v) {
  Mt607Generator g(p, 99);
  std::vector<std::uint32_t> out;
  for (int i = 0; i < 1300; ++i) out.push_back(g.next());
  std::vector<gf2::Polynomial> pivot(Mt607::bits);
  std::vector<bool> used(Mt607::bits);
  for (int k = 0;; ++k)
    for (int b = 0; b < v; ++b) {
      gf2::Polynomial row{};
      for (int i = 0; i < Mt607::bits; ++i)
        if (out[Mt607::n + k + i] >> (31 - b) & 1) gf2::flip(row, i);
      int d;
      while ((d = gf2::degree(row)) >= 0 && used[d]) row = row ^ pivot[d];
      if (d < 0) return k;
      used[d] = true;
      pivot[d] = row;
    }
}
TEST(RngMt607, EquidistributionByLatticeEqualsBruteForce) {
  for (std::size_t id : {0u, 1u, 5u}) {
    const auto k = equidistribution(mt607_table()[id]);
    for (int v : {1, 2, 3, 5, 7, 8, 11, 16, 17, 24, 31, 32})
      EXPECT_EQ(k[v], independent_outputs(mt607_table()[id], v)) << "id " << id << " v " << v;
  }
}
// 18 of 32 bits is all that 607 bits of state allow.
TEST(RngMt607, WholeWordsAreEquidistributedIn18Dimensions) {
  for (const Mt607Parameters& parameters : mt607_table())
    ASSERT_EQ(equidistribution(parameters)[32], 18) << "id " << (parameters.a & 0xffffu);
}
TEST(RngMt607, TemperingOfTheTableIsCloseToThePublishedOne) {
  const auto table = mt607_table();
  EXPECT_EQ(total_defect(table[0]), 222);
  EXPECT_EQ(total_defect(table[1]), 205);
  double mean = 0;
  const int every = 16;
  for (std::size_t id = 0; id < table.size(); id += every)
    mean += total_defect(table[id]) / (double(table.size()) / every);
  EXPECT_LT(mean, 235);  // over the whole table 229.6, at worst 320
  // Without any optimisation it would be far worse.
  EXPECT_GT(total_defect({table[0].a, 0x12345680u, 0x9abc8000u}), 300);
}

TEST(RngMt607, SearchIsReproducible) {
  const Mt607Matrix matrix;
  const auto found = search_mt607(matrix, 2, 1);
  EXPECT_EQ(found.a, mt607_table()[2].a);
  EXPECT_EQ(found, search_mt607(matrix, 2, 1));
}

}  // namespace
}  // namespace perrin
