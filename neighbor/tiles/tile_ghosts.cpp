#include "neighbor/tiles/tile_ghosts.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/device/parallel.h"
#include "neighbor/halts.h"

namespace perrin {
namespace {

/// The bricks that have cells within `reach` of a brick.
class BricksAround {
 public:
  PERRIN_HD BricksAround(const TileGeometry& geometry, const Vec3<std::int32_t>& reach)
      : g_(geometry), reach_(reach) {
    for (int axis = 0; axis < 3; ++axis)
      sides_[axis] = sides(axis), wide_[axis] = 2 * sides_[axis] + 1;
  }
  PERRIN_HD std::int32_t count() const { return wide_.x * wide_.y * wide_.z; }
  /// The k-th of those around the brick at `place`: where it is.
  PERRIN_HD Vec3<std::int32_t> operator()(const Vec3<std::int32_t>& place, std::int32_t k) const {
    return {wrapped(0, place.x + k % wide_.x), wrapped(1, place.y + k / wide_.x % wide_.y),
            wrapped(2, place.z + k / wide_.x / wide_.y)};
  }

 private:
  /// Bricks on each side: the last one along an axis may have few cells.
  PERRIN_HD std::int32_t sides(int axis) const {
    const std::int32_t width = 1 << g_.log2_brick[axis];
    const bool few = (g_.cells[axis] & (width - 1)) != 0;
    const std::int32_t all = (reach_[axis] + width - 1) / width + (few ? 1 : 0);
    const std::int32_t half = g_.bricks(axis) / 2;
    return all < half ? all : half;
  }
  PERRIN_HD std::int32_t wrapped(int axis, std::int32_t k) const {
    const std::int32_t at = k - sides_[axis], n = g_.bricks(axis);
    return at < 0 ? at + n : at >= n ? at - n : at;
  }

  const TileGeometry& g_;
  const Vec3<std::int32_t>& reach_;
  Vec3<std::int32_t> sides_, wide_;
};

#ifdef __CUDACC__

/// Particles of a brick.
struct BrickPlaces {
  std::uint32_t first, count;
};

struct FindGhosts {
  const std::uint32_t* cell_start;
  const TileGhosts::Onlookers* onlookers;
  TileGeometry geometry;
  Vec3<std::int32_t> reach;
  std::uint32_t *send, *receive, *count;
  std::uint64_t* who_looks;
  std::int64_t room;
  int me, domains;
  Share share[Decomposition::most];

  __device__ static std::uint64_t bit(int domain) { return std::uint64_t(1) << domain; }
  __device__ BrickPlaces places(std::int64_t brick) const {
    const int bits = geometry.log2_cells_per_brick();
    const std::uint32_t first = cell_start[brick << bits];
    return {first, cell_start[(brick + 1) << bits] - first};
  }
  /// Processes (bits) that work on a tile whose halo may have particles of this brick: by the
  /// threads of a warp together.
  __device__ std::uint64_t who_looks_at(std::uint32_t brick) const {
    const BricksAround around(geometry, reach);
    const Vec3<std::int32_t> place = geometry.place(brick);
    std::uint64_t who = 0;
    for (std::int32_t k = std::int32_t(threadIdx.x & 31); k < around.count(); k += 32) {
      const Vec3<std::int32_t> other = around(place, k);
      const BrickPlaces tile = places(geometry.brick(other.x, other.y, other.z));
      for (int p = 0; p < domains; ++p)
        if (tile.count > 0 && share[p].meets(tile.first, tile.count)) who |= bit(p);
    }
    const auto low = std::uint32_t(who), high = std::uint32_t(who >> 32);
    return std::uint64_t(__reduce_or_sync(0xffffffffu, high)) << 32 |
           __reduce_or_sync(0xffffffffu, low);
  }
  /// The domain that has all places between those of the tiles which can look at this brick;
  /// `domains`: there is none.
  __device__ int alone_with(std::uint32_t brick) const {
    const TileGhosts::Onlookers all = onlookers[brick];
    const int bits = geometry.log2_cells_per_brick();
    const std::uint32_t from = cell_start[std::size_t(all.lowest) << bits],
                        to = cell_start[(std::size_t(all.highest) + 1) << bits];
    int p = 0;
    while (p < domains && !(share[p].begin <= from && to <= share[p].end)) ++p;
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
    if (const int p = alone_with(brick); p < domains) {
      if ((threadIdx.x & 31) == 0) who_looks[brick] = bit(p);
      return;
    }
    const BrickPlaces tile = places(brick);
    if (tile.count == 0) return;
    const std::uint64_t who = who_looks_at(brick);
    if ((threadIdx.x & 31) == 0) who_looks[brick] = who;
    if (!send) return;
    for (int p = 0; p < domains; ++p) {
      if (p == me) continue;
      if (who & bit(p)) add(send + p * room, count + p, tile, share[me]);
      if (who & bit(me)) add(receive + p * room, count + domains + p, tile, share[p]);
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

/// As far as lists reach, and as far as partners in bonds are looked for, in cells.
Vec3<std::int32_t> reach_of(const Particles& particles, const TileGeometry& geometry) {
  Vec3<std::int32_t> reach = geometry.reach;
  if (!particles.domain().partners()) return reach;
  const auto heights = particles.box().padded_heights();
  for (int axis = 0; axis < 3; ++axis) {
    const double cells =
        particles.domain().partners()->reach() / heights[axis] * geometry.cells[axis];
    const double all = geometry.cells[axis];
    reach[axis] = std::max(reach[axis], std::int32_t(std::ceil(std::min(cells, all))));
  }
  return reach;
}

struct RequirePartners {
  Partners::View partners;
  const Position* position;
  const std::uint32_t *id, *index, *cell_start;
  const std::uint64_t* who_looks;  // [brick]
  TileGeometry geometry;
  Share own;
  int me;
  std::uint32_t* halt;

  /// What is known of particles that have not been sent is old. It is of no brick that this domain
  /// looks at, whose places all are new.
  PERRIN_HD bool is_known(std::uint32_t partner) const {
    const std::uint32_t place = index[partner];
    if (id[place] != partner) return false;
    if (own.meets(place, 1)) return true;
    const int bits = geometry.log2_cells_per_brick();
    const std::uint32_t brick = geometry.key(position[place]) >> bits;
    return (who_looks[brick] >> me & 1) && cell_start[std::size_t(brick) << bits] <= place &&
           place < cell_start[(std::size_t(brick) + 1) << bits];
  }
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t mine = id[i];
    for (std::int64_t k = partners.begin[mine]; k < partners.begin[mine + 1]; ++k)
      if (!is_known(partners.partner[k])) *halt = halted_by_partner;
  }
};

/// [brick]
std::vector<TileGhosts::Onlookers> find_onlookers(const Device& device,
                                                  const TileGeometry& geometry,
                                                  const Vec3<std::int32_t>& reach) {
  TileGeometry g = geometry;
  std::vector<std::uint32_t> tables[2];
  const std::uint32_t** of_geometry[] = {&g.row_of_number, &g.number_of_row};
  for (int k = 0; k < 2; ++k) {
    if (!*of_geometry[k]) continue;
    tables[k].resize(std::size_t(g.brick_count()));
    device.memory().copy_out(tables[k].data(), *of_geometry[k],
                             tables[k].size() * sizeof(std::uint32_t));
    *of_geometry[k] = tables[k].data();
  }
  const BricksAround around(g, reach);
  std::vector<TileGhosts::Onlookers> found(std::size_t(g.brick_count()));
  for (std::size_t brick = 0; brick < found.size(); ++brick) {
    const Vec3<std::int32_t> place = g.place(std::uint32_t(brick));
    TileGhosts::Onlookers& all = found[brick];
    all = {std::uint32_t(brick), std::uint32_t(brick)};
    for (std::int32_t k = 0; k < around.count(); ++k) {
      const Vec3<std::int32_t> at = around(place, k);
      const std::uint32_t other = g.brick(at.x, at.y, at.z);
      all = {std::min(all.lowest, other), std::max(all.highest, other)};
    }
  }
  return found;
}

}  // namespace

TileGhosts::TileGhosts(const Particles& particles, const TileGeometry& geometry, bool listed)
    : device_(particles.device()), geometry_(geometry), reach_(reach_of(particles, geometry)) {
  const Device& device = device_;
  const Decomposition& decomposition = decomposition_of(device);
  if (!decomposition.several()) return;
  who_ = {device, geometry.brick_count()};
  onlookers_ = {device, std::span<const Onlookers>(find_onlookers(device, geometry, reach_))};
  if (!listed) return;
  for (int p = 0; p < decomposition.count(); ++p)
    room_ = std::max(room_, decomposition.share(particles.size(), p).size());
  send_ = {device, room_ * decomposition.count()};
  receive_ = {device, room_ * decomposition.count()};
  count_ = {device, 2 * decomposition.count()};
}

void TileGhosts::find([[maybe_unused]] const std::uint32_t* cell_start,
                      [[maybe_unused]] std::int64_t n) {
#ifdef __CUDACC__
  const Decomposition& decomposition = decomposition_of(device_);
  FindGhosts find{cell_start,
                  onlookers_.data(),
                  geometry_,
                  reach_,
                  send_.data(),
                  receive_.data(),
                  count_.data(),
                  who_.data(),
                  room_,
                  decomposition.own(),
                  decomposition.count(),
                  {}};
  for (int p = 0; p < decomposition.count(); ++p) find.share[p] = decomposition.share(n, p);
  const auto bricks = std::uint32_t(geometry_.brick_count());
  launch_early(device_, "ghosts", dim3((bricks * 32 + find_block - 1) / find_block),
               dim3(find_block), 0, find_ghosts_kernel, find, bricks,
               static_cast<const std::uint32_t*>(device_.halt().word()));
#endif
}

void TileGhosts::require_partners(const Particles& particles,
                                  const std::uint32_t* cell_start) const {
  if (!particles.domain().partners()) return;
  const Share own = particles.share();
  for_each(device_, "partners are near", own,
           RequirePartners{particles.domain().partners()->view(), particles.position().data(),
                           particles.id().data(), particles.index().data(), cell_start, who_.data(),
                           geometry_, own, decomposition_of(device_).own(), device_.halt().word()});
}

HaloPlan TileGhosts::view() const {
  return {send_.data(), receive_.data(), count_.data(), count_.data() + count_.size() / 2, room_};
}

}  // namespace perrin
