// The searches of interaction_sort.h with a block of threads for a cell: the particles of a
// neighbour are brought into shared memory in their order along the axis, and the threads take the
// cell's own in that order, too. All threads of a warp then begin with the same candidate, and end
// nearly together; where a cell has more particles than a warp has threads, they do not wait for
// the longest sequence of the whole cell. Every pair is seen from both sides. CUDA's own names
// only, so that it runs on an emulated device as well.
#pragma once

#include "tests/benchmarks/interaction_sort.h"

namespace perrin::interaction_sort {

/// Room for `Most` particles in a cell. Cuts: none or axes.
template <Cut cut, class Body, int Threads, int Most>
__global__ void __launch_bounds__(Threads) cell_block_kernel(const View v, const Body body) {
  static_assert(cut != Cut::by_x);
  using State = typename Body::State;
  __shared__ Real4 own[Most], staged[Most];  // staged: w is the place along the axis
  __shared__ State states[Most];
  __shared__ std::int32_t who[Most];
  const std::int32_t cell = std::int32_t(blockIdx.x), thread = std::int32_t(threadIdx.x);
  const std::int32_t begin = v.start[cell], end = v.start[cell + 1], count = end - begin;
  const std::int32_t x = cell % v.cells, y = cell / v.cells % v.cells, z = cell / v.cells / v.cells;
  for (std::int32_t a = thread; a < count; a += Threads) {
    own[a] = v.place[begin + a];
    states[a] = body.begin(begin + a);
  }
  __syncthreads();
  for (std::int32_t a = thread; a < count; a += Threads) {
    State state = states[a];
    for (std::int32_t k = 0; k < count; ++k) {
      if (k == a) continue;
      const Real3 d = own[a].xyz() - own[k].xyz();
      body.meet(state, d, dot(d, d), std::uint32_t(begin + k));
    }
    states[a] = state;
  }
  for (std::int32_t n = 0; n < v.direction_count; ++n) {
    const Direction d = v.directions[n];
    const std::int32_t other = v.neighbour(x + d.x, y + d.y, z + d.z);
    const std::int32_t first = v.start[other], last = v.start[other + 1];
    // From the near end of both sequences on; descending places are turned round.
    const std::uint32_t flip = d.sign > 0 ? 0u : 0xffffu;
    const std::uint32_t* words = v.words + d.axis * v.n;
    __syncthreads();
    for (std::int32_t k = thread; k < last - first; k += Threads) {
      std::int32_t from = first + k;
      std::uint32_t along = 0;
      if constexpr (cut == Cut::axes) {
        const std::uint32_t word = words[d.sign > 0 ? first + k : last - 1 - k];
        from = first + std::int32_t(short_sort_index(word));
        along = short_sort_coordinate(word) ^ flip;
      }
      Real4 p = v.place[from];
      p.w = Real(along);
      staged[k] = p;
      who[k] = from;
    }
    __syncthreads();
    // In bins of the 16 bits: one more for the fractions of both, one for rounding.
    const Real left = std::ceil(d.left * d.scale) + Real(2);
    for (std::int32_t k = thread; k < count; k += Threads) {
      std::int32_t a = k;
      Real limit = Real(65536);
      if constexpr (cut == Cut::axes) {
        const std::uint32_t word = words[d.sign > 0 ? end - 1 - k : begin + k];
        a = std::int32_t(short_sort_index(word));
        limit = Real(short_sort_coordinate(word) ^ flip) + left;
      }
      const Real3 r{own[a].x - Real(d.x) * v.width, own[a].y - Real(d.y) * v.width,
                    own[a].z - Real(d.z) * v.width};
      State state = states[a];
      for (std::int32_t m = 0; m < last - first; ++m) {
        const Real4 q = staged[m];
        if (q.w > limit) break;
        const Real3 vector = r - q.xyz();
        body.meet(state, vector, dot(vector, vector), std::uint32_t(who[m]));
      }
      states[a] = state;
    }
  }
  __syncthreads();
  for (std::int32_t a = thread; a < count; a += Threads) body.end(begin + a, states[a]);
}

}  // namespace perrin::interaction_sort
