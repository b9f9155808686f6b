// The pair loop of the search without lists on a GPU (neighbor/tiles/direct_tiles.h): the block of
// a tile finds the neighbours of its particles and goes through them at once.
#pragma once

#include "engine/device/parallel.h"
#include "neighbor/tiles/axis_loop.h"
#include "neighbor/tiles/direct_tiles.h"
#include "neighbor/tiles/matrix_search.h"
#include "neighbor/tiles/sorted_rows.cuh"

namespace perrin {

#ifdef __CUDACC__
namespace detail {

/// Shared memory: coordinates and type of the halo, extra words, coordinates with their squares for
/// MatrixSearch, memory indices where there are exclusions, the cells of the halo, what the search
/// needs.
struct DirectLoop {
  TileSearch search;
  TileRoom room;
  std::uint32_t* halt;
  Share own;  // searched for are the neighbours of these particles
  OwnTiles own_tiles;

  PERRIN_HD std::size_t index_bytes() const {
    return search.exclusions ? std::size_t(room.halo + 4) / 4 * 16 : 0;
  }
  template <class Body>
  PERRIN_HD std::size_t all_extra_bytes() const {
    return (std::size_t(room.halo + 4) * extra_bytes<Body> + 15) / 16 * 16;
  }
  template <class Body, bool Matrix>
  PERRIN_HD std::size_t halo_bytes() const {
    const TileGeometry& g = search.geometry;
    return std::size_t(room.halo + 4) * sizeof(Real4) * (Matrix ? 2 : 1) + all_extra_bytes<Body>() +
           index_bytes() + std::size_t(g.halo.x * g.halo.y * g.halo.z + 4) / 4 * 16;
  }
  __device__ void full(int word, std::uint32_t wanted) const {
    atomicMax(&room.words[word], wanted);
    room.words[0] = 1;
    *halt = 1;
  }
};

/// Where things are in a block's shared memory.
template <class Body, bool General, bool Sorted>
struct DirectMemory {
  static constexpr bool matrix = !General && !Sorted;
  Real4 *staged, *lengths;
  ExtraOf<Body>* extra;
  std::uint32_t *index, *cell_offset;
  unsigned char* work;

  __device__ __forceinline__ DirectMemory(const DirectLoop& d, unsigned char* memory) {
    const std::uint32_t room = d.room.halo + 4;
    staged = reinterpret_cast<Real4*>(memory);
    extra = reinterpret_cast<ExtraOf<Body>*>(staged + room);
    lengths = staged + room + d.all_extra_bytes<Body>() / sizeof(Real4);
    index = reinterpret_cast<std::uint32_t*>(matrix ? lengths + room : lengths);
    cell_offset = index + d.index_bytes() / 4;
    work = memory + d.halo_bytes<Body, matrix>();
  }

  /// Brings the halo's `total` places there.
  __device__ __forceinline__ void stage(const Body& body, const TileSearch& s,
                                        const TileBlock& block, std::uint32_t total) const {
    struct Staged {
      Position position;
      ExtraOf<Body> extra;
    };
    block.for_each_place(
        total, staged,
        [&](std::uint32_t j) {
          return Staged{s.position[j], extra_of(body, j)};
        },
        [&](std::uint32_t k, std::uint32_t j, const Staged& got) {
          const Real3 r = s.geometry.template local<General>(got.position, block.origin);
          staged[k] = {r.x, r.y, r.z, last_word<Body>(got.position, got.extra)};
          if constexpr (extra_apart<Body>) extra[k] = got.extra;
          if constexpr (matrix) lengths[k] = {r.x, r.y, r.z, dot(r, r)};
          if (s.exclusions) index[k] = j;
        });
    if (threadIdx.x < 4) staged[total + threadIdx.x] = {};  // may be read, is never used
    if constexpr (matrix)
      if (threadIdx.x == 0) lengths[total] = beyond_reach();
  }
};

template <class Body, bool General, bool Sorted>
__global__ void __launch_bounds__(TileBricks::threads, 3)
    direct_loop_kernel(const Body body, const DirectLoop d) {
  // A block of this kernel that runs out of room halts the device: one that starts just then must
  // stop as a whole.
  if (__syncthreads_or(begin_kernel(d.halt))) return;
  extern __shared__ __align__(16) unsigned char memory[];
  const TileSearch& s = d.search;
  const TileGeometry& g = s.geometry;
  const DirectMemory<Body, General, Sorted> at(d, memory);
  if (const std::uint32_t all = d.own_tiles.beyond(gridDim.x); all > 0 && blockIdx.x == 0) {
    if (threadIdx.x == 0) d.full(4, all);
    return;
  }
  std::uint32_t brick = 0;
  if (!d.own_tiles.of_block(blockIdx.x, brick)) return;
  const TileBlock block(s, brick);
  if (block.count == 0 || !d.own.meets(block.first, block.count)) return;
  const std::uint32_t total = block.lay_out(s, at.cell_offset, at.staged, d.room.halo);
  if (total > d.room.halo) {
    if (threadIdx.x == 0) d.full(1, total);
    return;
  }
  at.stage(body, s, block, total);
  __syncthreads();

  // Lists of this thread's particle: entry k is list[k · stride].
  constexpr std::uint32_t per_warp = Sorted ? 32 : unit_particles, lanes = 32 / per_warp;
  const std::uint32_t m = (threadIdx.x & 31) / lanes, sub = threadIdx.x & (lanes - 1);
  const UnitScratch scratch(at.work + threadIdx.x / 32 * UnitScratch::bytes(General, d.room.list),
                            General, d.room.list);
  const std::uint32_t stride = Sorted ? blockDim.x : 1;
  std::uint16_t* list = Sorted ? reinterpret_cast<std::uint16_t*>(at.work) + threadIdx.x
                               : scratch.list + m * scratch.stride();
  for (std::uint32_t first = threadIdx.x / 32 * per_warp; first < block.count;
       first += blockDim.x / 32 * per_warp) {
    const bool present = first + m < block.count;
    const std::int64_t i = block.first + first + (present ? m : 0);
    const auto own = body.own(i);  // on its way while the search goes on
    const Real3 r = g.template local<General>(s.position[i], block.origin);
    std::uint32_t found;
    if constexpr (Sorted)
      found = find_in_rows(s, block, at.cell_offset, at.staged, i, list, stride, d.room.list);
    else if constexpr (General)
      found = UnitSearch{s, block, at.cell_offset, at.staged, total, scratch}(first);
    else
      found = MatrixSearch{s, block, at.cell_offset, at.lengths, total, scratch}(first);
    if (__any_sync(0xffffffffu, found > d.room.list)) {
      if (found > d.room.list) d.full(2, found);
      continue;
    }
    if (!present) found = 0;
    if constexpr (!Sorted)
      if (s.has_filter()) found = filter_list(s, scratch, at.index, i, m, found);
    // Each thread its part of the list: see tile_loop_kernel.
    const std::uint32_t each = (found + lanes - 1) / lanes, begin = sub * each;
    const std::uint32_t end = begin + each < found ? begin + each : found;
    const Metric metric = *s.metric;
    Real sum[Body::sums] = {};
    for (std::uint32_t k = begin; k < end; ++k) {
      const std::uint32_t place = list[k * stride];
      const Real4 q = at.staged[place];
      Real term[Body::sums];
      body.pair(own, g.template vector<General>(metric, r - q.xyz()), type_in<Body>(q.w),
                extra_in<Body>(q.w, at.extra, place), true, term);
      for (int c = 0; c < Body::sums; ++c) sum[c] += term[c];
    }
    for (std::uint32_t step = lanes / 2; step > 0; step /= 2)
      for (int c = 0; c < Body::sums; ++c)
        sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], int(step));
    if (present && sub == 0) body.store(i, sum);
    __syncwarp();
  }
}

template <class Body, bool General, bool Sorted>
void start_direct_loop(const DirectTiles& tiles, const char* name, const Body& body) {
  const Device& device = tiles.particles().device();
  const TileBricks& bricks = tiles.bricks();
  const DirectLoop d{tiles.search(), bricks.room(), device.halt().word(), tiles.particles().share(),
                     tiles.own_tiles()};
  const int threads = Sorted ? bricks.single_threads() : bricks.search_threads();
  const std::size_t lists =
      Sorted ? std::size_t(d.room.list) * std::size_t(threads) * sizeof(std::uint16_t)
             : std::size_t(threads / 32) * UnitScratch::bytes(General, d.room.list);
  constexpr bool matrix = !General && !Sorted;
  const std::size_t shared = d.template halo_bytes<Body, matrix>() + lists;
  if (shared > 48 * 1024)
    check_cuda(cudaFuncSetAttribute(direct_loop_kernel<Body, General, Sorted>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
               name);
  launch_early(device, name, dim3(unsigned(bricks.tiles_at_most())), dim3(unsigned(threads)),
               shared, direct_loop_kernel<Body, General, Sorted>, body, d);
}

}  // namespace detail
#endif

/// Runs the body over all pairs within the range. Halts the device if something was full.
template <class Body>
void run_pairs([[maybe_unused]] const char* name, [[maybe_unused]] const DirectTiles& tiles,
               [[maybe_unused]] const Body& body) {
#ifdef __CUDACC__
  if (tiles.axis_orders().axes > 0) return detail::start_axis_loop(tiles, name, body);
  // Sorted: a thread per particle, candidates in rows that are cut at both ends by x, which is
  // Fomin's method. Else a warp searches for a few particles together.
  if constexpr (detail::runs_in_every_step<Body>) {
    const TileSearch search = tiles.search();
    if (search.geometry.sorted && !search.general && !search.exclusions)
      return detail::start_direct_loop<Body, false, true>(tiles, name, body);
    if constexpr (sizeof(Real) == 4)
      if (!search.general) return detail::start_direct_loop<Body, false, false>(tiles, name, body);
  }
  detail::start_direct_loop<Body, true, false>(tiles, name, body);
#endif
}

}  // namespace perrin
