// The sites of all replicas as separate arrays of coordinates, for the CPU's vector units.
#pragma once

#include <cstdint>
#include <vector>

#include "pair_energy.h"
#include "system.h"

namespace perrin::metropolis {

struct SiteArrays {
  std::vector<std::uint32_t> x, y, z, type;

  void assign(const Position* site, std::size_t n) {
    x.resize(n), y.resize(n), z.resize(n), type.resize(n);
    for (std::size_t i = 0; i < n; ++i) set(i, site[i]);
  }
  void set(std::size_t i, const Position& p) {
    x[i] = p.x, y[i] = p.y, z[i] = p.z, type[i] = p.type();
  }
};

/// The change of one site's energy with a range of other sites, when it goes from `old` to `fresh`.
template <class T, class E>
struct SiteChange {
  const std::uint32_t *x, *y, *z, *type;
  const PairRow<T>* rows;  // of the site's type
  Scale<T> scale;
  bool one_type;

  PERRIN_HD double over(std::int64_t begin, std::int64_t end, const Position& old,
                        const Position& fresh) const {
    // Short sums in T, long ones in double.
    constexpr std::int64_t portion = 256;
    double total = 0;
    for (std::int64_t from = begin; from < end; from += portion) {
      const std::int64_t to = from + portion < end ? from + portion : end;
      total += double(one_type ? short_sum<true>(from, to, old, fresh)
                               : short_sum<false>(from, to, old, fresh));
    }
    return total;
  }

  template <bool OneType>
  PERRIN_HD T short_sum(std::int64_t from, std::int64_t to, const Position& old,
                        const Position& fresh) const {
    const PairRow<T> only = rows[0];
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t j = from; j < to; ++j) {
      const PairRow<T>& row = OneType ? only : rows[type[j]];
      sum += E::template energy<T>(distance2<T>(fresh.x, fresh.y, fresh.z, x[j], y[j], z[j], scale),
                                   row) -
             E::template energy<T>(distance2<T>(old.x, old.y, old.z, x[j], y[j], z[j], scale), row);
    }
    return sum;
  }
};

}  // namespace perrin::metropolis
