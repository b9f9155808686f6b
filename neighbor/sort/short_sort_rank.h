// Rank sorts of short arrays on the GPU: the three variants of E. S. Fomin's work on sorting
// interactions in molecular dynamics, for comparison with the networks of short_sort.h. The place
// of an element in the sorted array is its rank, the number of elements that come before it. The
// variants differ in the depth at which ranks are found; N is the length of an array:
//   all_pairs           one thread for each pair: N² comparisons at once, counted by ballots and
//                       added in shared memory; constant depth where the GPU has N² threads
//   divide_and_conquer  one thread for each element; sorted runs of 1, 2, 4, … are merged by ranks:
//                       own place in the run plus the rank in the other run by bisection; log N
//                       levels
//   element             one thread for each element, which compares it with the N others
#pragma once

#include <cstdint>

#include "engine/device/device.h"

namespace perrin {

enum class RankSort { all_pairs, divide_and_conquer, element };

/// Arrays up to this length have a kernel.
constexpr int rank_sort_length = 1024;

/// As short_sort, for a CUDA device (BugError otherwise), arrays of at most `longest` ≤ 1024 words,
/// and in ≠ out. The words of an array must differ, as packed words do.
void short_sort_rank(const Device& device, RankSort variant, const std::uint32_t* in,
                     std::uint32_t* out, const std::int32_t* offsets, std::int64_t count,
                     int longest);
/// The same for arrays of equal length.
void short_sort_rank_uniform(const Device& device, RankSort variant, const std::uint32_t* in,
                             std::uint32_t* out, int length, std::int64_t count);

/// The same for floats, of which any may be equal: a second pass counts the equal ones that stand
/// before an element (divide_and_conquer needs none, for merging keeps their order). The order is
/// that of std::strong_order: −0 before +0, NaN at the ends by their sign.
void short_sort_rank(const Device& device, RankSort variant, const float* in, float* out,
                     const std::int32_t* offsets, std::int64_t count, int longest);
void short_sort_rank_uniform(const Device& device, RankSort variant, const float* in, float* out,
                             int length, std::int64_t count);

}  // namespace perrin
