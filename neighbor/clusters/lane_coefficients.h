// What pairs of types mean, brought to where whole vectors find it.
//
// A particle of a row meets sixteen particles of a cluster, of any types. Looked up one by one in a
// table, their coefficients take longer than the forces of Lennard-Jones. So they are laid out
// beside the coordinates of the task's clusters: for each type that a row may have, number by
// number, all sixteen.
#pragma once

#include <cstdint>

#include "engine/base/numbers.h"
#include "neighbor/clusters/cluster_search.h"
#include "neighbor/inline.h"

namespace perrin::detail {

/// Of a row of the table, number by number: what sixteen particles of these types need. A function
/// that all loops share: it is instantiated for a count of numbers and compiled for any processor.
template <int numbers>
__attribute__((noinline)) void lay_out(const Real* row, const std::uint32_t* type, Real* to) {
  constexpr int width = cluster_size;
  for (int k = 0; k < width; ++k) {
    const Real* entry = row + type[k] * std::uint32_t(numbers);
    for (int n = 0; n < numbers; ++n) to[n * width + k] = entry[n];
  }
}

/// The same of few types, a whole vector at a time.
template <int numbers, std::uint32_t types>
PERRIN_INLINE void lay_out_few(const Real* row, const std::uint32_t* type, Real* to) {
  constexpr int width = cluster_size;
  for (int n = 0; n < numbers; ++n) {
    Real of[types];
    for (std::uint32_t t = 0; t < types; ++t) of[t] = row[int(t) * numbers + n];
#pragma omp simd simdlen(width)
    for (int k = 0; k < width; ++k) {
      Real number = of[0];
      for (std::uint32_t t = 1; t < types; ++t) number = type[k] == t ? of[t] : number;
      to[n * width + k] = number;
    }
  }
}

/// `used` by bodies that look coefficients up (neighbor/pair_loop.h), if these are all numbers.
template <class Body>
struct LaneCoefficients {
  static constexpr int width = cluster_size;
  static constexpr int numbers = [] {
    if constexpr (requires { requires Body::looks_up; })
      return Numbers<typename Body::Coefficients>::count;
    return 0;
  }();
  static constexpr bool used = numbers > 0;
  static constexpr int vectors = numbers * width;   // for one type of a row
  static constexpr int room = used ? vectors : 1;   // of find()
  static constexpr std::int64_t most = 64 * width;  // beside a cluster; with more, memory is slow

  const Real* table = nullptr;  // [type of the row][type of the other][number]
  std::uint32_t types = 0;
  std::int64_t behind = 0;  // Reals behind the coordinates of every cluster
  std::int64_t shared = 0;  // Reals for all clusters: of one type …
  Real* common = nullptr;   // … which are here

  LaneCoefficients() = default;
  explicit LaneCoefficients(const Body& body) {
    if constexpr (used) {
      table = reinterpret_cast<const Real*>(body.table), types = body.types;
      const std::int64_t all = types * vectors;
      (types == 1 ? shared : behind) = all <= most ? all : 0;
    }
  }
  LaneCoefficients with_common(Real* memory) const {
    LaneCoefficients with = *this;
    with.common = memory;
    return with;
  }
  /// Reals of a cluster: coefficients lie with the coordinates that they are used with.
  PERRIN_INLINE std::int64_t block() const {
    if constexpr (used) return 3 * width + behind;
    return 3 * width;
  }

  PERRIN_INLINE const Real* row(std::uint32_t from) const {
    return table + std::int64_t(from) * types * numbers;
  }
  /// Of a task's cluster whose block is `at`.
  PERRIN_INLINE void prepare(Real* at, bool first, const std::uint32_t* type) const {
    if constexpr (used) {
      for (std::uint32_t from = 0; behind > 0 && from < types; ++from) {
        Real* const to = at + 3 * width + from * vectors;
        if (types == 2)
          lay_out_few<numbers, 2>(row(from), type, to);
        else if (types == 3)
          lay_out_few<numbers, 3>(row(from), type, to);
        else
          lay_out<numbers>(row(from), type, to);
      }
      if (shared > 0 && first) lay_out<numbers>(table, type, common);
    }
  }
  PERRIN_INLINE const Real* find(const Real* at, std::uint32_t from, const std::uint32_t* type,
                                 Real (&to)[room]) const {
    if constexpr (!used) {
      return at;  // not read
    } else {
      if (behind > 0) return at + 3 * width + from * vectors;
      if (shared > 0) return common;
      lay_out<numbers>(row(from), type, to);
      return to;
    }
  }
  /// For a lane: from where find() says, and the lane.
  PERRIN_INLINE static auto load(const Real* from) {
    return Numbers<typename Body::Coefficients>::load(from, 0, width);
  }
};

}  // namespace perrin::detail
