#include "neighbor/sort/short_sort_cpu.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

// Rows are handed on inside always-inlined functions alone: no ABI is concerned.
#pragma GCC diagnostic ignored "-Wpsabi"

#ifdef __x86_64__
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,prefer-vector-width=512")
#define PERRIN_SORT_ISA avx512
#define PERRIN_SORT_WIDTH 16
#include "neighbor/sort/short_sort_cpu_kernel.h"
#undef PERRIN_SORT_ISA
#undef PERRIN_SORT_WIDTH
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define PERRIN_SORT_ISA avx2
#define PERRIN_SORT_WIDTH 8
#include "neighbor/sort/short_sort_cpu_kernel.h"
#undef PERRIN_SORT_ISA
#undef PERRIN_SORT_WIDTH
#pragma GCC pop_options
#endif

namespace perrin::short_sort_detail {

#ifdef __x86_64__
void sort_avx512(const CpuArrays& arrays, std::int64_t first, std::int64_t end) {
  avx512::sort_arrays(arrays, first, end);
}
void sort_avx2(const CpuArrays& arrays, std::int64_t first, std::int64_t end) {
  avx2::sort_arrays(arrays, first, end);
}
#else
void sort_avx512(const CpuArrays& arrays, std::int64_t first, std::int64_t end) {
  sort_baseline(arrays, first, end);
}
void sort_avx2(const CpuArrays& arrays, std::int64_t first, std::int64_t end) {
  sort_baseline(arrays, first, end);
}
#endif

void sort_baseline(const CpuArrays& arrays, std::int64_t first, std::int64_t end) {
  for (std::int64_t i = first; i < end; ++i) {
    const std::int64_t begin = arrays.begin(i), stop = arrays.begin(i + 1);
    if (arrays.in != arrays.out) std::copy(arrays.in + begin, arrays.in + stop, arrays.out + begin);
    std::sort(arrays.out + begin, arrays.out + stop);
  }
}

}  // namespace perrin::short_sort_detail
