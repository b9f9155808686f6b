// The short sort on the CPU, compiled for three instruction sets.
#pragma once

#include <cstdint>

namespace perrin::short_sort_detail {

/// Array i is [offsets[i], offsets[i + 1]) of in and out, or, without offsets, [i, i + 1) · length.
struct CpuArrays {
  const std::uint32_t* in;
  std::uint32_t* out;
  const std::int32_t* offsets;
  std::int64_t length;
  std::int64_t begin(std::int64_t i) const { return offsets != nullptr ? offsets[i] : i * length; }
};

/// Sorts the arrays [first, end).
void sort_avx512(const CpuArrays& arrays, std::int64_t first, std::int64_t end);
void sort_avx2(const CpuArrays& arrays, std::int64_t first, std::int64_t end);
void sort_baseline(const CpuArrays& arrays, std::int64_t first, std::int64_t end);

}  // namespace perrin::short_sort_detail
