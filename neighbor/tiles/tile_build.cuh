// Building lists of tiles (neighbor/tiles/tile_list.h): a block for each tile.
#pragma once

#include "engine/device/parallel.h"
#include "neighbor/tiles/matrix_search.h"
#include "neighbor/tiles/tile_list.h"

namespace perrin::detail {

struct TileBuild {
  TileSearch search;
  Tile* tiles;
  std::uint32_t *halo, *rows;
  TileChunk* chunks;
  std::uint32_t* count;
  std::uint32_t* used;  // entries of halo, tiles done, those without and with ghosts
  std::uint32_t* halt;
  std::uint32_t* flag;   // of ListBuild
  std::int64_t* builds;  // of ListBuild
  TileRoom room;
  std::uint32_t halo_pool, unit_rows;
  int log2_lanes;
  std::uint32_t units_before;  // no unit of these tiles is
  Share own;
  OwnTiles own_tiles;
  std::uint32_t tiles_at_most;

#ifdef __CUDACC__
  /// Of several domains' tiles those with ghosts are the last, so that blocks which work on them
  /// begin when ghosts have come.
  __device__ std::uint32_t place_of_tile(std::uint32_t brick, bool has_ghosts) const {
    if (!own_tiles.range) return brick;
    return has_ghosts ? own_tiles.range[1] - 1 - atomicAdd(&used[3], 1u)
                      : own_tiles.range[0] + atomicAdd(&used[2], 1u);
  }
#endif
};

/// A thread's part of a list that eight share, two entries at a time.
struct Eighth {
  const std::uint32_t* two;
  std::int32_t left;

  __device__ Eighth(const UnitScratch& scratch, std::uint32_t m, std::uint32_t found,
                    std::uint32_t eighth) {
    const std::uint32_t each = (found + 15) / 16 * 2, begin = eighth * each;
    two = reinterpret_cast<const std::uint32_t*>(scratch.list + m * scratch.stride() + begin);
    left = std::int32_t(begin + each < found ? each : found - begin);
  }
  /// Entries 2k and 2k+1, `none` behind the last.
  __device__ std::uint32_t operator()(std::int32_t k, std::uint32_t none) const {
    const std::uint32_t both = two[k];
    const std::uint32_t one = (both & 0xffff) | (none << 16);
    return 2 * k + 1 < left ? both : 2 * k < left ? one : none | (none << 16);
  }
};

/// One tile.
template <bool General>
struct TileBuilder {
  const TileBuild& b;
  const TileBlock& block;
  std::uint32_t brick, unit_begin;
  Real4* staged;                // coordinates of the halo
  std::uint32_t* cell_offset;   // where its cells begin
  unsigned char* units_memory;  // of the warps

  struct Halo {
    std::uint32_t begin, places;
    bool has_room;
  };

  /// Makes the tile's entry and loads its halo, if there is room.
  __device__ Halo stage() const {
    __shared__ std::uint32_t halo_begin, full;
    const std::uint32_t total = block.lay_out(b.search, cell_offset, staged, b.room.halo);
    if (threadIdx.x == 0) {
      halo_begin = atomicAdd(&b.used[0], total);
      full = total > b.room.halo || halo_begin + total > b.halo_pool;
      if (total > b.room.halo) atomicMax(&b.room.words[1], total);
      if (full) b.room.words[0] = 1;
    }
    __syncthreads();
    if (full) return {0, 0, false};
    const TileGeometry& g = b.search.geometry;
    std::uint32_t* halo = b.halo + halo_begin;
    bool has_ghosts = false;
    block.for_each_place(
        total, staged, [&](std::uint32_t j) { return b.search.position[j]; },
        [&](std::uint32_t k, std::uint32_t j, const Position& q) {
          const Real3 r = g.local<General>(q, block.origin);
          staged[k] = {r.x, r.y, r.z, General ? Real(0) : dot(r, r)};
          halo[k] = j;
          has_ghosts |= !b.own.meets(j, 1);
        });
    if (threadIdx.x == 0) staged[total] = beyond_reach();
    has_ghosts = __syncthreads_or(has_ghosts);
    if (threadIdx.x == 0)
      b.tiles[b.place_of_tile(brick, has_ghosts)] = {
          block.first, block.count, has_ghosts, halo_begin, total, unit_begin, block.origin};
    return {halo_begin, total, true};
  }

  /// Writes the lists of unit u: `all` is the length of the list of particle first + lane/4. As
  /// many rows of chunks as the longest needs; TileChunk says how they are shared.
  __device__ void write_unit(const UnitScratch& scratch, std::uint32_t u, std::uint32_t first,
                             std::uint32_t all, std::uint32_t total) const {
    const std::uint32_t lane = threadIdx.x & 31, lanes = 1u << b.log2_lanes;
    const std::uint32_t per_unit = 32u >> b.log2_lanes, n = block.count;
    const std::uint32_t m = (u * per_unit + (lane >> b.log2_lanes)) - first;
    const std::uint32_t found = __shfl_sync(0xffffffffu, all, m * (32 / unit_particles));
    if (u * per_unit >= n) return;
    if ((lane & (lanes - 1)) == 0 && first + m < n) b.count[block.first + first + m] = found;
    const bool pairs = lanes == 4;
    __syncwarp();
    const std::uint32_t most = __reduce_max_sync(0xffffffffu, found), row = 4 * lanes;
    const std::int32_t rows = std::int32_t((most + row - 1) / row), at_once = pairs ? 1 : 2;
    if (lane == 0) b.rows[unit_begin + u] = std::uint32_t(rows);
    const std::uint32_t one = u * per_unit - first + (lane / 8) * (pairs ? 2 : 1),
                        other = one + (pairs ? 1 : 0);
    const Eighth of_one(scratch, one, __shfl_sync(0xffffffffu, all, one * 4), lane % 8),
        of_other(scratch, other, __shfl_sync(0xffffffffu, all, other * 4), lane % 8);
    auto* to =
        reinterpret_cast<uint2*>(b.chunks + std::size_t(unit_begin + u) * b.unit_rows * 32 + lane);
    for (std::int32_t k = 0; k < rows * at_once; k += at_once, to += 32)
      *to = make_uint2(of_one(k, total), of_other(pairs ? k : k + 1, total));
  }

  __device__ void operator()() const {
    const Halo halo = stage();
    if (!halo.has_room) return;
    const std::uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32, n = block.count;
    const std::uint32_t per_unit = 32u >> b.log2_lanes;
    const UnitScratch scratch(units_memory + warp * UnitScratch::bytes(General, b.room.list),
                              General, b.room.list);
    using Search = std::conditional_t<General, UnitSearch, MatrixSearch>;
    const Search find{b.search, block, cell_offset, staged, halo.places, scratch};
    for (std::uint32_t first = warp * unit_particles; first < n;
         first += blockDim.x / 32 * unit_particles) {
      std::uint32_t all = find(first);
      if (__any_sync(0xffffffffu, all > b.room.list)) {
        if (all > b.room.list) {
          atomicMax(&b.room.words[2], all);
          b.room.words[0] = 1;
        }
        continue;
      }
      const std::uint32_t m = lane / 4;
      if (b.search.has_filter())
        all = filter_list(b.search, scratch, b.halo + halo.begin, block.first + first + m, m, all);
      // What was searched for together is a unit or two of the lists.
      for (std::uint32_t u = first / per_unit; u * per_unit < first + unit_particles; ++u)
        write_unit(scratch, u, first, all, halo.places);
      __syncwarp();
    }
  }
};

template <bool General>
__device__ void build_tile(const TileBuild& b, unsigned char* memory) {
  const TileGeometry& g = b.search.geometry;
  Real4* staged = reinterpret_cast<Real4*>(memory);
  auto* cell_offset = reinterpret_cast<std::uint32_t*>(staged + b.room.halo + 1);
  const int halo_cells = g.halo.x * g.halo.y * g.halo.z;
  std::uint32_t brick = 0;
  if (const std::uint32_t all = b.own_tiles.beyond(gridDim.x);
      all > 0 && threadIdx.x == 0 && blockIdx.x == 0) {
    b.room.words[4] = all;
    b.room.words[0] = 1;
  }
  if (!b.own_tiles.of_block(blockIdx.x, brick)) return;
  const TileBlock block(b.search, brick);
  // Every brick rounds up to whole units: one more for each brick before this one is enough.
  const std::uint32_t unit_begin =
      block.first / (32u >> b.log2_lanes) - b.units_before + blockIdx.x;
  if (block.count > 0 && b.own.meets(block.first, block.count))
    TileBuilder<General>{
        b,
        block,
        brick,
        unit_begin,
        staged,
        cell_offset,
        reinterpret_cast<unsigned char*>(cell_offset) + (halo_cells + 4) / 4 * 16}();
  else if (threadIdx.x == 0)
    b.tiles[b.place_of_tile(brick, false)] = {block.first, block.count, 0,           0,
                                              0,           unit_begin,  block.origin};
}

template <bool General>
__global__ void __launch_bounds__(TileBricks::threads, 4) build_tiles_kernel(const TileBuild b) {
  if (begin_kernel(b.halt)) return;
  extern __shared__ __align__(16) unsigned char memory[];
  build_tile<General>(b, memory);
  // The last block to arrive sees what all have written.
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(&b.used[1], 1u) + 1 < gridDim.x) return;
  __threadfence();
  if (*static_cast<volatile std::uint32_t*>(&b.room.words[0])) {
    b.room.words[3] = *static_cast<volatile std::uint32_t*>(&b.used[0]);
    *b.halt = 1;  // nothing goes on before the host has made room
  } else {
    *b.flag = 0;
    *b.builds += 1;
  }
  for (int k = 0; k < 4; ++k) b.used[k] = 0;  // for the next build
}

template <bool General>
void start_build(const Device& device, const TileBuild& b, std::size_t shared, int threads) {
  check_cuda(cudaFuncSetAttribute(build_tiles_kernel<General>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
             "shared memory of a tile");
  launch_early(device, "build tiles", dim3(b.tiles_at_most), dim3(unsigned(threads)), shared,
               build_tiles_kernel<General>, b);
}

}  // namespace perrin::detail
