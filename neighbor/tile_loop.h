// The pair loop over tiles (neighbor/tiles.h), on a CUDA device; see neighbor/pair_loop.h.
#pragma once

#include "engine/parallel.h"
#include "neighbor/tile_search.h"
#include "neighbor/tiles.h"

namespace perrin::detail {

#ifdef __CUDACC__

/// One block per tile. Shared memory: coordinates and type of the halo, behind them the extra words
/// where the body has some. General: triclinic box, or images taken per pair.
template <class Body, bool General>
__global__ void __launch_bounds__(TileList::threads)
    tile_loop_kernel(const Body body, const Position* position, const Metric metric,
                     const TileView t, const std::uint32_t* halt) {
  if (*halt) return;
  extern __shared__ __align__(16) unsigned char memory[];
  Real4* staged = reinterpret_cast<Real4*>(memory);
  Real4* extra = staged + t.halo_capacity + 1;
  const Tile tile = t.tiles[blockIdx.x];
  if (tile.count == 0) return;
  const Vec3<std::uint32_t> origin = t.geometry.origin(blockIdx.x);
  for (std::uint32_t k = threadIdx.x; k < tile.halo_count; k += TileList::threads) {
    const std::uint32_t j = t.halo[tile.halo_begin + k];
    const Position q = position[j];
    const Real3 r = t.geometry.local(q, origin);
    staged[k] = {r.x, r.y, r.z, type_to_real(q.type)};
    if constexpr (Body::has_extra) extra[k] = body.extra(j);
  }
  if (threadIdx.x == 0) {
    // Where there is no neighbour: far away (General: told by its place).
    const Real far = General ? Real(0) : Real(1e16);
    staged[tile.halo_count] = {far, far, far, Real(0)};
    if constexpr (Body::has_extra) extra[tile.halo_count] = {};
  }
  __syncthreads();

  const int lane = int(threadIdx.x & 31), lanes = 1 << t.log2_lanes;
  const std::uint32_t per_unit = 32u >> t.log2_lanes;
  const std::uint32_t units = (tile.count + per_unit - 1) / per_unit;
  for (std::uint32_t u = threadIdx.x / 32; u < units; u += TileList::threads / 32) {
    const TileUnit unit = t.units[tile.unit_begin + u];
    const std::uint32_t m = u * per_unit + (std::uint32_t(lane) >> t.log2_lanes);
    const bool present = m < tile.count;
    const std::int64_t i = tile.first + (present ? m : 0);
    const auto own = body.own(i);
    const Real3 p = t.geometry.local(position[i], origin);
    Real sum[Body::sums] = {};
    const TileChunk* chunk = t.chunks + std::size_t(unit.begin) * 32 + lane;
    for (std::uint32_t c = 0; c < unit.chunks; ++c, chunk += 32) {
      const TileChunk four = *chunk;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::uint32_t place = four.place[k];
        const Real4 q = staged[place];
        const Real3 d = t.geometry.template vector<General>(metric, p - q.xyz());
        Real term[Body::sums];
        body.pair(own, d, real_to_type(q.w), Body::has_extra ? extra[place] : Real4{},
                  !General || place != tile.halo_count, term);
        for (int s = 0; s < Body::sums; ++s) sum[s] += term[s];
      }
    }
    for (int step = lanes / 2; step > 0; step /= 2)
      for (int s = 0; s < Body::sums; ++s) sum[s] += __shfl_xor_sync(0xffffffffu, sum[s], step);
    if (present && (lane & (lanes - 1)) == 0) body.store(i, sum);
  }
}

template <class Body, bool General>
void start_tile_loop(const Device& device, const char* name, const Particles& particles,
                     const TileView& tiles, const Body& body) {
  const std::size_t shared = (tiles.halo_capacity + 1) * sizeof(Real4) * (Body::has_extra ? 2 : 1);
  if (shared > 48 * 1024)
    check_cuda(cudaFuncSetAttribute(tile_loop_kernel<Body, General>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
               name);
  launch(device, name, dim3(unsigned(tiles.tile_count)), dim3(TileList::threads), shared,
         tile_loop_kernel<Body, General>, body, particles.position.data(), particles.box.metric(),
         tiles, static_cast<const std::uint32_t*>(device.halt_word()));
}

template <class Body>
void tile_loop(const Device& device, const char* name, const Particles& particles,
               const TileView& tiles, const Body& body) {
  if (tiles.geometry.orthogonal && !tiles.geometry.wraps)
    start_tile_loop<Body, false>(device, name, particles, tiles, body);
  else
    start_tile_loop<Body, true>(device, name, particles, tiles, body);
}

/// Without lists: the block of a tile finds the neighbours of its particles and goes through them at
/// once. Shared memory: coordinates and type of the halo, extra words, memory indices where there
/// are exclusions, the cells of the halo, a list per thread.
template <class Body, bool General, bool Excluding>
__global__ void __launch_bounds__(TileList::threads)
    direct_loop_kernel(const Body body, const TileSearch s, const TileRoom room,
                       std::uint32_t* halt) {
  if (*halt) return;
  extern __shared__ __align__(16) unsigned char memory[];
  const TileGeometry& g = s.geometry;
  Real4* staged = reinterpret_cast<Real4*>(memory);
  Real4* extra = staged + room.halo + 4;
  auto* index = reinterpret_cast<std::uint32_t*>(Body::has_extra ? extra + room.halo : extra);
  std::uint32_t* cell_offset = Excluding ? index + room.halo : index;
  auto* list = reinterpret_cast<std::uint16_t*>(cell_offset + g.halo.x * g.halo.y * g.halo.z + 1);
  const TileBlock block(s, blockIdx.x);
  if (block.count == 0) return;
  const std::uint32_t total = block.lay_out(s, cell_offset);
  if (total > room.halo) {
    if (threadIdx.x == 0) {
      atomicMax(&room.words[1], total);
      room.words[0] = 1;
      *halt = 1;
    }
    return;
  }
  block.for_each_place(s, cell_offset, [&](std::uint32_t k, std::uint32_t j) {
    const Position q = s.position[j];
    const Real3 r = g.local(q, block.origin);
    staged[k] = {r.x, r.y, r.z, type_to_real(q.type)};
    if constexpr (Body::has_extra) extra[k] = body.extra(j);
    if constexpr (Excluding) index[k] = j;
  });
  if (threadIdx.x < 4) staged[total + threadIdx.x] = {};  // may be read, is never used
  __syncthreads();
  list += threadIdx.x;
  const std::uint32_t stride = blockDim.x;
  for (std::uint32_t m = threadIdx.x; m < block.count; m += stride) {
    const std::uint32_t i = block.first + m;
    const Position p = s.position[i];
    const Real3 r = g.local(p, block.origin);
    const std::uint32_t me = Excluding ? s.id[i] : 0;
    const std::uint32_t found = find_neighbors<General>(
        s, block, cell_offset, staged, i, p, r, s.metric.xx, list, stride, room.list,
        [&](Real3 a, Real3 b) {
          const Real3 d = g.template vector<General>(s.metric, a - b);
          return dot(d, d);
        },
        [&](std::uint32_t place) { return Excluding && s.is_excluded(me, s.id[index[place]]); });
    if (found + 4 > room.list) {
      atomicMax(&room.words[2], found + 4);
      room.words[0] = 1;
      *halt = 1;
      continue;
    }
    const auto own = body.own(i);
    Real sum[Body::sums] = {};
    for (std::uint32_t k = 0; k < found; ++k) {
      const std::uint32_t place = list[k * stride];
      const Real4 q = staged[place];
      Real term[Body::sums];
      body.pair(own, g.template vector<General>(s.metric, r - q.xyz()), real_to_type(q.w),
                Body::has_extra ? extra[place] : Real4{}, true, term);
      for (int c = 0; c < Body::sums; ++c) sum[c] += term[c];
    }
    body.store(i, sum);
  }
}

template <class Body, bool General, bool Excluding>
void start_direct_loop(const Device& device, const char* name, const TileSearch& search,
                       const TileRoom& room, int threads, const Body& body) {
  const TileGeometry& g = search.geometry;
  const std::size_t shared =
      (room.halo + 4) * sizeof(Real4) + (Body::has_extra ? room.halo * sizeof(Real4) : 0) +
      (Excluding ? room.halo * sizeof(std::uint32_t) : 0) +
      std::size_t(g.halo.x * g.halo.y * g.halo.z + 1) * sizeof(std::uint32_t) +
      std::size_t(room.list) * std::size_t(threads) * sizeof(std::uint16_t);
  if (shared > 48 * 1024)
    check_cuda(cudaFuncSetAttribute(direct_loop_kernel<Body, General, Excluding>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
               name);
  launch(device, name, dim3(unsigned(g.brick_count())), dim3(unsigned(threads)), shared,
         direct_loop_kernel<Body, General, Excluding>, body, search, room, device.halt_word());
}

template <class Body>
void direct_loop(const Device& device, const char* name, const TileSearch& search,
                 const TileRoom& room, int threads, const Body& body) {
  const bool general = !search.geometry.orthogonal || search.geometry.wraps;
  if (search.exclusion_begin)  // rarely without lists: one kernel serves all boxes
    start_direct_loop<Body, true, true>(device, name, search, room, threads, body);
  else if (general)
    start_direct_loop<Body, true, false>(device, name, search, room, threads, body);
  else
    start_direct_loop<Body, false, false>(device, name, search, room, threads, body);
}

#endif

}  // namespace perrin::detail
