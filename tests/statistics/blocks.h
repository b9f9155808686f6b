// Tests that need many words at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "rng/tools/gf2_polynomial.h"
#include "tests/statistics/streaming.h"

namespace perrin::statistics {

/// Marsaglia's birthday spacings: n birthdays in a year of m = 2^bits days; the repeats among the n
/// - 1 sorted spacings are nearly Poisson (Knuth 3.3.2; L'Ecuyer, Simard 2001). Two given spacings
/// are equal with probability n/2m, three with n(n-1)/3m², and three equal ones are two repeats,
/// not three: the mean is n(n-1)(n-2)/4m - n^5/18m². (The leading term alone is 1 % off for n =
/// 512.) Days of 32 bits or less are the words' highest (or lowest) bits, longer ones two words.
template <class Read>
Result birthday_spacings(Read read, const std::string& part, int bits, bool low, int birthdays,
                         int repetitions) {
  std::vector<std::uint32_t> words(std::size_t(birthdays) * (bits > 32 ? 2 : 1));
  std::vector<std::uint64_t> days(static_cast<std::size_t>(birthdays));
  double repeats = 0;
  for (int r = 0; r < repetitions; ++r) {
    read(words);
    for (std::size_t i = 0; i < days.size(); ++i)
      if (bits > 32)
        days[i] = (std::uint64_t(words[2 * i]) << 32 | words[2 * i + 1]) >> (64 - bits);
      else
        days[i] = low ? words[i] & std::uint32_t((std::uint64_t(1) << bits) - 1)
                      : words[i] >> (32 - bits);
    std::sort(days.begin(), days.end());
    for (std::size_t i = days.size() - 1; i > 0; --i) days[i] -= days[i - 1];
    std::sort(days.begin() + 1, days.end());
    for (std::size_t i = 2; i < days.size(); ++i) repeats += days[i] == days[i - 1];
  }
  const double n = birthdays, m = std::ldexp(1.0, bits);
  const double mean =
      repetitions * (n * (n - 1) * (n - 2) / (4 * m) - std::pow(n, 5) / (18 * m * m));
  return {"birthday spacings, " + part, double(words.size()) * repetitions, repeats,
          two_sided(poisson_head(repeats, mean), poisson_tail(repeats, mean))};
}

/// Knuth's collision test: balls into 2^30 urns, chosen by ten bits of each of three words.
template <class Read>
Result collisions(Read read, bool low, int repetitions) {
  constexpr int balls = 1 << 22;
  const double urns = std::ldexp(1.0, 30);
  std::vector<std::uint32_t> words(3 * 4096);
  std::vector<std::uint64_t> taken(1 << 24);
  double count = 0;
  for (int r = 0; r < repetitions; ++r) {
    std::fill(taken.begin(), taken.end(), 0);
    for (int ball = 0; ball < balls; ball += 4096) {
      read(words);
      for (std::size_t i = 0; i < words.size(); i += 3) {
        std::uint32_t urn = 0;
        for (std::size_t k = 0; k < 3; ++k)
          urn = urn << 10 | (low ? words[i + k] & 1023 : words[i + k] >> 22);
        std::uint64_t& word = taken[urn / 64];
        const std::uint64_t bit = std::uint64_t(1) << (urn % 64);
        count += (word & bit) != 0;
        word |= bit;
      }
    }
  }
  // Exact mean of the collisions; they are nearly Poisson while balls are few against urns.
  const double mean = repetitions * (balls - urns * -std::expm1(balls * std::log1p(-1 / urns)));
  return {std::string("collision, ") + (low ? "lowest" : "highest") + " 10 bits, 3 dimensions",
          3.0 * balls * repetitions, count,
          two_sided(poisson_head(count, mean), poisson_tail(count, mean))};
}

/// The probability that a random n × n matrix over GF(2) lacks `deficit` of its full rank (n
/// large): 2^(-d²) · prod over i > d of (1 - 2^-i) / prod over i ≤ d of (1 - 2^-i).
inline double rank_probability(int deficit) {
  double p = std::ldexp(1.0, -deficit * deficit);
  for (int i = deficit + 1; i < 60; ++i) p *= 1 - std::ldexp(1.0, -i);
  for (int i = 1; i <= deficit; ++i) p /= 1 - std::ldexp(1.0, -i);
  return p;
}
inline int rank_of(std::vector<std::uint64_t>& rows, int n) {
  const int words = n / 64;
  int rank = 0;
  for (int column = 0; column < n && rank < n; ++column) {
    const int word = column / 64;
    const std::uint64_t bit = std::uint64_t(1) << (column % 64);
    int pivot = rank;
    while (pivot < n && !(rows[std::size_t(pivot * words + word)] & bit)) ++pivot;
    if (pivot == n) continue;
    std::uint64_t* target = rows.data() + rank * words;
    if (pivot != rank) std::swap_ranges(target, target + words, rows.data() + pivot * words);
    for (int r = pivot + 1; r < n; ++r) {
      std::uint64_t* row = rows.data() + r * words;
      if (!(row[word] & bit)) continue;
      for (int k = word; k < words; ++k) row[k] ^= target[k];
    }
    ++rank;
  }
  return rank;
}
/// Ranks of n × n matrices made of one bit of successive words (bit 0 to 31), or of whole words
/// (-1).
template <class Read>
Result matrix_rank(Read read, int n, int bit, int matrices) {
  std::vector<std::uint32_t> words(std::size_t(n) * std::size_t(n) / (bit < 0 ? 32 : 1));
  std::vector<std::uint64_t> rows(std::size_t(n) * std::size_t(n) / 64);
  std::vector<double> counts(4);
  double worst = 1;
  for (int m = 0; m < matrices; ++m) {
    read(words);
    if (bit < 0) {
      for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i] = std::uint64_t(words[2 * i + 1]) << 32 | words[2 * i];
    } else {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        std::uint64_t w = 0;
        for (std::size_t k = 0; k < 64; ++k) w |= std::uint64_t(words[64 * i + k] >> bit & 1) << k;
        rows[i] = w;
      }
    }
    const int deficit = n - rank_of(rows, n);
    ++counts[std::size_t(std::min(deficit, 3))];
    // One matrix alone can be damning: P(deficit ≥ d) is about 2^(-d²)·3.5.
    if (deficit >= 3)
      worst = std::min(worst, std::min(1.0, 4 * matrices * std::exp2(-double(deficit) * deficit)));
  }
  const double m = matrices;
  std::vector<double> expected = {m * rank_probability(0), m * rank_probability(1),
                                  m * rank_probability(2), 0};
  expected[3] = m - expected[0] - expected[1] - expected[2];
  const std::string name = "rank " + std::to_string(n) + "×" + std::to_string(n) +
                           (bit < 0 ? ", whole words" : ", bit " + std::to_string(bit));
  Result result = chi_square(name, double(words.size()) * m, counts, expected);
  // Two looks at the same matrices: twice the smaller probability.
  result.p = std::min(1.0, 2 * std::min(result.p, worst));
  return result;
}

/// The length of the shortest linear recurrence of n successive values of one bit. Exact: of 2^n
/// sequences 2^min(2n-2L, 2L-1) have length L (Rueppel 1986).
template <class Read>
Result linear_complexity(Read read, int bit, int n) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(n));
  read(words);
  std::vector<std::uint8_t> bits;
  for (std::uint32_t w : words) bits.push_back(std::uint8_t(w >> bit & 1));
  const int length = gf2::berlekamp_massey(bits);
  double lower = 0, upper = 0;
  for (int l = 1; l <= n; ++l) {
    const double p = std::exp2(std::min(2.0 * n - 2.0 * l, 2.0 * l - 1) - n);
    if (l <= length) lower += p;
    if (l >= length) upper += p;
  }
  return {"linear complexity of " + std::to_string(n) + ", bit " + std::to_string(bit), double(n),
          double(length), two_sided(lower, upper)};
}

}  // namespace perrin::statistics
