// Counts neighbours by a pair loop.
#pragma once

#include "engine/base/real.h"

namespace perrin {

/// A body of pair_loop(): how many neighbours each particle has within a distance.
struct CountNeighbors {
  static constexpr int sums = 1, odd = 0;
  static constexpr bool has_extra = false;
  Real range2;
  Real* result;  // by memory index
  struct Own {};
  PERRIN_HD Own own(std::int64_t) const { return {}; }
  PERRIN_HD void pair(const Own&, Real3 d, std::uint32_t, const Real4&, bool real,
                      Real (&term)[sums]) const {
    term[0] = real && dot(d, d) < range2 ? Real(1) : Real(0);
  }
  PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const { result[i] = sum[0]; }
};

}  // namespace perrin
