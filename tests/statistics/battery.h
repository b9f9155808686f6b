// The battery: every test over one supply of words.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/statistics/blocks.h"
#include "tests/statistics/streaming.h"

namespace perrin::statistics {

/// A result below this fails; between the two it is suspicious, to be repeated with another seed.
constexpr double failing = 1e-7, suspicious = 1e-4;

/// Runs all tests on `numbers` words (at least 2·10^6) from `fill`. Tests that need many words at a
/// time take theirs first; the tests of every word see all of them. Fewer words mean smaller tests
/// of the same kinds.
inline std::vector<Result> run_battery(const std::function<void(std::uint32_t*, std::size_t)>& fill,
                                       double numbers) {
  HammingWeight hamming;
  Gap<5> gap_high(false), gap_low(true);
  Gap<8> long_gap_high(false), long_gap_low(true);
  SerialPairs pairs_high(false), pairs_low(true);
  double used = 0;
  const auto read = [&](std::vector<std::uint32_t>& words) {
    fill(words.data(), words.size());
    hamming.add(words.data(), words.size());
    gap_high.add(words.data(), words.size()), gap_low.add(words.data(), words.size());
    long_gap_high.add(words.data(), words.size()), long_gap_low.add(words.data(), words.size());
    pairs_high.add(words.data(), words.size()), pairs_low.add(words.data(), words.size());
    used += double(words.size());
  };
  // How many times a test of so many words fits into a share of the whole.
  const auto times = [&](double share, double words) {
    return int(std::max(1.0, std::floor(share * numbers / words)));
  };

  std::vector<Result> r;
  for (int bit : {31, 24, 16, 8, 0})
    r.push_back(linear_complexity(read, bit, numbers < 1e8 ? 10000 : 60000));
  r.push_back(matrix_rank(read, 64, -1, times(0.01, 128)));
  r.push_back(matrix_rank(read, 1024, -1, std::min(100, times(0.02, 32768))));
  for (int bit : {31, 0})
    r.push_back(matrix_rank(read, 1024, bit, std::min(40, times(0.05, 1 << 20))));
  r.push_back(birthday_spacings(read, "highest 32 bits", 32, false, 4096, times(0.05, 4096)));
  r.push_back(birthday_spacings(read, "lowest 24 bits", 24, true, 512, times(0.03, 512)));
  if (numbers >= 1e8) {
    r.push_back(
        birthday_spacings(read, "64 bits of 2 words", 64, false, 1 << 23, times(0.15, 1 << 24)));
    for (bool low : {false, true}) r.push_back(collisions(read, low, times(0.1, 3 << 22)));
  }
  for (std::vector<std::uint32_t> words(1 << 16); used < numbers;) read(words);
  hamming.report(r);
  gap_high.report(r), gap_low.report(r), long_gap_high.report(r), long_gap_low.report(r);
  pairs_high.report(r), pairs_low.report(r);
  return r;
}

}  // namespace perrin::statistics
