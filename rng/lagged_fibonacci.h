// The additive lagged Fibonacci generator, one for all threads: A. A. Zhmurov, V. A. Barsegov,
// S. V. Trifonov, Ya. A. Kholodov, A. S. Kholodov, "Efficient pseudorandom number generators for
// biomolecular simulations on graphics processors" (2011, in Russian), equation 3 and Table 2.
#pragma once

#include <cstdint>
#include <vector>

#include "rng/distributions.h"

namespace perrin {

/// x[n] = x[n - short_lag] + x[n - long_lag] mod 2^32, in a ring of long_lag words.
struct Lags {
  std::int64_t short_lag = 0, long_lag = 0;
  /// How many successive numbers can be made at the same time: none of them is made from another
  /// (short_lag), and none overwrites what another still reads (long_lag - short_lag).
  std::int64_t parallel() const {
    const std::int64_t gap = long_lag - short_lag;
    return (short_lag < gap ? short_lag : gap) - 1;
  }
};

/// The lags of Zhmurov et al., smallest first. x^long + x^short + 1 is primitive in every row (the
/// long lags are exponents of Mersenne primes, so irreducible is enough; checked by repeated
/// squaring). The paper's short lag of the fifth row, 12470, fails that check and is surely 13470
/// misprinted.
inline const std::vector<Lags>& lag_table() {
  static const std::vector<Lags> table = {
      {1252, 2281},   {3004, 4423},    {5502, 9689},     {10095, 19937},   {13470, 23209},
      {23463, 44497}, {54454, 132049}, {279695, 756839}, {288477, 859433}, {1010202, 3021377}};
  return table;
}

/// The first row that can make `numbers` at a time: both conditions are checked, since the paper's
/// bounds (the short lags) break the second one in several rows. The last row if none can. Not the
/// row of 2281, whose words in sequence fail birthday spacings (docs/measurements/randomness.md):
/// small systems take the next one.
inline Lags lags_for(std::int64_t numbers) {
  for (const Lags& lags : lag_table())
    if (lags.long_lag > 2281 && numbers <= lags.parallel()) return lags;
  return lag_table().back();
}

/// The sequence, made one by one: the definition that the parallel stream is held against.
class LaggedFibonacci : public Distributions<LaggedFibonacci> {
 public:
  /// The ring holds x[0] … x[long_lag - 1], at least one of them odd; next() gives x[long_lag], …
  LaggedFibonacci(Lags lags, std::vector<std::uint32_t> ring)
      : ring_(std::move(ring)), lag_(std::size_t(lags.long_lag - lags.short_lag)) {}
  std::uint32_t next() {
    // x[n - long] is the word about to be replaced; x[n - short] lies long - short after it.
    std::size_t other = position_ + lag_;
    if (other >= ring_.size()) other -= ring_.size();
    const std::uint32_t x = ring_[position_] += ring_[other];
    if (++position_ == ring_.size()) position_ = 0;
    return x;
  }

 private:
  std::vector<std::uint32_t> ring_;
  std::size_t lag_, position_ = 0;
};

}  // namespace perrin
