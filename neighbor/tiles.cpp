#include "neighbor/tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/parallel.h"
#include "neighbor/tile_search.h"

namespace perrin {
namespace {

struct BuildTiles {
  TileSearch search;
  Tile* tiles;
  TileUnit* units;
  std::uint32_t* halo;
  TileChunk* chunks;
  std::uint32_t* count;
  std::uint32_t* used;  // entries of halo, rows of chunks, tiles done
  std::uint32_t* halt;
  TileList::WhenBuilt when_built;
  TileRoom room;
  std::uint32_t halo_pool, chunk_rows;
  int log2_lanes;
  std::uint32_t tile_count;
};

std::size_t scratch_bytes(std::uint32_t halo, std::uint32_t list, int halo_cells, int threads) {
  return (halo + 4) * sizeof(Real4) +
         (std::size_t(halo_cells) + 1 + std::size_t(threads) + 1 + std::size_t(threads) / 2 + 2) *
             sizeof(std::uint32_t) +
         std::size_t(list) * std::size_t(threads) * sizeof(std::uint16_t);
}

#ifdef __CUDACC__

/// Shared memory of a block: the halo's coordinates and where its cells begin.
struct Scratch {
  Real4* staged;               // room.halo + 4
  std::uint32_t* cell_offset;  // halo cells + 1
  std::uint32_t* length;       // threads + 1: of the lists
  std::uint32_t* unit_rows;    // threads / 2 + 2
  std::uint16_t* list;         // entry k of thread t: list[k · threads + t]

  __device__ Scratch(unsigned char* memory, std::uint32_t halo, int halo_cells)
      : staged(reinterpret_cast<Real4*>(memory)),
        cell_offset(reinterpret_cast<std::uint32_t*>(staged + halo + 4)),
        length(cell_offset + halo_cells + 1),
        unit_rows(length + blockDim.x + 1),
        list(reinterpret_cast<std::uint16_t*>(unit_rows + blockDim.x / 2 + 2)) {}
};

/// Builds one tile. General: triclinic box, or images taken per pair; else distances are taken in
/// lengths.
template <bool General, bool Excluding>
__device__ void build_tile(const BuildTiles& b, unsigned char* memory) {
  const TileSearch& search = b.search;
  const TileGeometry& g = search.geometry;
  const Scratch s(memory, b.room.halo, g.halo.x * g.halo.y * g.halo.z);
  __shared__ std::uint32_t halo_begin, chunk_begin, full;
  const std::int64_t brick = blockIdx.x;
  const detail::TileBlock block(search, brick);
  const std::uint32_t t = threadIdx.x, threads = blockDim.x, n = block.count;
  const std::uint32_t per_unit = 32u >> b.log2_lanes;
  // Every brick rounds up to whole units: one more for each brick before this one is enough.
  const std::uint32_t unit_begin = block.first / per_unit + std::uint32_t(brick);
  if (n == 0) {
    if (t == 0) b.tiles[brick] = {block.first, 0, 0, 0, unit_begin};
    return;
  }
  const std::uint32_t total = block.lay_out(search, s.cell_offset);
  if (t == 0) {
    halo_begin = atomicAdd(&b.used[0], total);
    full = total > b.room.halo || halo_begin + total > b.halo_pool;
    if (total > b.room.halo) atomicMax(&b.room.words[1], total);
    if (full) b.room.words[0] = 1;
    b.tiles[brick] = {block.first, n, halo_begin, total, unit_begin};
  }
  __syncthreads();
  if (full) return;

  // Distances in lengths are good enough for a list (its reach has a margin for rounding).
  const auto in_lengths = [&](Real3 r) {
    if constexpr (General) return r;
    return Real3{search.metric.xx * r.x, search.metric.yy * r.y, search.metric.zz * r.z};
  };
  block.for_each_place(search, s.cell_offset, [&](std::uint32_t k, std::uint32_t j) {
    const Real3 r = in_lengths(g.local(search.position[j], block.origin));
    s.staged[k] = {r.x, r.y, r.z, Real(0)};
    b.halo[halo_begin + k] = j;
  });
  if (t < 4) s.staged[total + t] = {};  // may be read, is never used
  __syncthreads();

  const std::uint32_t row_entries = 4u << b.log2_lanes;  // of one particle in one row of chunks
  for (std::uint32_t m0 = 0; m0 < n; m0 += threads) {
    const std::uint32_t m = m0 + t;
    std::uint32_t found = 0;
    if (m < n) {
      const std::uint32_t i = block.first + m;
      const Position p = search.position[i];
      const std::uint32_t me = Excluding ? search.id[i] : 0;
      found = detail::find_neighbors<General>(
          search, block, s.cell_offset, s.staged, i, p, in_lengths(g.local(p, block.origin)),
          Real(1), s.list + t, threads, b.room.list,
          [&](Real3 r, Real3 q) {
            Real3 d = r - q;
            if constexpr (General) d = g.template vector<true>(search.metric, d);
            return dot(d, d);
          },
          [&](std::uint32_t place) {
            return Excluding && search.is_excluded(me, search.id[b.halo[halo_begin + place]]);
          });
      b.count[i] = found;
    }
    s.length[t] = found < b.room.list ? found : b.room.list;
    if (found + 4 > b.room.list) {
      atomicMax(&b.room.words[2], found + 4);
      b.room.words[0] = 1;
    }
    __syncthreads();

    // Every unit gets as many rows of chunks as its longest list needs.
    const std::uint32_t left = n - m0 < threads ? n - m0 : threads;
    const std::uint32_t units = (left + per_unit - 1) / per_unit;
    for (std::uint32_t u = t; u < units; u += threads) {
      std::uint32_t most = 0;
      for (std::uint32_t k = u * per_unit; k < (u + 1) * per_unit; ++k)
        most = most > s.length[k] ? most : s.length[k];
      s.unit_rows[u] = (most + row_entries - 1) / row_entries;
    }
    detail::block_scan(s.unit_rows, int(units));
    if (t == 0) {
      chunk_begin = atomicAdd(&b.used[1], s.unit_rows[units]);
      full = chunk_begin + s.unit_rows[units] > b.chunk_rows;
      if (full) b.room.words[0] = 1;
    }
    __syncthreads();
    if (full) return;
    const std::uint32_t lane = t & 31, lanes = 1u << b.log2_lanes;
    for (std::uint32_t u = t / 32; u < units; u += threads / 32) {
      const std::uint32_t begin = chunk_begin + s.unit_rows[u],
                          rows = s.unit_rows[u + 1] - s.unit_rows[u];
      if (lane == 0) b.units[unit_begin + m0 / per_unit + u] = {begin, rows};
      const std::uint32_t owner = u * per_unit + (lane >> b.log2_lanes);
      const std::uint32_t length = s.length[owner];
      std::uint32_t k = lane & (lanes - 1);
      for (std::uint32_t c = 0; c < rows; ++c) {
        TileChunk chunk;
#pragma unroll
        for (int e = 0; e < 4; ++e, k += lanes)
          chunk.place[e] = std::uint16_t(k < length ? s.list[k * threads + owner] : total);
        b.chunks[std::size_t(begin + c) * 32 + lane] = chunk;
      }
    }
    __syncthreads();
  }
}

template <bool General, bool Excluding>
__global__ void __launch_bounds__(TileList::threads) build_tiles_kernel(const BuildTiles b) {
  if (*b.halt) return;
  extern __shared__ __align__(16) unsigned char memory[];
  build_tile<General, Excluding>(b, memory);
  // The last block to arrive sees what all have written.
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(&b.used[2], 1u) + 1 < gridDim.x) return;
  __threadfence();
  if (*static_cast<volatile std::uint32_t*>(&b.room.words[0])) {
    *b.halt = 1;  // nothing goes on before the host has made room
  } else {
    *b.when_built.flag = 0;
    *b.when_built.builds += 1;
  }
}

/// Before a build: nothing is used.
struct StartTiles {
  std::uint32_t* used;
  PERRIN_HD void operator()(std::int64_t k) const { used[k] = 0; }
};

template <bool General, bool Excluding>
void start_build(const Device& device, const BuildTiles& b, std::size_t shared, int threads) {
  check_cuda(cudaFuncSetAttribute(build_tiles_kernel<General, Excluding>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
             "shared memory of a tile");
  launch(device, "build tiles", dim3(b.tile_count), dim3(unsigned(threads)), shared,
         build_tiles_kernel<General, Excluding>, b);
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

TileGeometry choose_geometry(const Box& box, double reach, std::int64_t particles,
                             int multiprocessors) {
  TileGeometry g{};
  const auto heights = box.padded_heights();
  // Cells half as wide as the list's range, for close candidates, or whole ones where half a cell
  // would be empty. Wider where the box is nearly empty, so that memory follows the particles.
  const double limit = double(std::max<std::int64_t>(4096, 4 * particles));
  const double density =
      double(particles) / (heights.x * heights.y * (box.dimension == 2 ? 1 : heights.z));
  const bool dense = density * std::pow(reach / 2, box.dimension) > 1.2;
  for (double width = dense ? reach / 2 : reach;; width *= 1.1) {
    double total = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const double n = axis < box.dimension ? std::floor(heights[axis] / width) : 1;
      g.cells[axis] = std::int32_t(std::clamp(n, 1.0, 1048576.0));
      total *= g.cells[axis];
    }
    if (total <= limit) break;
  }
  // Bricks as large as leaves a brick for every multiprocessor, four cells along an axis at most.
  const double per_cell = double(particles) / (double(g.cells.x) * g.cells.y * g.cells.z);
  for (int axis = 0; axis < 3; ++axis) g.log2_brick[axis] = 0;
  for (bool grown = true; grown;) {
    grown = false;
    for (int axis = 0; axis < 3; ++axis) {
      Vec3<std::int32_t> next = g.log2_brick;
      ++next[axis];
      double bricks = 1, inside = per_cell;
      for (int k = 0; k < 3; ++k) {
        bricks *= std::max(1, g.cells[k] >> next[k]);
        inside *= double(1 << next[k]);
      }
      // At most four cells along an axis and 192 particles. Two bricks for each multiprocessor,
      // unless they would have few particles for their halo.
      if (next[axis] > 2 || (1 << next[axis]) > g.cells[axis] || inside > 192 ||
          (bricks < 2.0 * multiprocessors && inside > 20))
        continue;
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
    g.cells[axis] = (g.cells[axis] >> g.log2_brick[axis]) << g.log2_brick[axis];
    const double width = heights[axis] / g.cells[axis];
    const bool flat = axis >= box.dimension;
    g.reach[axis] = flat ? 0 : std::int32_t(std::ceil(reach / width * (1 - 1e-12)));
    const std::int32_t wanted = (1 << g.log2_brick[axis]) + 2 * g.reach[axis];
    g.halo[axis] = std::min(wanted, g.cells[axis]);
    // Is the image of a neighbour that is nearest to the brick also nearest to the particle?
    const double far = (1 << g.log2_brick[axis]) * width / 2 + 1.3 * reach;
    const bool unique = flat || (wanted < g.cells[axis] && far < heights[axis] / 2);
    g.inverse_period[axis] = unique ? Real(0) : Real(1 / 4294967296.0);
    g.wraps = g.wraps || !unique;
    const double half_extent =
        unique ? std::min(0.5, (wanted / 2.0 + 1) / g.cells[axis]) * 4294967296.0 : 2147483648.0;
    int drop = 0;
    if (sizeof(Real) == 4)
      while (half_extent > 16777216.0 * double(1u << drop)) ++drop;
    g.mask[axis] = ~((1u << drop) - 1);
    g.half[axis] = drop == 0 ? 0 : 1u << (drop - 1);
  }
  return g;
}

}  // namespace

TileList::TileList(const Particles& particles, double reach, bool lists, bool sorted)
    : particles_(particles), reach_(reach * (1 + 1e-4)) {  // the grid of coordinates rounds
  const Device& device = particles_.device();
  geometry_ = choose_geometry(particles_.box, reach_, particles_.size(), device.multiprocessors());
  geometry_.sorted = sorted;
  const double n = double(particles_.size());
  const double bricks = double(geometry_.brick_count());
  // Short rows for few particles: the lists of a small system are a matter of latency.
  while (log2_lanes_ < 3 && n * double(1 << log2_lanes_) < device.multiprocessors() * 256.0)
    ++log2_lanes_;
  const double cells = double(geometry_.cell_count());
  const double halo = n / cells * geometry_.halo.x * geometry_.halo.y * geometry_.halo.z;
  halo_capacity_ = std::uint32_t(std::min(1.25 * halo + 64, n) + 31) / 32 * 32;
  const double volume =
      particles_.box.dimension == 2 ? M_PI * reach_ * reach_ : 4.1888 * std::pow(reach_, 3);
  const double entries = std::min(n, n / particles_.box.volume() * volume);
  const double mean = n / bricks;
  build_threads_ = std::clamp(int((1.15 * mean + 31) / 32) * 32, 64, threads);
  // What a uniform system needs, and some more; whatever is full grows (enlarge()).
  list_capacity_ = std::uint32_t(std::min(1.15 * entries + 20, n + 4) + 7) / 8 * 8;
  const std::uint32_t row = 4u << log2_lanes_;
  const auto units = particles_.size() / (32 >> log2_lanes_) + geometry_.brick_count() + 1;
  const double rows = 1.1 * double(units) * std::ceil((1.1 * entries + 4) / row);
  words_ = {device, 3};
  choose_sizes();
  if (!lists) return;
  tiles_ = {device, geometry_.brick_count()};
  units_ = {device, units};
  halo_ = {device, std::int64_t(1.2 * std::min(halo, n) * std::min(bricks, n)) + 1024};
  chunks_ = {device, (std::int64_t(rows) + 64) * 32};
  used_ = {device, 3};
  choose_sizes();
}

bool TileList::choose_sizes() {
  const Device& device = particles_.device();
  const int halo_cells = geometry_.halo.x * geometry_.halo.y * geometry_.halo.z;
  scratch_bytes_ = scratch_bytes(halo_capacity_, list_capacity_, halo_cells, build_threads_);
  // The pair loop stages an extra word per place, and an index where there are exclusions.
  const std::size_t most = scratch_bytes_ + (halo_capacity_ + 4) * (sizeof(Real4) + 4) + 2048;
  fits_ = halo_capacity_ < 65535 && most < std::size_t(shared_limit(device));
  return fits_;
}

TileSearch TileList::search(const std::uint32_t* cell_start, const std::uint32_t* exclusion_begin,
                            const std::uint32_t* excluded) const {
  const TileGeometry& g = geometry_;
  const auto heights = particles_.box.padded_heights();
  return {g,
          particles_.box.metric(),
          {Real(heights.x / g.cells.x), Real(heights.y / g.cells.y), Real(heights.z / g.cells.z)},
          Real(reach_ * reach_),
          particles_.position.data(),
          particles_.id.data(),
          cell_start,
          exclusion_begin,
          excluded};
}

TileView TileList::view() const {
  return {geometry_,      tiles_.data(),  halo_.data(), units_.data(),
          chunks_.data(), halo_capacity_, log2_lanes_,  geometry_.brick_count()};
}

void TileList::build([[maybe_unused]] const std::uint32_t* cell_start,
                     [[maybe_unused]] const std::uint32_t* exclusion_begin,
                     [[maybe_unused]] const std::uint32_t* excluded,
                     [[maybe_unused]] std::uint32_t* count,
                     [[maybe_unused]] const WhenBuilt& when_built) {
#ifdef __CUDACC__
  const Device& device = particles_.device();
  const TileGeometry& g = geometry_;
  for_each(device, "start tiles", 3, StartTiles{used_.data()});
  const BuildTiles b{search(cell_start, exclusion_begin, excluded),
                     tiles_.data(),
                     units_.data(),
                     halo_.data(),
                     chunks_.data(),
                     count,
                     used_.data(),
                     device.halt_word(),
                     when_built,
                     room(),
                     std::uint32_t(halo_.size()),
                     std::uint32_t(chunks_.size() / 32),
                     log2_lanes_,
                     std::uint32_t(g.brick_count())};
  const bool general = !g.orthogonal || g.wraps;
  if (exclusion_begin)
    general ? start_build<true, true>(device, b, scratch_bytes_, build_threads_)
            : start_build<false, true>(device, b, scratch_bytes_, build_threads_);
  else
    general ? start_build<true, false>(device, b, scratch_bytes_, build_threads_)
            : start_build<false, false>(device, b, scratch_bytes_, build_threads_);
#endif
}

bool TileList::enlarge() {
  const auto words = words_.to_host();
  if (words[0] == 0) return false;
  const auto more = [](std::uint32_t wanted) { return std::int64_t(double(wanted) * 1.2) + 16; };
  if (words[1] > halo_capacity_) halo_capacity_ = std::uint32_t(more(words[1]) + 31) / 32 * 32;
  if (words[2] > list_capacity_) list_capacity_ = std::uint32_t(more(words[2]) + 7) / 8 * 8;
  choose_sizes();
  words_.zero();
  if (used_.size() == 0) return true;
  const auto used = used_.to_host();
  if (used[0] > halo_.size()) {
    halo_ = Buffer<std::uint32_t>();
    halo_ = {particles_.device(), more(used[0])};
  }
  if (std::int64_t(used[1]) * 32 > chunks_.size()) {
    chunks_ = Buffer<TileChunk>();
    chunks_ = {particles_.device(), more(used[1]) * 32};
  }
  return true;
}

}  // namespace perrin
