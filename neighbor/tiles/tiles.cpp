#include "neighbor/tiles/tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "engine/core/parallel.h"
#include "neighbor/tiles/matrix_search.h"

namespace perrin {
namespace {

struct BuildTiles {
  TileSearch search;
  Tile* tiles;
  std::uint32_t *halo, *rows;
  TileChunk* chunks;
  std::uint32_t* count;
  std::uint32_t* used;  // entries of halo, tiles done
  std::uint32_t* halt;
  TileList::WhenBuilt when_built;
  TileRoom room;
  std::uint32_t halo_pool, unit_rows;
  int log2_lanes;
  std::uint32_t tile_count;
};

/// Shared memory of a block that builds: the halo's coordinates, where its cells begin, and what its
/// warps need. Multiples of 16 bytes.
std::size_t halo_bytes(std::uint32_t halo) { return (halo + 1) * sizeof(Real4); }
std::size_t scratch_bytes(std::uint32_t halo, std::uint32_t list, int halo_cells, int threads,
                          bool general) {
  return halo_bytes(halo) + std::size_t(halo_cells + 4) / 4 * 16 +
         std::size_t(threads / 32) * detail::UnitScratch::bytes(general, list);
}

#ifdef __CUDACC__

/// A thread's part of a list that eight share, two entries at a time.
struct Eighth {
  const std::uint32_t* two;
  std::int32_t left;

  __device__ Eighth(const detail::UnitScratch& scratch, std::uint32_t m, std::uint32_t found,
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

/// Builds one tile.
template <bool General>
__device__ void build_tile(const BuildTiles& b, unsigned char* memory) {
  const TileSearch& search = b.search;
  const TileGeometry& g = search.geometry;
  const int halo_cells = g.halo.x * g.halo.y * g.halo.z;
  Real4* staged = reinterpret_cast<Real4*>(memory);
  auto* cell_offset = reinterpret_cast<std::uint32_t*>(staged + b.room.halo + 1);
  unsigned char* units_memory =
      reinterpret_cast<unsigned char*>(cell_offset) + (halo_cells + 4) / 4 * 16;
  __shared__ std::uint32_t halo_begin, full;
  const std::uint32_t brick = blockIdx.x;
  const detail::TileBlock block(search, brick);
  const std::uint32_t t = threadIdx.x, n = block.count;
  const std::uint32_t per_unit = 32u >> b.log2_lanes;
  // Every brick rounds up to whole units: one more for each brick before this one is enough.
  const std::uint32_t unit_begin = block.first / per_unit + brick;
  if (n == 0) {
    if (t == 0) b.tiles[brick] = {block.first, 0, 0, 0, unit_begin, block.origin};
    return;
  }
  const std::uint32_t total = block.lay_out(search, cell_offset, staged, b.room.halo);
  if (t == 0) {
    halo_begin = atomicAdd(&b.used[0], total);
    full = total > b.room.halo || halo_begin + total > b.halo_pool;
    if (total > b.room.halo) atomicMax(&b.room.words[1], total);
    if (full) b.room.words[0] = 1;
    b.tiles[brick] = {block.first, n, halo_begin, total, unit_begin, block.origin};
  }
  __syncthreads();
  if (full) return;
  block.for_each_place(
      total, staged, [&](std::uint32_t j) { return search.position[j]; },
      [&](std::uint32_t k, std::uint32_t j, const Position& q) {
        const Real3 r = g.local<General>(q, block.origin);
        staged[k] = {r.x, r.y, r.z, General ? Real(0) : dot(r, r)};
        b.halo[halo_begin + k] = j;
      });
  if (t == 0) staged[total] = detail::beyond_reach();
  __syncthreads();

  const std::uint32_t lane = t & 31, warp = t / 32, lanes = 1u << b.log2_lanes;
  const std::uint32_t sub = lane & (lanes - 1), row = 4 * lanes;
  const detail::UnitScratch scratch(
      units_memory + warp * detail::UnitScratch::bytes(General, b.room.list), General, b.room.list);
  using Search = std::conditional_t<General, detail::UnitSearch, detail::MatrixSearch>;
  const Search find{search, block, cell_offset, staged, total, scratch};
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
    if (search.has_filter()) {
      const std::uint32_t m = lane / 4;
      all = detail::filter_list(search, scratch, b.halo + halo_begin, block.first + first + m, m,
                                all);
    }
    // What was searched for together is a unit or two of the lists.
    for (std::uint32_t u = first / per_unit; u * per_unit < first + unit_particles; ++u) {
      const std::uint32_t m = (u * per_unit + (lane >> b.log2_lanes)) - first;
      const std::uint32_t found = __shfl_sync(0xffffffffu, all, m * (32 / unit_particles));
      if (u * per_unit >= n) break;
      if (sub == 0 && first + m < n) b.count[block.first + first + m] = found;
      // As many rows of chunks as the unit's longest list needs: as TileChunk says.
      const bool pairs = lanes == 4;
      __syncwarp();
      const std::uint32_t most = __reduce_max_sync(0xffffffffu, found);
      const std::int32_t rows = std::int32_t((most + row - 1) / row), at_once = pairs ? 1 : 2;
      if (lane == 0) b.rows[unit_begin + u] = std::uint32_t(rows);
      const std::uint32_t one = u * per_unit - first + (lane / 8) * (pairs ? 2 : 1),
                          other = one + (pairs ? 1 : 0);
      const Eighth of_one(scratch, one, __shfl_sync(0xffffffffu, all, one * 4), lane % 8),
          of_other(scratch, other, __shfl_sync(0xffffffffu, all, other * 4), lane % 8);
      auto* to = reinterpret_cast<uint2*>(b.chunks +
                                          std::size_t(unit_begin + u) * b.unit_rows * 32 + lane);
      for (std::int32_t k = 0; k < rows * at_once; k += at_once, to += 32)
        *to = make_uint2(of_one(k, total), of_other(pairs ? k : k + 1, total));
    }
    __syncwarp();
  }
}

template <bool General>
__global__ void __launch_bounds__(TileList::threads, 4) build_tiles_kernel(const BuildTiles b) {
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
    *b.when_built.flag = 0;
    *b.when_built.builds += 1;
  }
  b.used[0] = b.used[1] = 0;  // for the next build
}

template <bool General>
void start_build(const Device& device, const BuildTiles& b, std::size_t shared, int threads) {
  check_cuda(cudaFuncSetAttribute(build_tiles_kernel<General>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
             "shared memory of a tile");
  launch_early(device, "build tiles", dim3(b.tile_count), dim3(unsigned(threads)), shared,
               build_tiles_kernel<General>, b);
}
#endif

int shared_limit(const Device& device) {
  int bytes = 0;
#ifdef __CUDACC__
  int index = 0;
  if (device.is_cuda() && cudaGetDevice(&index) == cudaSuccess)
    cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, index);
#endif
  (void)device;
  return bytes;
}

constexpr double rounding = 1 + 1e-4;  // what the grid of coordinates does to lengths

}  // namespace

TileGeometry choose_tile_geometry(const Box& box, double reach, std::int64_t particles,
                                  const TileWishes& wishes) {
  TileGeometry g{};
  const auto heights = box.padded_heights();
  // Cells half as wide as the list's range, for close candidates, or whole ones where half a cell
  // would be empty. Wider where the box is nearly empty, so that memory follows the particles.
  const double limit = double(std::max<std::int64_t>(4096, 4 * particles));
  const bool dense = wishes.cells > 0 ? wishes.cells == 2
                                      : wishes.density * std::pow(reach / 2, box.dimension) > 1.2;
  for (double width = dense ? reach / 2 : reach;; width *= 1.1) {
    double total = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const double n = axis < box.dimension ? std::floor(heights[axis] / width * (1 + 1e-9)) : 1;
      g.cells[axis] = std::int32_t(std::clamp(n, 1.0, 1048576.0));
      total *= g.cells[axis];
    }
    if (total <= limit) break;
  }
  // Bricks as large as leaves a brick for every multiprocessor, four cells along an axis at most.
  const double per_cell =
      double(particles) / (wishes.occupied * double(g.cells.x) * g.cells.y * g.cells.z);
  for (int axis = 0; axis < 3; ++axis) g.log2_brick[axis] = 0;
  for (bool grown = true; grown;) {
    grown = false;
    for (int axis = 0; axis < 3; ++axis) {
      Vec3<std::int32_t> next = g.log2_brick;
      ++next[axis];
      double bricks = wishes.occupied, inside = per_cell;
      for (int k = 0; k < 3; ++k) {
        bricks *= std::ceil(double(g.cells[k]) / (1 << next[k]));
        inside *= double(1 << next[k]);
      }
      // At most four cells along an axis and 192 particles. Two bricks for each multiprocessor,
      // unless they would have few particles for their halo.
      const bool enough = wishes.brick > 0
                              ? (1 << (next.x + next.y + next.z)) > wishes.brick
                              : next[axis] > 2 || inside > 192 ||
                                    (bricks < 2.0 * wishes.multiprocessors && inside > 20);
      if (enough || (1 << next[axis]) > g.cells[axis]) continue;
      // The shortest edge grows first.
      bool shortest = true;
      for (int k = 0; k < 3; ++k)
        if (g.log2_brick[k] < g.log2_brick[axis] && (2 << g.log2_brick[k]) <= g.cells[k])
          shortest = false;
      if (!shortest) continue;
      g.log2_brick = next;
      grown = true;
    }
  }
  g.orthogonal = box.orthogonal();
  for (int axis = 0; axis < 3; ++axis) {
    const double width = heights[axis] / g.cells[axis];
    const bool flat = axis >= box.dimension;
    g.reach[axis] = flat ? 0 : std::int32_t(std::ceil(reach / width * (1 - 1e-8)));
    const std::int32_t wanted = (1 << g.log2_brick[axis]) + 2 * g.reach[axis];
    g.halo[axis] = std::min(wanted, g.cells[axis]);
    // Is the image of a neighbour that is nearest to the brick also nearest to the particle?
    const double far = (1 << g.log2_brick[axis]) * width / 2 + 1.3 * reach;
    const bool unique = flat || (wanted < g.cells[axis] && far < heights[axis] / 2);
    g.inverse_period[axis] = unique ? Real(0) : Real(1 / 4294967296.0);
    g.wraps = g.wraps || !unique;
    g.wide = g.wide || (!flat && wanted * width > 16 * reach);
    const double half_extent =
        unique ? std::min(0.5, (wanted / 2.0 + 1) / g.cells[axis]) * 4294967296.0 : 2147483648.0;
    int drop = 0;
    if (sizeof(Real) == 4)
      while (half_extent > 16777216.0 * double(1u << drop)) ++drop;
    g.mask[axis] = ~((1u << drop) - 1);
    g.half[axis] = drop == 0 ? 0 : 1u << (drop - 1);
    const double finest = std::max(half_extent / (4294967296.0 * 16777216.0), 1 / 2147483647.0);
    const double unit = std::exp2(std::ceil(std::log2(heights[axis] * finest)));
    g.grid[axis] = std::int32_t(std::lround(heights[axis] / unit));
    g.unit[axis] = Real(unit);
  }
  g.lengths = sizeof(Real) == 4 && !g.is_general();
  g.prepare();
  return g;
}

TileList::TileList(const Particles& particles, const Ranges& reaches, const Crowding& crowding,
                   const Choices& choices)
    : particles_(particles), reach_(reaches.longest() * rounding), lists_(choices.lists) {
  const Device& device = particles_.device();
  const double density = crowding.density;
  geometry_ = choose_tile_geometry(
      particles_.box, reaches.longest(), particles_.size(),
      {density, crowding.occupied, device.multiprocessors(), choices.cells, choices.brick});
  geometry_.sorted = choices.sorted;
  const double n = double(particles_.size());
  // Where there are particles.
  const double bricks = std::max(1.0, double(geometry_.brick_count()) * crowding.occupied);
  // Short rows for few particles: the lists of a small system are a matter of latency.
  while (log2_lanes_ < 3 && n * double(1 << log2_lanes_) < device.multiprocessors() * 256.0)
    ++log2_lanes_;
  if (choices.lanes > 0) log2_lanes_ = choices.lanes == 8 ? 3 : 2;
  const double cells = double(geometry_.cell_count()) * crowding.occupied;
  const double halo = n / cells * geometry_.halo.x * geometry_.halo.y * geometry_.halo.z;
  halo_capacity_ = std::uint32_t(std::min(1.25 * halo + 64, n) + 31) / 32 * 32;
  const double volume =
      particles_.box.dimension == 2 ? M_PI * reach_ * reach_ : 4.1888 * std::pow(reach_, 3);
  const double entries = std::min(n, density * volume);
  // As many warps as make few rounds of full work; where few bricks share a multiprocessor, all that there
  // may be: they bring the halo together.
  const double brick_units = 1.05 * n / bricks / unit_particles;
  const double rounds = std::ceil(brick_units / (threads / 32));
  const double warps =
      bricks <= 3.0 * device.multiprocessors() ? threads / 32 : std::ceil(brick_units / rounds);
  search_threads_ = int(std::clamp(warps, 2.0, double(threads / 32))) * 32;
  single_threads_ = std::clamp(int((1.15 * n / bricks + 31) / 32) * 32, 64, threads);
  // What a uniform system needs, and some more; whatever is full grows (enlarge()).
  const std::uint32_t row = 4u << log2_lanes_;
  list_capacity_ = std::uint32_t(std::min(1.1 * entries + 12, n + 4) + row - 1) / row * row;
  words_ = {device, 4};
  if (!reaches.uniform() && choices.lists) {
    types_ = std::uint32_t(reaches.types());
    std::vector<Real> squares;
    for (std::size_t k = 0; k < reaches.types() * reaches.types(); ++k) {
      const double reach = reaches(k / types_, k % types_) * rounding;
      squares.push_back(Real(reach * reach));
    }
    reach2_ = {device, std::span<const Real>(squares)};
  }
  choose_sizes();
  if (!choices.lists) return;
  tiles_ = {device, geometry_.brick_count()};
  halo_ = {device, std::int64_t(1.2 * std::min(halo, n) * std::min(bricks, n)) + 1024};
  used_ = {device, 2};
}

bool TileList::general() const { return geometry_.is_general(); }

double TileList::estimate(const Particles& particles, const Ranges& reaches,
                          const Crowding& crowding, int cells) {
  const Box& box = particles.box;
  const double reach = reaches.longest(), most = crowding.particles();
  const TileGeometry g = choose_tile_geometry(
      box, reach, particles.size(),
      {crowding.density, crowding.occupied, particles.device().multiprocessors(), cells, 0});
  const auto heights = box.padded_heights();
  double searched = crowding.density;  // all of a halo along x, what is in reach along y and z
  for (int axis = 0; axis < box.dimension; ++axis) {
    const double side = axis == 0 ? g.halo.x : std::min(2 * g.reach[axis] + 1, g.cells[axis]);
    searched *= side * heights[axis] / g.cells[axis];
  }
  // Rows of eight particles are as long as the longest of them.
  std::vector<std::pair<double, double>> types;  // entries, share of the particles
  for (std::size_t a = 0; a < crowding.by_type.size(); ++a) {
    double entries = 0;
    for (std::size_t b = 0; b < crowding.by_type.size(); ++b) {
      const double r = reaches(a, b);
      const double ball = box.dimension == 2 ? M_PI * r * r : 4.18879 * r * r * r;
      entries += std::min(1.0, crowding.density / most * ball) * double(crowding.by_type[b]);
    }
    types.push_back({entries, double(crowding.by_type[a]) / most});
  }
  std::sort(types.begin(), types.end());
  double padded = 0, below = 0;
  for (const auto& [entries, share] : types) {
    padded += entries * (std::pow(below + share, 8) - std::pow(below, 8));
    below += share;
  }
  return 1.15 * padded + 0.1 * std::min(searched, most);
}

std::int64_t TileList::units() const {
  return particles_.size() / (32 >> log2_lanes_) + geometry_.brick_count() + 1;
}

std::uint32_t TileList::unit_rows() const {
  const std::uint32_t row = 4u << log2_lanes_;
  return (list_capacity_ + row - 1) / row;
}

bool TileList::choose_sizes() {
  const Device& device = particles_.device();
  const int halo_cells = geometry_.halo.x * geometry_.halo.y * geometry_.halo.z;
  // The pair loop stages an extra word per place, and an index where there are exclusions. A direct loop has
  // lengths, too, or lists by thread; its energies come from the search for any box.
  const std::size_t more = (halo_capacity_ + 4) * (sizeof(Real4) * (lists_ ? 1 : 2) + 4) + 2048;
  const std::size_t limit = std::size_t(shared_limit(device));
  const bool any_box = general() || sizeof(Real) != 4 || !lists_;
  // In a box that is nearly empty cells are wide; coordinates in their tiles would be too coarse.
  bool coarse = false;
  const auto heights = particles_.box.padded_heights();
  for (int axis = 0; axis < particles_.box.dimension; ++axis)
    coarse = coarse || heights[axis] * (geometry_.lengths ? 1.0 / geometry_.grid[axis]
                                                          : ~geometry_.mask[axis] / 4294967296.0) >
                           2e-6 * reach_;
  for (;; search_threads_ = search_threads_ / 64 * 32) {  // long lists: fewer warps at a time
    scratch_bytes_ =
        scratch_bytes(halo_capacity_, list_capacity_, halo_cells, search_threads_, any_box);
    fits_ = halo_capacity_ < 65535 && scratch_bytes_ + more < limit && !coarse;
    if (fits_ || search_threads_ <= 32) break;
  }
  if (!lists_ && geometry_.sorted)
    for (;; single_threads_ = single_threads_ / 64 * 32) {
      const bool fit = scratch_bytes(halo_capacity_, 0, halo_cells, 0, false) + more +
                           std::size_t(single_threads_) * list_capacity_ * sizeof(std::uint16_t) <
                       limit;
      fits_ = fits_ && (fit || single_threads_ > 32);
      if (fit || single_threads_ <= 32) break;
    }
  if (fits_ && lists_) {
    rows_ = Buffer<std::uint32_t>();
    rows_ = {device, units()};
    chunks_ = Buffer<TileChunk>();
    chunks_ = {device, (units() * unit_rows() + 1) * 32};  // one row is read ahead
  }
  return fits_;
}

TileSearch TileList::search(const std::uint32_t* cell_start, const std::uint32_t* exclusion_begin,
                            const std::uint32_t* excluded) const {
  const TileGeometry& g = geometry_;
  const auto heights = particles_.box.padded_heights();
  return {g,
          particles_.box.metric(),
          {Real(heights.x / g.cells.x), Real(heights.y / g.cells.y), Real(heights.z / g.cells.z)},
          Real(g.cells.x / heights.x),
          geometry_.lengths ? Real(1) : Real(1 / particles_.box.metric().xx),
          Real(reach_ * reach_),
          types_ > 0 ? reach2_.data() : nullptr,
          types_,
          particles_.position.data(),
          particles_.id.data(),
          cell_start,
          exclusion_begin,
          excluded,
          general()};
}

TileView TileList::view() const {
  return {geometry_,   tiles_.data(),  halo_.data(), rows_.data(),           chunks_.data(),
          unit_rows(), halo_capacity_, log2_lanes_,  geometry_.brick_count()};
}

void TileList::build([[maybe_unused]] const std::uint32_t* cell_start,
                     [[maybe_unused]] const std::uint32_t* exclusion_begin,
                     [[maybe_unused]] const std::uint32_t* excluded,
                     [[maybe_unused]] std::uint32_t* count,
                     [[maybe_unused]] const WhenBuilt& when_built) {
#ifdef __CUDACC__
  const Device& device = particles_.device();
  const BuildTiles b{search(cell_start, exclusion_begin, excluded),
                     tiles_.data(),
                     halo_.data(),
                     rows_.data(),
                     chunks_.data(),
                     count,
                     used_.data(),
                     device.halt_word(),
                     when_built,
                     room(),
                     std::uint32_t(halo_.size()),
                     unit_rows(),
                     log2_lanes_,
                     std::uint32_t(geometry_.brick_count())};
  if constexpr (sizeof(Real) == 4)
    if (!general()) return start_build<false>(device, b, scratch_bytes_, search_threads_);
  start_build<true>(device, b, scratch_bytes_, search_threads_);
#endif
}

std::int64_t TileList::bytes() const {
  return tiles_.bytes() + halo_.bytes() + rows_.bytes() + chunks_.bytes();
}

bool TileList::enlarge() {
  const auto words = words_.to_host();
  if (words[0] == 0) return false;
  const auto more = [](std::uint32_t wanted) { return std::int64_t(double(wanted) * 1.2) + 16; };
  if (words[1] > halo_capacity_) halo_capacity_ = std::uint32_t(more(words[1]) + 31) / 32 * 32;
  if (words[2] > list_capacity_) {
    const std::uint32_t row = 4u << log2_lanes_;
    list_capacity_ = (std::uint32_t(more(words[2])) + row - 1) / row * row;
  }
  choose_sizes();
  words_.zero();
  if (words[3] > halo_.size()) {
    halo_ = Buffer<std::uint32_t>();
    halo_ = {particles_.device(), more(words[3])};
  }
  return true;
}

}  // namespace perrin
