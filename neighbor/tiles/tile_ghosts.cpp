#include "neighbor/tiles/tile_ghosts.h"

#include <algorithm>

#include "engine/core/parallel.h"

namespace perrin {
namespace {

struct SetToZero {
  std::uint32_t* count;
  PERRIN_HD void operator()(std::int64_t k) const { count[k] = 0; }
};

#ifdef __CUDACC__

/// Particles of a brick.
struct BrickPlaces {
  std::uint32_t first, count;
};

struct FindGhosts {
  const std::uint32_t* cell_start;
  TileGeometry geometry;
  std::uint32_t *send, *receive, *count, *who_looks;
  std::int64_t room;
  int me, processes;
  Share share[Team::most];

  /// Bricks on each side that a halo can reach: the last one along an axis may have few cells.
  __device__ std::int32_t sides(int axis) const {
    const std::int32_t width = 1 << geometry.log2_brick[axis];
    const bool few = (geometry.cells[axis] & (width - 1)) != 0;
    const std::int32_t all = (geometry.reach[axis] + width - 1) / width + (few ? 1 : 0);
    const std::int32_t half = geometry.bricks(axis) / 2;
    return all < half ? all : half;
  }
  __device__ static std::int32_t wrapped(std::int32_t k, std::int32_t n) {
    return k < 0 ? k + n : k >= n ? k - n : k;
  }
  __device__ BrickPlaces places(std::int64_t brick) const {
    const int bits = geometry.log2_cells_per_brick();
    const std::uint32_t first = cell_start[brick << bits];
    return {first, cell_start[(brick + 1) << bits] - first};
  }
  /// Processes (bits) that work on a tile whose halo may have particles of this brick: by the
  /// threads of a warp together.
  __device__ std::uint32_t who_looks_at(std::uint32_t brick) const {
    std::uint32_t x, y;
    const std::uint32_t z = geometry.bricks_y(geometry.bricks_x(brick, x), y);
    const std::int32_t sx = sides(0), sy = sides(1), sz = sides(2), wx = 2 * sx + 1,
                       wy = 2 * sy + 1, all = wx * wy * (2 * sz + 1);
    std::uint32_t who = 0;
    for (std::int32_t k = std::int32_t(threadIdx.x & 31); k < all; k += 32) {
      const std::int32_t ox = wrapped(std::int32_t(x) + k % wx - sx, geometry.bricks(0)),
                         oy = wrapped(std::int32_t(y) + k / wx % wy - sy, geometry.bricks(1)),
                         oz = wrapped(std::int32_t(z) + k / wx / wy - sz, geometry.bricks(2));
      const BrickPlaces tile =
          places((std::int64_t(oz) * geometry.bricks(1) + oy) * geometry.bricks(0) + ox);
      for (int p = 0; p < processes; ++p)
        if (tile.count > 0 && share[p].meets(tile.first, tile.count)) who |= 1u << p;
    }
    return __reduce_or_sync(0xffffffffu, who);
  }
  /// The process whose share has all particles of the layers of bricks that can look at this one;
  /// `processes`: it is not one alone, or looking for it is not so simple.
  __device__ int alone_with(std::uint32_t brick) const {
    std::uint32_t x, y;
    const auto z = std::int32_t(geometry.bricks_y(geometry.bricks_x(brick, x), y));
    const std::int32_t first = z - sides(2), end = z + sides(2) + 1;
    if (first < 0 || end > geometry.bricks(2)) return processes;
    const std::int64_t layer = std::int64_t(geometry.bricks(0)) * geometry.bricks(1);
    const int bits = geometry.log2_cells_per_brick();
    const std::uint32_t from = cell_start[first * layer << bits],
                        to = cell_start[end * layer << bits];
    int p = 0;
    while (p < processes && !(share[p].begin <= from && to <= share[p].end)) ++p;
    return p;
  }
  __device__ void add(std::uint32_t* to, std::uint32_t* counter, const BrickPlaces& tile,
                      const Share& of) const {
    const std::int64_t begin = tile.first > of.begin ? tile.first : of.begin,
                       last = tile.first + std::int64_t(tile.count),
                       end = last < of.end ? last : of.end;
    if (begin >= end) return;
    const auto n = std::uint32_t(end - begin), lane = threadIdx.x & 31;
    std::uint32_t at = lane == 0 ? atomicAdd(counter, n) : 0;
    at = __shfl_sync(0xffffffffu, at, 0);
    for (std::uint32_t k = lane; k < n; k += 32) to[at + k] = std::uint32_t(begin) + k;
  }
  __device__ void operator()(std::uint32_t brick) const {
    if (const int p = alone_with(brick); p < processes) {
      if ((threadIdx.x & 31) == 0) who_looks[brick] = 1u << p;
      return;
    }
    const BrickPlaces tile = places(brick);
    if (tile.count == 0) return;
    const std::uint32_t who = who_looks_at(brick);
    if ((threadIdx.x & 31) == 0) who_looks[brick] = who;
    if (!send) return;
    for (int p = 0; p < processes; ++p) {
      if (p == me) continue;
      if (who & (1u << p)) add(send + p * room, count + p, tile, share[me]);
      if (who & (1u << me)) add(receive + p * room, count + processes + p, tile, share[p]);
    }
  }
};

constexpr int find_block = 256;

/// A warp for each brick.
__global__ void __launch_bounds__(find_block)
    find_ghosts_kernel(const FindGhosts find, std::uint32_t bricks, const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  const std::uint32_t brick = (blockIdx.x * find_block + threadIdx.x) / 32;
  if (brick < bricks) find(brick);
}

#endif

}  // namespace

TileGhosts::TileGhosts(const Device& device, std::int64_t particles, const TileGeometry& geometry,
                       bool listed)
    : device_(device), geometry_(geometry) {
  const Team* const team = device.team();
  if (!team) return;
  who_ = {device, geometry.brick_count()};
  if (!listed) return;
  for (int p = 0; p < team->count(); ++p) room_ = std::max(room_, team->share(particles, p).size());
  send_ = {device, room_ * team->count()};
  receive_ = {device, room_ * team->count()};
  count_ = {device, 2 * team->count()};
}

void TileGhosts::find([[maybe_unused]] const std::uint32_t* cell_start,
                      [[maybe_unused]] std::int64_t n) {
#ifdef __CUDACC__
  const Team* const team = device_.team();
  if (!team) return;
  if (count_.size() > 0) for_each(device_, "no ghosts", count_.size(), SetToZero{count_.data()});
  FindGhosts find{cell_start,  geometry_, send_.data(), receive_.data(), count_.data(),
                  who_.data(), room_,     team->rank(), team->count(),   {}};
  for (int p = 0; p < team->count(); ++p) find.share[p] = team->share(n, p);
  const auto bricks = std::uint32_t(geometry_.brick_count());
  launch_early(device_, "ghosts", dim3((bricks * 32 + find_block - 1) / find_block),
               dim3(find_block), 0, find_ghosts_kernel, find, bricks,
               static_cast<const std::uint32_t*>(device_.halt_word()));
#endif
}

Ghosts TileGhosts::view() const {
  const Team* const team = device_.team();
  return {send_.data(), receive_.data(), count_.data(),
          team ? count_.data() + team->count() : nullptr, room_};
}

}  // namespace perrin
