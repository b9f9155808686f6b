// Structs of Reals as arrays of numbers, which they are in memory.
//
// GCC vectorises no loop that copies a struct from memory; one that reads numbers it does.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "engine/base/real.h"

namespace perrin {

/// C is made from its numbers in order, whatever structs it is nested of.
template <class C, class Indices = std::make_index_sequence<sizeof(C) / sizeof(Real)>>
struct Numbers;

template <class C, std::size_t... m>
struct Numbers<C, std::index_sequence<m...>> {
  /// 0 where there are other things than Reals in it.
  static constexpr int count = [] {
    if constexpr (std::is_aggregate_v<C> && requires(const Real* from) { C{from[m]...}; })
      return sizeof(C) == sizeof...(m) * sizeof(Real) ? int(sizeof...(m)) : 0;
    return 0;
  }();

  /// Of number n at from[begin + n · stride]; indices in 32 bits, or GCC makes offsets that no
  /// gather can scale.
  PERRIN_HD static C load(const Real* from, std::uint32_t begin, std::uint32_t stride) {
    return C{from[begin + std::uint32_t(m) * stride]...};
  }
};

/// Entry k of a table. A copy on a GPU, where it is one load or few.
template <class C>
PERRIN_HD C entry(const C* table, std::uint32_t k) {
#ifndef __CUDA_ARCH__
  if constexpr (Numbers<C>::count > 0)
    return Numbers<C>::load(reinterpret_cast<const Real*>(table), k * Numbers<C>::count, 1);
#endif
  return table[k];
}

}  // namespace perrin
