// The sorts that `perrin-bench short-sort` compares with: CUB's block and warp sorts with one array
// to each block or logical warp, and the two classical networks in shared memory. Arrays of N keys,
// one after the other.
#pragma once

#include <cub/block/block_radix_sort.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_store.cuh>

#include <cstdint>

namespace perrin::short_sort_bench {

using Word = std::uint32_t;

/// CUB's BlockRadixSort, Threads × Items keys to a block.
template <int Threads, int Items>
__global__ void __launch_bounds__(Threads)
    block_radix_sort_kernel(const Word* in, Word* out, std::int64_t) {
  using Sort = cub::BlockRadixSort<Word, Threads, Items>;
  __shared__ typename Sort::TempStorage storage;
  const std::int64_t base = std::int64_t(blockIdx.x) * (Threads * Items);
  Word keys[Items];
  // Any order will do for the input; a radix sort leaves keys striped at no cost of ours.
  cub::LoadDirectStriped<Threads>(int(threadIdx.x), in + base, keys);
  Sort(storage).SortBlockedToStriped(keys);
  cub::StoreDirectStriped<Threads>(int(threadIdx.x), out + base, keys);
}

struct Less {
  __device__ bool operator()(Word a, Word b) const { return a < b; }
};

/// CUB's WarpMergeSort, Lanes × Items keys to a logical warp.
template <int Lanes, int Items>
__global__ void __launch_bounds__(128)
    warp_merge_sort_kernel(const Word* in, Word* out, std::int64_t count) {
  using Sort = cub::WarpMergeSort<Word, Items, Lanes>;
  constexpr bool whole = Items % 4 == 0;
  using Load = cub::WarpLoad<Word, Items,
                             whole ? cub::WARP_LOAD_VECTORIZE : cub::WARP_LOAD_TRANSPOSE, Lanes>;
  using Store =
      cub::WarpStore<Word, Items, whole ? cub::WARP_STORE_VECTORIZE : cub::WARP_STORE_TRANSPOSE,
                     Lanes>;
  union Storage {
    typename Sort::TempStorage sort;
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  };
  constexpr int warps = 128 / Lanes;
  __shared__ Storage storage[warps];
  const int warp = int(threadIdx.x) / Lanes;
  // Surplus warps of the last block sort its last array again.
  std::int64_t array = std::int64_t(blockIdx.x) * warps + warp;
  if (array >= count) array = count - 1;
  const std::int64_t base = array * (Lanes * Items);
  Word keys[Items];
  Load(storage[warp].load).Load(const_cast<Word*>(in) + base, keys);
  __syncwarp();
  Sort(storage[warp].sort).Sort(keys, Less{});
  __syncwarp();
  Store(storage[warp].store).Store(out + base, keys);
}

template <int N>
struct NetworkShape {
  static constexpr int padded = N <= 8     ? 8
                                : N <= 16  ? 16
                                : N <= 32  ? 32
                                : N <= 64  ? 64
                                : N <= 128 ? 128
                                : N <= 256 ? 256
                                : N <= 512 ? 512
                                           : 1024;
  static constexpr int arrays = padded < 512 ? 512 / padded : 1;  // of a block
  static constexpr int threads = arrays * padded / 2;  // one for each comparator of a stage
};

/// Batcher's bitonic (odd_even: odd-even merge) sort, in shared memory, a barrier after each stage.
template <int N, bool odd_even>
__global__ void __launch_bounds__(NetworkShape<N>::threads)
    shared_network_kernel(const Word* in, Word* out, std::int64_t count) {
  using Shape = NetworkShape<N>;
  constexpr int P = Shape::padded;
  __shared__ Word keys[Shape::arrays * P];
  const std::int64_t first = std::int64_t(blockIdx.x) * Shape::arrays;
  const int thread = int(threadIdx.x);
  for (int i = thread; i < Shape::arrays * P; i += Shape::threads) {
    const std::int64_t array = first + i / P;
    keys[i] = array < count && i % P < N ? in[array * N + i % P] : 0xffffffffu;
  }
  Word* mine = keys + thread / (P / 2) * P;
  const int comparator = thread % (P / 2);
  for (int size = 2; size <= P; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      int low = 2 * comparator - (comparator & (stride - 1)), high = low + stride;
      bool acts = true;
      if constexpr (odd_even) {
        // All of the first stage of a merge; then between neighbouring blocks, inside the run.
        if (stride < size / 2) {
          const int offset = comparator & (size / 2 - 1);
          acts = offset >= stride;
          low -= stride;
          high = low + stride;
        }
      } else if (stride == size / 2) {
        high = (low & ~(size - 1)) + size - 1 - (low & (size - 1));
      }
      if (acts) {
        const Word a = mine[low], b = mine[high];
        if (a > b) {
          mine[low] = b;
          mine[high] = a;
        }
      }
    }
  __syncthreads();
  for (int i = thread; i < Shape::arrays * P; i += Shape::threads) {
    const std::int64_t array = first + i / P;
    if (array < count && i % P < N) out[array * N + i % P] = keys[i];
  }
}

/// Adds to counts[0] the neighbours out of order, to counts[1] a hash of the keys with their
/// arrays.
static __global__ void verify_kernel(const Word* keys, const std::int32_t* offsets,
                                     std::int64_t count, unsigned long long* counts) {
  const std::int64_t array = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (array >= count) return;
  unsigned long long wrong = 0, hash = 0;
  for (std::int32_t i = offsets[array]; i < offsets[array + 1]; ++i) {
    wrong += i > offsets[array] && keys[i - 1] > keys[i] ? 1 : 0;
    const unsigned long long mixed =
        ((unsigned long long)(array) << 32 | keys[i]) * 0x9e3779b97f4a7c15ull;
    hash += (mixed ^ mixed >> 29) * 0xd1342543de82ef95ull;
  }
  atomicAdd(&counts[0], wrong);
  atomicAdd(&counts[1], hash);
}

/// Packed words with random coordinates.
static __global__ void fill_kernel(Word* keys, const std::int32_t* offsets, std::int64_t count) {
  const std::int64_t array = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (array >= count) return;
  for (std::int32_t i = offsets[array]; i < offsets[array + 1]; ++i) {
    Word random = Word(i) * 0x9e3779b9u + 0x7f4a7c15u;
    random = (random ^ random >> 16) * 0x85ebca6bu;
    random = (random ^ random >> 13) * 0xc2b2ae35u;
    keys[i] = random >> 16 << 16 | Word(i - offsets[array]);
  }
}

}  // namespace perrin::short_sort_bench
