// CUDA kernels of the rank sorts (neighbor/sort/short_sort_rank.h). Like short_sort_gpu.cuh, which
// has Extent: CUDA's own names only. N: the longest array, a multiple of 32 or a power of two
// below. Keys: how words are compared, WordKeys (all different) or FloatKeys.
#pragma once

#include "neighbor/sort/short_sort_gpu.cuh"

namespace perrin::short_sort_detail {

/// Packed words: no two of an array are equal.
struct WordKeys {
  static constexpr bool may_be_equal = false;
  static __device__ std::uint32_t load(std::uint32_t word) { return word; }
  static __device__ std::uint32_t store(std::uint32_t key) { return key; }
};

/// The bits of floats as words in the same order: negative ones are turned round.
struct FloatKeys {
  static constexpr bool may_be_equal = true;
  static __device__ std::uint32_t load(std::uint32_t bits) {
    return bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
  }
  static __device__ std::uint32_t store(std::uint32_t key) {
    return key >> 31 != 0 ? key & 0x7fffffffu : ~key;
  }
};

template <int N>
struct PairsShape {
  static constexpr int columns = N < 32 ? N : 32;  // elements that one ballot compares one with
  static constexpr int pairs = N * N;              // columns divides N
  static constexpr int arrays = pairs < 256 ? 256 / pairs : 1;  // of a block
  static constexpr int threads = pairs * arrays < 1024 ? pairs * arrays : 1024;
};

template <int N, class Keys>
__global__ void __launch_bounds__(PairsShape<N>::threads)
    rank_all_pairs_kernel(const std::uint32_t* in, std::uint32_t* out, Extent extents,
                          std::int64_t count) {
  using Shape = PairsShape<N>;
  static_assert(N % Shape::columns == 0 && Shape::threads % 32 == 0);
  __shared__ std::uint32_t keys[Shape::arrays * N];
  __shared__ int ranks[Shape::arrays * N];
  __shared__ int lengths[Shape::arrays];
  __shared__ std::int64_t begins[Shape::arrays];
  const std::int64_t first = std::int64_t(blockIdx.x) * Shape::arrays;
  const int thread = int(threadIdx.x);
  if (thread < Shape::arrays) {
    const bool exists = first + thread < count;
    begins[thread] = exists ? extents.begin(first + thread) : 0;
    lengths[thread] = exists ? int(extents.begin(first + thread + 1) - begins[thread]) : 0;
  }
  __syncthreads();
  for (int i = thread; i < Shape::arrays * N; i += Shape::threads) {
    const int array = i / N, element = i % N;
    keys[i] = element < lengths[array] ? Keys::load(in[begins[array] + element]) : padding;
    ranks[i] = 0;
  }
  __syncthreads();
  // Pairs in the order column, element, block of columns, array: the columns of an element, or of a
  // few, are in one warp.
#pragma unroll 4
  for (int pair = thread; pair < Shape::arrays * Shape::pairs; pair += Shape::threads) {
    const int array = pair / Shape::pairs, block = pair % Shape::pairs / (Shape::columns * N);
    const int element = pair / Shape::columns % N;
    const int other = block * Shape::columns + pair % Shape::columns;
    const unsigned before =
        __ballot_sync(all_lanes, keys[array * N + other] < keys[array * N + element]);
    if (thread % Shape::columns == 0) {
      const unsigned mine = before >> (thread % 32) & (all_lanes >> (32 - Shape::columns));
      atomicAdd(&ranks[array * N + element], __popc(mine));
    }
  }
  if constexpr (Keys::may_be_equal)
#pragma unroll 4
    for (int pair = thread; pair < Shape::arrays * Shape::pairs; pair += Shape::threads) {
      const int array = pair / Shape::pairs, block = pair % Shape::pairs / (Shape::columns * N);
      const int element = pair / Shape::columns % N;
      const int other = block * Shape::columns + pair % Shape::columns;
      const unsigned equal = __ballot_sync(
          all_lanes, other < element && keys[array * N + other] == keys[array * N + element]);
      if (thread % Shape::columns == 0) {
        const unsigned mine = equal >> (thread % 32) & (all_lanes >> (32 - Shape::columns));
        if (mine != 0) atomicAdd(&ranks[array * N + element], __popc(mine));
      }
    }
  __syncthreads();
  for (int i = thread; i < Shape::arrays * N; i += Shape::threads) {
    const int array = i / N;
    if (i % N < lengths[array]) out[begins[array] + ranks[i]] = Keys::store(keys[i]);
  }
}

template <int N>
struct ElementShape {
  static constexpr int arrays = N < 256 ? 256 / N : 1;
  static constexpr int threads = arrays * N;
};

template <int N, class Keys>
__global__ void __launch_bounds__(ElementShape<N>::threads)
    rank_divide_kernel(const std::uint32_t* in, std::uint32_t* out, Extent extents,
                       std::int64_t count) {
  using Shape = ElementShape<N>;
  __shared__ std::uint32_t keys[2][Shape::threads];
  const int thread = int(threadIdx.x), element = thread % N, array_begin = thread - element;
  const std::int64_t array = std::int64_t(blockIdx.x) * Shape::arrays + thread / N;
  const std::int64_t begin = array < count ? extents.begin(array) : 0;
  const int n = array < count ? int(extents.begin(array + 1) - begin) : 0;
  std::uint32_t key = element < n ? Keys::load(in[begin + element]) : padding;
  int now = 0;
  keys[0][thread] = key;
  __syncthreads();
  for (int run = 1; run < N; run *= 2) {
    // Rank in the other run: keys that are smaller, or, for the second run, not larger, so that
    // equal keys (padding) find different places.
    const bool second = (element & run) != 0;
    const int own_begin = element & ~(run - 1), other_begin = own_begin ^ run;
    const int other_end = other_begin + run < N ? other_begin + run : N;
    int low = other_begin < N ? other_begin : N, high = other_end;
    const std::uint32_t* from = keys[now] + array_begin;
    while (low < high) {
      const int middle = (low + high) / 2;
      const bool before = second ? from[middle] <= key : from[middle] < key;
      low = before ? middle + 1 : low;
      high = before ? high : middle;
    }
    const int merged_begin = own_begin & ~run;
    const int rank = other_begin < N ? low - other_begin : 0;
    keys[1 - now][array_begin + merged_begin + (element - own_begin) + rank] = key;
    now = 1 - now;
    __syncthreads();
    key = keys[now][thread];
  }
  if (element < n) out[begin + element] = Keys::store(key);
}

template <int N, class Keys>
__global__ void __launch_bounds__(ElementShape<N>::threads)
    rank_element_kernel(const std::uint32_t* in, std::uint32_t* out, Extent extents,
                        std::int64_t count) {
  using Shape = ElementShape<N>;
  static_assert(N % 4 == 0);
  __shared__ uint4 keys[Shape::threads / 4];
  const int thread = int(threadIdx.x), element = thread % N;
  const std::int64_t array = std::int64_t(blockIdx.x) * Shape::arrays + thread / N;
  const std::int64_t begin = array < count ? extents.begin(array) : 0;
  const int n = array < count ? int(extents.begin(array + 1) - begin) : 0;
  const std::uint32_t key = element < n ? Keys::load(in[begin + element]) : padding;
  reinterpret_cast<std::uint32_t*>(keys)[thread] = key;
  __syncthreads();
  const uint4* others = keys + (thread - element) / 4;
  int rank = 0;
#pragma unroll 8
  for (int i = 0; i < N / 4; ++i) {
    const uint4 other = others[i];
    rank += (other.x < key) + (other.y < key) + (other.z < key) + (other.w < key);
  }
  if constexpr (Keys::may_be_equal) {
    const auto* other = reinterpret_cast<const std::uint32_t*>(others);
    for (int i = 0; i < element; ++i) rank += other[i] == key;
  }
  if (element < n) out[begin + rank] = Keys::store(key);
}

}  // namespace perrin::short_sort_detail
