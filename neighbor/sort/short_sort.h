// Batched sort of very many short arrays, on CPU and GPU. What goes through it are the bins of
// columns on the CPU (neighbor/columns/column_sort.h); it knows nothing of them, and serves
// whatever is to be ordered within cells. docs/design/short-sort.md has the design and the figures.
//
// A key is a 32-bit word: the coordinate, mapped to 16 bits, in the upper half and the element's
// index in its array in the lower half. The words of an array are therefore all different, equal
// coordinates keep their order (the sort is stable), and the sorted words are the permutation
// themselves: nothing is looked up while sorting. After E. S. Fomin's sorting of interactions for
// molecular dynamics, see short_sort_rank.h for the rank sorts of that work.
#pragma once

#include <cstdint>

#include "engine/base/real.h"
#include "engine/device/device.h"

namespace perrin {

/// Arrays up to this length are sorted in registers; longer ones (below 65 536) are right but slow.
constexpr int short_sort_length = 256;

/// The key of the element `index` < 65 536 of an array.
PERRIN_HD std::uint32_t short_sort_word(std::uint32_t coordinate, std::uint32_t index) {
  return coordinate << 16 | index;
}
PERRIN_HD std::uint32_t short_sort_index(std::uint32_t word) { return word & 0xffffu; }
PERRIN_HD std::uint32_t short_sort_coordinate(std::uint32_t word) { return word >> 16; }

/// A coordinate of the interval [low, low + width) as 16 bits, scale = 65536 / width; what lies
/// outside goes to the nearest end. NaN goes to 0.
template <class T>
PERRIN_HD std::uint32_t short_sort_map(T x, T low, T scale) {
  const T place = (x - low) * scale;
  return place >= T(65535) ? 65535u : place > T(0) ? std::uint32_t(place) : 0u;
}

/// Sorts the 32-bit words of each of `count` arrays in ascending order; array i is
/// [offsets[i], offsets[i + 1]) of `in` and `out`, which may be the same memory. `offsets` has
/// count + 1 elements, not decreasing, below 2^31. All on the device; device work only.
void short_sort(const Device& device, const std::uint32_t* in, std::uint32_t* out,
                const std::int32_t* offsets, std::int64_t count);

/// The same for arrays of equal length, one after the other from the first word on. Fastest where
/// `in` and `out` are 16-byte aligned and length is 8, 16, 32, 64, 96, 128, 192 or 256.
void short_sort_uniform(const Device& device, const std::uint32_t* in, std::uint32_t* out,
                        int length, std::int64_t count);

}  // namespace perrin
