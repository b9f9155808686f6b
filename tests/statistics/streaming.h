// Tests that look at every word as it goes by.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/statistics/probability.h"

namespace perrin::statistics {

/// One test's outcome; p small means: not random. Two-sided tests also fail by being too even.
struct Result {
  std::string test;
  double numbers = 0;  // words looked at
  double statistic = 0, p = 1;
};

/// Chi-square of counts against expectations; classes expecting less than 10 are joined to the
/// next.
inline Result chi_square(const std::string& test, double numbers, const std::vector<double>& counts,
                         const std::vector<double>& expected) {
  double sum = 0, count = 0, expect = 0;
  int classes = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    count += counts[i], expect += expected[i];
    double rest = 0;
    for (std::size_t j = i + 1; j < expected.size() && rest < 10; ++j) rest += expected[j];
    if (expect < 10 || (rest < 10 && i + 1 < counts.size())) continue;
    sum += (count - expect) * (count - expect) / expect;
    ++classes;
    count = expect = 0;
  }
  if (classes < 2) return {test, numbers, 0, 1};  // too few to say anything
  const double upper = chi_square_tail(sum, classes - 1);
  return {test, numbers, sum, two_sided(1 - upper, upper)};
}

/// Words by their number of ones; and the correlation of that number between successive words.
class HammingWeight {
 public:
  void add(const std::uint32_t* words, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const int weight = std::popcount(words[i]);
      ++counts_[std::size_t(weight)];
      products_ += (weight - 16) * (previous_ - 16);
      previous_ = weight;
    }
    total_ += double(n);
  }
  void report(std::vector<Result>& results) const {
    std::vector<double> counts, expected;
    for (int k = 0; k <= 32; ++k) {
      counts.push_back(double(counts_[std::size_t(k)]));
      expected.push_back(total_ * std::exp(std::lgamma(33.0) - std::lgamma(k + 1.0) -
                                           std::lgamma(33.0 - k) - 32 * std::log(2.0)));
    }
    results.push_back(chi_square("Hamming weight", total_, counts, expected));
    // Each factor has variance 8.
    const double z = double(products_) / (8 * std::sqrt(total_));
    results.push_back({"Hamming correlation", total_, z, normal_two_sided(z)});
  }

 private:
  std::array<std::uint64_t, 33> counts_{};
  std::int64_t products_ = 0;
  int previous_ = 16;
  double total_ = 0;
};

/// Knuth's gap test: how many words lie between two that fall into [0, 2^-Bits) of the range, the
/// value being the highest bits (low = false) or the lowest.
template <int Bits>
class Gap {
 public:
  explicit Gap(bool low) : low_(low), counts_(longest + 1) {}
  void add(const std::uint32_t* words, std::size_t n) {
    const std::uint32_t mask = low_ ? (1u << Bits) - 1 : ~0u << (32 - Bits);
    for (std::size_t i = 0; i < n; ++i) {
      if (words[i] & mask) {
        ++gap_;
        continue;
      }
      ++counts_[std::size_t(gap_ < longest ? gap_ : longest)];
      gap_ = 0;
    }
    total_ += double(n);
  }
  void report(std::vector<Result>& results) const {
    double gaps = 0;
    for (std::uint64_t c : counts_) gaps += double(c);
    const double p = std::ldexp(1.0, -Bits), q = 1 - p;
    std::vector<double> counts, expected;
    for (int k = 0; k <= longest; ++k) {
      counts.push_back(double(counts_[std::size_t(k)]));
      expected.push_back(gaps * std::pow(q, k) * (k < longest ? p : 1));
    }
    const std::string name =
        std::string("gap, ") + (low_ ? "lowest " : "highest ") + std::to_string(Bits) + " bits";
    if (gaps < 100) {
      // Hardly ever hit, where total·p hits are expected.
      results.push_back({name, total_, gaps, poisson_head(gaps, total_ * p)});
      return;
    }
    results.push_back(chi_square(name, total_, counts, expected));
  }

 private:
  static constexpr int longest = 24 << Bits;
  bool low_;
  std::vector<std::uint64_t> counts_;
  int gap_ = 0;
  double total_ = 0;
};

/// Pairs of successive words, 8 bits of each.
class SerialPairs {
 public:
  explicit SerialPairs(bool low) : low_(low), counts_(1 << 16) {}
  void add(const std::uint32_t* words, std::size_t n) {
    for (std::size_t i = 0; i + 1 < n; i += 2) {
      const std::uint32_t a = low_ ? words[i] & 255 : words[i] >> 24;
      const std::uint32_t b = low_ ? words[i + 1] & 255 : words[i + 1] >> 24;
      ++counts_[a << 8 | b];
    }
    pairs_ += double(n / 2);
  }
  void report(std::vector<Result>& results) const {
    std::vector<double> counts(counts_.begin(), counts_.end());
    const std::vector<double> expected(counts.size(), pairs_ / double(counts.size()));
    results.push_back(
        chi_square(std::string("serial pairs, ") + (low_ ? "lowest" : "highest") + " 8 bits",
                   2 * pairs_, counts, expected));
  }

 private:
  bool low_;
  std::vector<std::uint64_t> counts_;
  double pairs_ = 0;
};

}  // namespace perrin::statistics
