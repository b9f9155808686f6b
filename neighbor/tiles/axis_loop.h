// The pair loop of the search without lists on a GPU with interactions sorted along axes
// (neighbor/tiles/axis_orders.h): a block of threads for a cell.
//
// The particles of a neighbour are brought into shared memory in their order along the axis of the
// two cells, the nearest first. The threads take the cell's own particles in that order, too: those
// of a warp look at the same candidate at a time, and end nearly together. Every pair is seen from
// both sides. A particle's sums lie in shared memory from one neighbour to the next. Where cells
// are few, the threads of a block form several groups, which share the neighbours.
#pragma once

#include "engine/device/parallel.h"
#include "neighbor/sort/short_sort.h"
#include "neighbor/tiles/direct_tiles.h"
#include "neighbor/tiles/staged_words.h"

namespace perrin::detail {

#ifdef __CUDACC__
struct AxisLoop {
  TileSearch search;
  AxisOrdersView orders;
  TileRoom room;  // `halo`: particles of a cell
  std::uint32_t* halt;
  Share own;  // searched for are the neighbours of these particles
  OwnTiles own_tiles;
  std::uint32_t groups;

  /// Shared memory: the cell's particles, and for each group what AxisGroup has.
  template <class Body>
  PERRIN_HD std::size_t bytes() const {
    return room.halo * (sizeof(Real4) + groups * bytes_of_place<Body>());
  }
  template <class Body>
  PERRIN_HD static constexpr std::size_t bytes_of_place() {
    static_assert(Body::sums <= TileBricks::most_sums);
    return sizeof(Real4) + extra_bytes<Body> + Body::sums * sizeof(Real) + 8;
  }
  __device__ void full(int word, std::uint32_t wanted) const {
    atomicMax(&room.words[word], wanted);
    room.words[0] = 1;
    *halt = 1;
  }
};

/// The work of a group of a cell's block.
template <class Body>
struct AxisGroup {
  static constexpr std::uint32_t nobody = 0xffffffffu;
  using Extra = ExtraOf<Body>;
  const Body& body;
  const AxisLoop& d;
  const TileBlock& block;
  Metric metric;
  std::uint32_t threads, group, thread;  // of a group; which one; which of its threads
  // Shared memory, `room.halo` places each: the cell's particles, which the groups share;
  // candidates; what they have besides; sums; places of candidates along the axis; their memory
  // indices.
  Real4 *mine, *staged;
  ExtraOf<Body>* extra;
  Real* sums;
  std::int32_t* along;
  std::uint32_t* index;

  __device__ __forceinline__ AxisGroup(const Body& b, const AxisLoop& loop, const TileBlock& tile,
                                       unsigned char* memory)
      : body(b), d(loop), block(tile), metric(*loop.search.metric) {
    const std::uint32_t room = d.room.halo;
    threads = blockDim.x / d.groups, group = threadIdx.x / threads, thread = threadIdx.x % threads;
    mine = reinterpret_cast<Real4*>(memory);
    staged = mine + room + group * (room * AxisLoop::bytes_of_place<Body>() / sizeof(Real4));
    extra = reinterpret_cast<ExtraOf<Body>*>(staged + room);
    sums = reinterpret_cast<Real*>(staged + room) + extra_bytes<Body> / sizeof(Real) * room;
    along = reinterpret_cast<std::int32_t*>(sums + Body::sums * room);
    index = reinterpret_cast<std::uint32_t*>(along + room);
  }

  __device__ __forceinline__ Real4 local(std::uint32_t j) const {
    const Position p = d.search.position[j];
    const Real3 r = d.search.geometry.template local<true>(p, block.origin);
    return {r.x, r.y, r.z, last_word<Body>(p, extra_for_type<Body> ? extra_of(body, j) : Extra{})};
  }

  /// The cell's own particles, whose sums are nothing yet.
  __device__ __forceinline__ void begin() const {
    for (std::uint32_t k = threadIdx.x; k < block.count; k += blockDim.x)
      mine[k] = local(block.first + k);
    for (std::uint32_t k = thread; k < block.count; k += threads)
      for (int s = 0; s < Body::sums; ++s) sums[std::uint32_t(s) * d.room.halo + k] = 0;
  }

  /// Particle a of the cell meets the first `end` candidates, but `self`.
  __device__ __forceinline__ void meet(std::uint32_t a, std::uint32_t end,
                                       std::uint32_t self) const {
    const std::uint32_t i = block.first + a;
    const auto own = body.own(i);
    const Real3 r = mine[a].xyz();
    const ExclusionView& exclusions = d.search.exclusions;
    const std::uint32_t id = exclusions ? d.search.id[i] : 0;
    const bool some = exclusions && exclusions.begin[id] < exclusions.begin[id + 1];
    Real sum[Body::sums] = {};
#pragma unroll 2
    for (std::uint32_t k = 0; k < end; ++k) {
      const Real4 q = staged[k];
      if (some && exclusions.excludes(id, d.search.id[index[k]])) continue;
      Real term[Body::sums];
      body.pair(own, d.search.geometry.template vector<true>(metric, r - q.xyz()),
                type_in<Body>(q.w), extra_in<Body>(q.w, extra, k), k != self, term);
      for (int s = 0; s < Body::sums; ++s) sum[s] += term[s];
    }
    for (int s = 0; s < Body::sums; ++s) sums[std::uint32_t(s) * d.room.halo + a] += sum[s];
  }

  __device__ __forceinline__ void stage_own_cell() const {
    for (std::uint32_t k = thread; k < block.count; k += threads) {
      staged[k] = mine[k], index[k] = block.first + k;
      if constexpr (extra_apart<Body>) extra[k] = body.extra(block.first + k);
    }
  }
  __device__ __forceinline__ void meet_own_cell() const {
    for (std::uint32_t a = thread; a < block.count; a += threads) meet(a, block.count, a);
  }

  /// A neighbour, ahead along an axis or (`back`) behind: particles `first` … `first + count - 1`.
  struct Neighbor {
    std::int32_t axis;
    bool back;
    std::uint32_t first, count;
    __device__ __forceinline__ std::int32_t flip() const {
      return back ? AxisOrdersView::last_place : 0;
    }
  };
  /// The n-th of 2 · axes.
  __device__ __forceinline__ Neighbor find_neighbor(std::uint32_t n,
                                                    const Vec3<std::int32_t>& at) const {
    const TileGeometry& g = d.search.geometry;
    const Vec3<std::int32_t> step = d.orders.axis[n / 2].step;
    const std::int32_t sign = n & 1 ? -1 : 1;
    const auto wrapped = [](std::int32_t c, std::int32_t cells) {
      return c < 0 ? c + cells : c >= cells ? c - cells : c;
    };
    const std::uint32_t* const start =
        d.search.cell_start + g.key(wrapped(at.x + sign * step.x, g.cells.x),
                                    wrapped(at.y + sign * step.y, g.cells.y),
                                    wrapped(at.z + sign * step.z, g.cells.z));
    return {std::int32_t(n / 2), (n & 1) != 0, start[0], start[1] - start[0]};
  }

  /// The particles of a neighbour, the nearest first.
  __device__ __forceinline__ void stage(const Neighbor& n) const {
    const std::uint32_t* words = d.orders.words + n.axis * d.orders.n + n.first;
    for (std::uint32_t k = thread; k < n.count; k += threads) {
      const std::uint32_t word = words[n.back ? n.count - 1 - k : k];
      const std::uint32_t j = n.first + short_sort_index(word);
      staged[k] = local(j);
      if constexpr (extra_apart<Body>) extra[k] = body.extra(j);
      along[k] = std::int32_t(short_sort_coordinate(word)) ^ n.flip();
      index[k] = j;
    }
  }
  __device__ __forceinline__ void meet(const Neighbor& n) const {
    const std::uint32_t* words = d.orders.words + n.axis * d.orders.n + block.first;
    const std::int32_t left = d.orders.axis[n.axis].left;
    for (std::uint32_t k = thread; k < block.count; k += threads) {
      const std::uint32_t word = words[n.back ? k : block.count - 1 - k];
      const std::int32_t limit = (std::int32_t(short_sort_coordinate(word)) ^ n.flip()) + left;
      std::uint32_t end = 0;  // the first candidate that is too far away
      for (std::uint32_t up = n.count; end < up;) {
        const std::uint32_t middle = (end + up) / 2;
        if (along[middle] <= limit)
          end = middle + 1;
        else
          up = middle;
      }
      if (end > 0) meet(short_sort_index(word), end, nobody);
    }
  }

  /// The own cell, and the neighbours along all axes: in each round one for each group.
  __device__ __forceinline__ void meet_all(std::uint32_t cell) const {
    const Vec3<std::int32_t> at = d.search.geometry.first_cell(cell);
    const std::uint32_t all = 1 + 2 * std::uint32_t(d.orders.axes);
    for (std::uint32_t first = 0; first < all; first += d.groups) {
      const std::uint32_t item = first + group;
      Neighbor n{0, false, 0, 0};
      if (item > 0 && item < all) n = find_neighbor(item - 1, at);
      if (n.count > d.room.halo) {  // the device is halted, and nobody uses the sums
        if (thread == 0) d.full(1, n.count);
        n.count = 0;
      }
      __syncthreads();
      if (item == 0)
        stage_own_cell();
      else
        stage(n);
      __syncthreads();
      if (item == 0)
        meet_own_cell();
      else
        meet(n);
    }
  }

  /// Adds up what the groups have found. `stride`: Reals from a group's sums to the next one's.
  __device__ __forceinline__ void store(const Real* of_first, std::size_t stride) const {
    for (std::uint32_t k = threadIdx.x; k < block.count; k += blockDim.x) {
      Real sum[Body::sums];
      for (int s = 0; s < Body::sums; ++s) {
        const Real* from = of_first + std::uint32_t(s) * d.room.halo + k;
        sum[s] = *from;
        for (std::uint32_t other = 1; other < d.groups; ++other) sum[s] += *(from += stride);
      }
      body.store(block.first + k, sum);
    }
  }
};

template <class Body>
__global__ void __launch_bounds__(TileBricks::most_groups* TileBricks::threads_of_group, 1)
    axis_loop_kernel(const Body body, const AxisLoop d) {
  // As direct_loop_kernel.
  if (__syncthreads_or(begin_kernel(d.halt))) return;
  extern __shared__ __align__(16) unsigned char memory[];
  if (const std::uint32_t all = d.own_tiles.beyond(gridDim.x); all > 0 && blockIdx.x == 0) {
    if (threadIdx.x == 0) d.full(4, all);
    return;
  }
  std::uint32_t cell = 0;
  if (!d.own_tiles.of_block(blockIdx.x, cell)) return;
  const TileBlock block(d.search, cell);
  if (block.count == 0 || !d.own.meets(block.first, block.count)) return;
  if (block.count > d.room.halo) {
    if (threadIdx.x == 0) d.full(1, block.count);
    return;
  }
  const AxisGroup<Body> work(body, d, block, memory);
  work.begin();
  work.meet_all(cell);
  __syncthreads();
  const std::size_t stride = d.room.halo * AxisLoop::bytes_of_place<Body>() / sizeof(Real);
  work.store(work.sums - work.group * stride, stride);
}

template <class Body>
void start_axis_loop(const DirectTiles& tiles, const char* name, const Body& body) {
  const Device& device = tiles.particles().device();
  const TileBricks& bricks = tiles.bricks();
  const AxisLoop d{tiles.search(),
                   tiles.axis_orders(),
                   bricks.room(),
                   device.halt().word(),
                   tiles.particles().share(),
                   tiles.own_tiles(),
                   std::uint32_t(bricks.groups())};
  const std::size_t shared = d.template bytes<Body>();
  if (shared > 48 * 1024)
    check_cuda(cudaFuncSetAttribute(axis_loop_kernel<Body>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
               name);
  launch_early(device, name, dim3(unsigned(bricks.tiles_at_most())),
               dim3(unsigned(bricks.groups() * bricks.single_threads())), shared,
               axis_loop_kernel<Body>, body, d);
}
#endif

}  // namespace perrin::detail
