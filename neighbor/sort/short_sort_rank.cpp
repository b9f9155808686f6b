#include "neighbor/sort/short_sort_rank.h"

#ifdef __CUDACC__
#include "neighbor/sort/short_sort_launch.cuh"
#include "neighbor/sort/short_sort_rank.cuh"
#else
#include "engine/base/error.h"
#endif

namespace perrin {

#ifdef __CUDACC__
namespace {

using namespace short_sort_detail;

unsigned blocks(std::int64_t count, int arrays) { return unsigned((count + arrays - 1) / arrays); }

template <class Keys, int N>
void run(const Device& device, RankSort variant, const std::uint32_t* in, std::uint32_t* out,
         Extent extents, std::int64_t count) {
  using Pairs = PairsShape<N>;
  using Element = ElementShape<N>;
  switch (variant) {
    case RankSort::all_pairs:
      return launch(device, "rank sort, all pairs", dim3(blocks(count, Pairs::arrays)),
                    dim3(Pairs::threads), 0, rank_all_pairs_kernel<N, Keys>, in, out, extents,
                    count);
    case RankSort::divide_and_conquer:
      return launch(device, "rank sort, divide and conquer", dim3(blocks(count, Element::arrays)),
                    dim3(Element::threads), 0, rank_divide_kernel<N, Keys>, in, out, extents,
                    count);
    case RankSort::element:
      return launch(device, "rank sort, element", dim3(blocks(count, Element::arrays)),
                    dim3(Element::threads), 0, rank_element_kernel<N, Keys>, in, out, extents,
                    count);
  }
}

/// The kernel of the first of these lengths that is enough.
template <class Keys, int N, int... More>
void choose(const Device& device, RankSort variant, const std::uint32_t* in, std::uint32_t* out,
            Extent extents, std::int64_t count, int longest) {
  if constexpr (sizeof...(More) > 0)
    if (longest > N)
      return choose<Keys, More...>(device, variant, in, out, extents, count, longest);
  run<Keys, N>(device, variant, in, out, extents, count);
}

template <class Keys>
void run(const Device& device, RankSort variant, const std::uint32_t* in, std::uint32_t* out,
         Extent extents, std::int64_t count, int longest) {
  if (count == 0 || longest == 0) return;
  PERRIN_ASSERT(device.is_cuda() && longest <= rank_sort_length && in != out);
  choose<Keys, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024>(device, variant, in, out,
                                                                      extents, count, longest);
}

const std::uint32_t* words(const float* p) { return reinterpret_cast<const std::uint32_t*>(p); }
std::uint32_t* words(float* p) { return reinterpret_cast<std::uint32_t*>(p); }

}  // namespace

void short_sort_rank(const Device& device, RankSort variant, const std::uint32_t* in,
                     std::uint32_t* out, const std::int32_t* offsets, std::int64_t count,
                     int longest) {
  run<WordKeys>(device, variant, in, out, {offsets, 0}, count, longest);
}

void short_sort_rank_uniform(const Device& device, RankSort variant, const std::uint32_t* in,
                             std::uint32_t* out, int length, std::int64_t count) {
  run<WordKeys>(device, variant, in, out, {nullptr, length}, count, length);
}

void short_sort_rank(const Device& device, RankSort variant, const float* in, float* out,
                     const std::int32_t* offsets, std::int64_t count, int longest) {
  run<FloatKeys>(device, variant, words(in), words(out), {offsets, 0}, count, longest);
}

void short_sort_rank_uniform(const Device& device, RankSort variant, const float* in, float* out,
                             int length, std::int64_t count) {
  run<FloatKeys>(device, variant, words(in), words(out), {nullptr, length}, count, length);
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

void short_sort_rank(const Device& device, RankSort, const float*, float*, const std::int32_t*,
                     std::int64_t, int) {
  PERRIN_ASSERT(device.is_cuda());
}

void short_sort_rank_uniform(const Device& device, RankSort, const float*, float*, int,
                             std::int64_t) {
  PERRIN_ASSERT(device.is_cuda());
}

#endif

}  // namespace perrin
