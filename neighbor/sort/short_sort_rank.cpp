#include "neighbor/sort/short_sort_rank.h"

#ifdef __CUDACC__
#include "neighbor/sort/short_sort_launch.cuh"
#include "neighbor/sort/short_sort_rank.cuh"
#else
#include "engine/core/error.h"
#endif

namespace perrin {

#ifdef __CUDACC__
namespace {

using namespace short_sort_detail;

unsigned blocks(std::int64_t count, int arrays) { return unsigned((count + arrays - 1) / arrays); }

template <int N>
void run(const Device& device, RankSort variant, const std::uint32_t* in, std::uint32_t* out,
         Extent extents, std::int64_t count) {
  using Pairs = PairsShape<N>;
  using Element = ElementShape<N>;
  switch (variant) {
    case RankSort::all_pairs:
      return launch(device, "rank sort, all pairs", dim3(blocks(count, Pairs::arrays)),
                    dim3(Pairs::threads), 0, rank_all_pairs_kernel<N>, in, out, extents, count);
    case RankSort::divide_and_conquer:
      return launch(device, "rank sort, divide and conquer", dim3(blocks(count, Element::arrays)),
                    dim3(Element::threads), 0, rank_divide_kernel<N>, in, out, extents, count);
    case RankSort::element:
      return launch(device, "rank sort, element", dim3(blocks(count, Element::arrays)),
                    dim3(Element::threads), 0, rank_element_kernel<N>, in, out, extents, count);
  }
}

void run(const Device& device, RankSort variant, const std::uint32_t* in, std::uint32_t* out,
         Extent extents, std::int64_t count, int longest) {
  if (count == 0 || longest == 0) return;
  PERRIN_ASSERT(device.is_cuda() && longest <= 256 && in != out);
  if (longest <= 8) return run<8>(device, variant, in, out, extents, count);
  if (longest <= 16) return run<16>(device, variant, in, out, extents, count);
  if (longest <= 32) return run<32>(device, variant, in, out, extents, count);
  if (longest <= 64) return run<64>(device, variant, in, out, extents, count);
  if (longest <= 96) return run<96>(device, variant, in, out, extents, count);
  if (longest <= 128) return run<128>(device, variant, in, out, extents, count);
  if (longest <= 192) return run<192>(device, variant, in, out, extents, count);
  return run<256>(device, variant, in, out, extents, count);
}

}  // namespace

void short_sort_rank(const Device& device, RankSort variant, const std::uint32_t* in,
                     std::uint32_t* out, const std::int32_t* offsets, std::int64_t count,
                     int longest) {
  run(device, variant, in, out, {offsets, 0}, count, longest);
}

void short_sort_rank_uniform(const Device& device, RankSort variant, const std::uint32_t* in,
                             std::uint32_t* out, int length, std::int64_t count) {
  run(device, variant, in, out, {nullptr, length}, count, length);
}

#else

void short_sort_rank(const Device& device, RankSort, const std::uint32_t*, std::uint32_t*,
                     const std::int32_t*, std::int64_t, int) {
  PERRIN_ASSERT(device.is_cuda());
}

void short_sort_rank_uniform(const Device& device, RankSort, const std::uint32_t*, std::uint32_t*,
                             int, std::int64_t) {
  PERRIN_ASSERT(device.is_cuda());
}

#endif

}  // namespace perrin
