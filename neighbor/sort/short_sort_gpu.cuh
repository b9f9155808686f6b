// CUDA kernels of the short sort (neighbor/sort/short_sort.h): the network of short_sort_network.h
// on the lanes of a warp, keys in registers, 32 / L arrays per warp at once.
//
// Only CUDA's own names are used, so that the unit tests can run the same code on an emulated warp.
// Including file: <cstddef>, <cstdint>, <utility> and the CUDA names (or their emulation) first.
#pragma once

#define PERRIN_SORT_ISA warp
#include "neighbor/sort/short_sort_network.h"
#undef PERRIN_SORT_ISA

namespace perrin::short_sort_detail {

constexpr std::uint32_t padding = 0xffffffffu;
constexpr unsigned all_lanes = 0xffffffffu;

/// Rows of 32 keys, one in each lane of a warp. With Multiply, max(a, b) = a + b - min(a, b) by two
/// integer multiply-adds: minima and maxima run in the half-rate ALU alone, multiply-adds in the
/// FMA pipe beside it. `one` and `minus_one` come from the launch, or the compiler would fold them
/// back into additions for the ALU.
template <int Multiply>
struct WarpOps {
  using Row = std::uint32_t;
  unsigned lane;
  std::uint32_t one, minus_one;

  __device__ __forceinline__ void order(Row& low, Row& high) const {
    const Row smaller = min(low, high);
    if constexpr (Multiply != 0)
      high = smaller * minus_one + (low * one + high);
    else
      high = max(low, high);
    low = smaller;
  }
  template <int Mask>
  __device__ __forceinline__ void swap_lanes(const Row& from, Row& to) const {
    to = __shfl_xor_sync(all_lanes, from, Mask);
  }
  template <int Bit>
  __device__ __forceinline__ void keep(Row& mine, const Row& other) const {
    mine = (lane & Bit) != 0 ? max(mine, other) : min(mine, other);
  }
};

/// How sorted keys, E in a row in each lane, get to memory in the uniform kernel.
enum class Store {
  direct,    // each lane its own 16-byte words: half sectors
  exchange,  // pairs of lanes change halves first: whole 32-byte sectors
  staged     // through shared memory: whole 512-byte lines
};

template <int L, int E>
struct UniformShape {
  static constexpr int vectors = E / 4;  // 16-byte words of a lane
  static constexpr int arrays = 32 / L;  // of a warp at once
  static constexpr int warps = 4;        // of a block
  static constexpr int threads = 32 * warps;
};

/// 16-byte word `word` of a staging area of 32·vectors words, moved so that neither lanes that
/// write `vectors` words in a row nor lanes that read consecutive words meet in a bank.
__device__ __forceinline__ int staged_word(int word) { return word ^ ((word >> 3) & 7); }

/// `count` arrays of L·E keys each, one after the other; each warp takes Batches × 32 / L of them.
/// in and out 16-byte aligned; they may be the same.
template <int L, int E, int Batches, Store store, int Multiply>
__global__ void __launch_bounds__(UniformShape<L, E>::threads)
    sort_uniform_kernel(const uint4* in, uint4* out, std::int64_t count, std::uint32_t one,
                        std::uint32_t minus_one) {
  using Shape = UniformShape<L, E>;
  static_assert(E % 4 == 0 && (store != Store::exchange || (Shape::vectors % 2 == 0 && L > 1)));
  constexpr int vectors = Shape::vectors;
  const int lane = int(threadIdx.x) % 32, warp_of_block = int(threadIdx.x) / 32, sub = lane % L;
  const std::int64_t first =
      (std::int64_t(blockIdx.x) * Shape::warps + warp_of_block) * (Shape::arrays * Batches) +
      lane / L;
  WarpOps<Multiply> ops{unsigned(lane), one, minus_one};

  std::uint32_t rows[Batches][E];
#pragma unroll
  for (int b = 0; b < Batches; ++b) {
    const std::int64_t array = first + b * Shape::arrays;
    const uint4* from = in + array * (L * vectors) + sub;
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      uint4 word = make_uint4(padding, padding, padding, padding);
      if (array < count) word = from[v * L];
      rows[b][4 * v] = word.x;
      rows[b][4 * v + 1] = word.y;
      rows[b][4 * v + 2] = word.z;
      rows[b][4 * v + 3] = word.w;
    }
  }
#pragma unroll
  for (int b = 0; b < Batches; ++b) {
    warp::sort_lanes<L>(ops, rows[b]);
    const std::int64_t array = first + b * Shape::arrays;
    std::uint32_t(&r)[E] = rows[b];
    if constexpr (store == Store::staged) {
      __shared__ uint4 staging[Shape::warps][32 * vectors];
      __syncwarp();
#pragma unroll
      for (int v = 0; v < vectors; ++v)
        staging[warp_of_block][staged_word(lane * vectors + v)] =
            make_uint4(r[4 * v], r[4 * v + 1], r[4 * v + 2], r[4 * v + 3]);
      __syncwarp();
      uint4* to = out + (array - lane / L) * (L * vectors);
      const std::int64_t words = (count - (array - lane / L)) * (L * vectors);
#pragma unroll
      for (int v = 0; v < vectors; ++v)
        if (v * 32 + lane < words)
          to[v * 32 + lane] = staging[warp_of_block][staged_word(v * 32 + lane)];
    } else {
      uint4* to = out + array * (L * vectors) + sub * vectors;
      if constexpr (store == Store::exchange) {
        // The even lane ends with the first halves of four sectors, two of its own and two of its
        // neighbour's, the odd lane with the second halves.
        const bool odd = lane % 2 != 0;
        to = out + array * (L * vectors) + (sub & ~1) * vectors + (odd ? 1 : 0);
#pragma unroll
        for (int v = 0; v < vectors; v += 2) {
#pragma unroll
          for (int c = 4 * v; c < 4 * v + 4; ++c) {
            const std::uint32_t other = __shfl_xor_sync(all_lanes, odd ? r[c] : r[c + 4], 1);
            const std::uint32_t own = odd ? r[c + 4] : r[c];
            r[c] = odd ? other : own;
            r[c + 4] = odd ? own : other;
          }
        }
        if (array < count) {
#pragma unroll
          for (int v = 0; v < vectors; v += 2) {
            to[v] = make_uint4(r[4 * v], r[4 * v + 1], r[4 * v + 2], r[4 * v + 3]);
            to[v + vectors] = make_uint4(r[4 * v + 4], r[4 * v + 5], r[4 * v + 6], r[4 * v + 7]);
          }
        }
      } else if (array < count) {
#pragma unroll
        for (int v = 0; v < vectors; ++v)
          to[v] = make_uint4(r[4 * v], r[4 * v + 1], r[4 * v + 2], r[4 * v + 3]);
      }
    }
  }
}

/// Where array i of a batch lies: offsets, or equal lengths.
struct Extent {
  const std::int32_t* offsets;
  int length;
  __device__ __forceinline__ std::int64_t begin(std::int64_t i) const {
    return offsets != nullptr ? std::int64_t(offsets[i]) : i * length;
  }
};

constexpr int ragged_warps = 4;
constexpr int ragged_rows = 24;  // most keys per lane of the classes below

/// Key `word` of a staging area of whole rows of 32: conflict-free for lanes that write E keys in a
/// row each (E a power of two; nearly so otherwise) and for lanes that read consecutive keys.
__device__ __forceinline__ int staged_key(int word) { return word ^ ((word >> 5) & 31); }

/// The consecutive arrays that one warp works on; lane i knows the extent of the i-th of `held`.
struct RaggedArrays {
  const std::uint32_t* in;
  std::uint32_t* out;
  std::int64_t begin;  // this lane's array
  int length;
  int held;
  int lane;
  std::uint32_t* staging;

  /// Sorts arrays at, at + 1, … of at most L·E keys each, up to `most` ≤ 32 / L; how many it was.
  template <int L, int E>
  __device__ __forceinline__ int sort(int at, int most) const {
    static_assert(E <= ragged_rows);
    const int take = most < held - at ? most : held - at;
    const int group = lane / L, sub = lane % L;
    const std::int64_t first = __shfl_sync(all_lanes, begin, at);
    const std::int64_t end = __shfl_sync(all_lanes, begin + length, at + take - 1);
    const std::int64_t from = __shfl_sync(all_lanes, begin, (at + group) % 32);
    const int extent = __shfl_sync(all_lanes, length, (at + group) % 32);
    const int n = group < take ? extent : 0;

    std::uint32_t rows[E];
#pragma unroll
    for (int i = 0; i < E; ++i) {
      rows[i] = padding;
      if (i * L + sub < n) rows[i] = in[from + i * L + sub];
    }
    WarpOps<0> ops{unsigned(lane), 1, 0};
    warp::sort_lanes<L>(ops, rows);

    // Staged in lines of 32 keys as memory has them: whole lines are written but for the two ends.
    const std::int64_t line = first / 32 * 32;
    const int skip = int(first - line), words = int(end - line), base = int(from - line) + sub * E;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < E; ++i)
      if (sub * E + i < n) staging[staged_key(base + i)] = rows[i];
    __syncwarp();
    for (int word = lane; word < words; word += 32)
      if (word >= skip) out[line + word] = staging[staged_key(word)];
    return take;
  }
};

/// Any length, slowly: the bitonic merge in memory by one warp. Comparators that mirror the second
/// run always move the larger key up, so keys beyond the end need not exist.
__device__ inline void sort_long(const std::uint32_t* in, std::uint32_t* out, int n, int lane) {
  if (in != out)
    for (int i = lane; i < n; i += 32) out[i] = in[i];
  __syncwarp();
  for (int run = 1; run < n; run *= 2)
    for (int distance = run; distance > 0; distance /= 2) {
      for (int i = lane; i < n; i += 32) {
        const int partner = distance == run ? i ^ (2 * run - 1) : i ^ distance;
        if (partner > i && partner < n) {
          const std::uint32_t a = out[i], b = out[partner];
          out[i] = min(a, b);
          out[partner] = max(a, b);
        }
      }
      __syncwarp();
    }
}

/// Arrays of any lengths, chunk ≤ 32 consecutive ones to each warp, which sorts them class by
/// class: as many at once as its lanes hold, in the smallest shape that fits them.
[[maybe_unused]] static __global__ void __launch_bounds__(32 * ragged_warps, 8)
    sort_ragged_kernel(const std::uint32_t* in, std::uint32_t* out, Extent extents,
                       std::int64_t count, int chunk) {
  __shared__ std::uint32_t staging[ragged_warps][32 * (ragged_rows + 1)];
  const int lane = int(threadIdx.x) % 32;
  // Through a shuffle the compiler learns that it is the same in all lanes, and with it all that
  // the choice of classes depends on: no provisions for diverged lanes at every shuffle.
  const int warp_of_block = __shfl_sync(all_lanes, int(threadIdx.x) / 32, 0);
  const std::int64_t first = (std::int64_t(blockIdx.x) * ragged_warps + warp_of_block) * chunk;
  const std::int64_t left = count - first;
  const int held = left < chunk ? int(left) : chunk;
  std::int64_t begin = 0;
  int length = 0;
  if (lane < held) {
    begin = extents.begin(first + lane);
    length = int(extents.begin(first + lane + 1) - begin);
  }
  const RaggedArrays arrays{in, out, begin, length, held, lane, staging[warp_of_block]};
  const unsigned over8 = __ballot_sync(all_lanes, length > 8);
  const unsigned over16 = __ballot_sync(all_lanes, length > 16);
  const unsigned over32 = __ballot_sync(all_lanes, length > 32);
  const unsigned over64 = __ballot_sync(all_lanes, length > 64);
  const unsigned over96 = __ballot_sync(all_lanes, length > 96);
  const unsigned over128 = __ballot_sync(all_lanes, length > 128);
  const unsigned over192 = __ballot_sync(all_lanes, length > 192);
  const unsigned over256 = __ballot_sync(all_lanes, length > 256);

  for (int at = 0; at < held;) {
    const auto fits = [&](unsigned over, int next) {
      const unsigned window = next == 32 ? all_lanes : (1u << next) - 1;
      return ((over >> at) & window) == 0;
    };
    int take = 0;
    if (fits(over8, 32)) {
      take = arrays.sort<1, 8>(at, 32);
    } else if (fits(over16, 16)) {
      take = arrays.sort<2, 8>(at, 16);
    } else if (fits(over32, 8)) {
      take = arrays.sort<4, 8>(at, 8);
    } else if (fits(over64, 4)) {
      take = arrays.sort<8, 8>(at, 4);
    } else if (fits(over96, 8)) {
      take = arrays.sort<4, 24>(at, 8);
    } else if (fits(over128, 4)) {
      take = arrays.sort<8, 16>(at, 4);
    } else if (fits(over192, 4)) {
      take = arrays.sort<8, 24>(at, 4);
    } else if (fits(over256, 1)) {
      take = arrays.sort<16, 16>(at, fits(over256, 2) ? 2 : 1);
    } else {
      take = 1;
      const std::int64_t from = __shfl_sync(all_lanes, begin, at);
      sort_long(in + from, out + from, __shfl_sync(all_lanes, length, at), lane);
    }
    at += take;
  }
}

}  // namespace perrin::short_sort_detail
