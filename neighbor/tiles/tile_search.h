// Finding the neighbours of a brick's particles (neighbor/tiles/tiles.h), by one block of a CUDA device.
//
// The particles of a cell are sorted by x (CellSort), so a row of cells along x is sorted as a
// whole: what the distance between particle and row leaves of the reach cuts the row's candidates
// at both ends. This is the interaction sorting of D. G. Fomin, for cells joined along x.
#pragma once

#include "neighbor/tiles/tiles.h"

namespace perrin {

/// What is searched.
struct TileSearch {
  TileGeometry geometry;
  Metric metric;
  Vec3<Real> cell;          // edges of a cell; orthogonal boxes
  Real per_cell, per_unit;  // along x: cells, and units of coordinates, to a length
  Real reach2;
  const Real* reach2_of_types;  // [type · types + type]; nullptr: reach2 for all (lists only)
  std::uint32_t types;
  const Position* position;
  const std::uint32_t* id;
  const std::uint32_t* cell_start;
  const std::uint32_t *exclusion_begin, *excluded;  // by id
  bool general;  // triclinic, or images taken per pair, or a halo of many reaches

  PERRIN_HD bool is_excluded(std::uint32_t me, std::uint32_t other) const {
    for (std::uint32_t k = exclusion_begin[me]; k < exclusion_begin[me + 1]; ++k)
      if (excluded[k] == other) return true;
    return false;
  }
  /// Beyond the reach of their types?
  PERRIN_HD bool is_beyond(std::int64_t i, std::uint32_t j) const {
    const Position p = position[i], q = position[j];
    const Real3 d = metric.vector(p, q);
    return !(dot(d, d) < reach2_of_types[p.type() * types + q.type()]);
  }
  /// Are there pairs in reach that lists leave out?
  PERRIN_HD bool has_filter() const { return exclusion_begin || reach2_of_types; }
  PERRIN_HD bool leaves_out(std::int64_t i, std::uint32_t j) const {
    return (exclusion_begin && is_excluded(id[i], id[j])) || (reach2_of_types && is_beyond(i, j));
  }
};

#ifdef __CUDACC__
namespace detail {

/// The brick of this block and the cells of its halo.
struct TileBlock {
  Vec3<std::int32_t> halo_first;
  Vec3<std::uint32_t> origin;
  std::uint32_t first, count;  // the brick's particles in memory

  __device__ TileBlock(const TileSearch& s, std::uint32_t brick) {
    const Vec3<std::int32_t> cell = s.geometry.first_cell(brick);
    halo_first = s.geometry.halo_first(cell);
    origin = s.geometry.origin(cell);
    const int bits = s.geometry.log2_cells_per_brick();
    first = s.cell_start[std::size_t(brick) << bits];
    count = s.cell_start[(std::size_t(brick) + 1) << bits] - first;
  }

  __device__ std::uint32_t cell_key(const TileGeometry& g, std::uint32_t c) const {
    std::uint32_t of_x, of_y;
    const std::uint32_t of_z = g.halo_y(g.halo_x(c, of_x), of_y);
    std::int32_t x = halo_first.x + std::int32_t(of_x), y = halo_first.y + std::int32_t(of_y),
                 z = halo_first.z + std::int32_t(of_z);
    x += x < 0 ? g.cells.x : x >= g.cells.x ? -g.cells.x : 0;
    y += y < 0 ? g.cells.y : y >= g.cells.y ? -g.cells.y : 0;
    z += z < 0 ? g.cells.z : z >= g.cells.z ? -g.cells.z : 0;
    return g.key(x, y, z);
  }
  /// Fills cell_offset (halo cells + 1): the first place of every cell of the halo, and staged[place].w, if
  /// there are no more than `room`, with the memory index of who is there. Returns the number of places.
  /// All threads of the block.
  __device__ std::uint32_t lay_out(const TileSearch& s, std::uint32_t* cell_offset, Real4* staged,
                                   std::uint32_t room) const {
    const TileGeometry& g = s.geometry;
    __shared__ std::uint32_t warp_sum[32];
    const std::uint32_t cells = std::uint32_t(g.halo.x * g.halo.y * g.halo.z);
    const std::uint32_t t = threadIdx.x, lane = t & 31, warp = t >> 5;
    // A few cells that follow one another for each thread, then sums over threads.
    const std::uint32_t each = (cells + blockDim.x - 1) / blockDim.x;
    const std::uint32_t begin = t * each < cells ? t * each : cells,
                        end = begin + each < cells ? begin + each : cells;
    constexpr std::uint32_t at_once = 3;  // loads that do not wait for one another
    std::uint32_t index[at_once], here[at_once];
    const auto look = [&](std::uint32_t c) {
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e) {
        const std::uint32_t* start = s.cell_start + cell_key(g, c + e < end ? c + e : c);
        index[e] = start[0], here[e] = start[1];
      }
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e) here[e] = c + e < end ? here[e] - index[e] : 0;
    };
    std::uint32_t own = 0;
    for (std::uint32_t c = begin; c < end; c += at_once) {
      look(c);
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e) own += here[e];
    }
    std::uint32_t until = own;
    for (std::uint32_t step = 1; step < 32; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(0xffffffffu, until, step);
      if (lane >= step) until += other;
    }
    if (lane == 31) warp_sum[warp] = until;
    __syncthreads();
    __syncwarp();  // the barrier does not bring a warp's threads together, and reductions must find them so
    const std::uint32_t of_warp = lane < blockDim.x / 32 ? warp_sum[lane] : 0;
    const std::uint32_t before = __reduce_add_sync(0xffffffffu, lane < warp ? of_warp : 0);
    const std::uint32_t total = __reduce_add_sync(0xffffffffu, of_warp);
    for (std::uint32_t c = begin, at = before + until - own; c < end; c += at_once) {
      if (each > at_once) look(c);
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e) {
        if (c + e < end) cell_offset[c + e] = at;
        for (std::uint32_t k = 0; k < here[e]; ++k, ++at)
          if (total <= room) staged[at].w = type_to_real(index[e] + k);
      }
    }
    if (t == 0) cell_offset[cells] = total;
    __syncthreads();
    return total;
  }
  /// put(place, memory index, get(memory index)) for each of the `total` places that lay_out() has found; it is
  /// to fill staged[place]. A thread gets several before it puts the first.
  template <class Get, class Put>
  __device__ static void for_each_place(std::uint32_t total, const Real4* staged, Get&& get,
                                        Put&& put) {
    constexpr std::uint32_t at_once = 4;
    const std::uint32_t threads = blockDim.x;
    for (std::uint32_t k = threadIdx.x; k < total; k += at_once * threads) {
      std::uint32_t j[at_once];
      decltype(get(0u)) got[at_once];
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e) {
        const std::uint32_t place = k + e * threads;
        j[e] = real_to_type(staged[place < total ? place : k].w);
      }
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e) got[e] = get(j[e]);
#pragma unroll
      for (std::uint32_t e = 0; e < at_once; ++e)
        if (k + e * threads < total) put(k + e * threads, j[e], got[e]);
    }
  }
};

/// To a few units in the last place.
inline __device__ Real square_root(Real x) {
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(float(x)));
  return root;
}

/// Lists the places of the neighbours of particle i: list[0], list[stride], …; returns how many
/// there may be, of which none is missing if they are at most `most`. `staged` has 4 places of room
/// behind the last. Orthogonal boxes without exclusions.
__device__ __forceinline__ std::uint32_t find_in_rows(const TileSearch& s, const TileBlock& block,
                                                      const std::uint32_t* cell_offset,
                                                      const Real4* staged, std::int64_t i,
                                                      std::uint16_t* list, std::uint32_t stride,
                                                      std::uint32_t most) {
  const Position p = s.position[i];
  const Real3 r = s.geometry.local<false>(p, block.origin);
  const TileGeometry& g = s.geometry;
  const Vec3<std::int32_t> cell{TileGeometry::along(p.x, g.cells.x),
                                TileGeometry::along(p.y, g.cells.y),
                                TileGeometry::along(p.z, g.cells.z)};
  const Vec3<std::int32_t> own{cell.x - block.halo_first.x, cell.y - block.halo_first.y,
                               cell.z - block.halo_first.z};
  const std::uint32_t self = cell_offset[(own.z * g.halo.y + own.y) * g.halo.x + own.x] +
                             std::uint32_t(i) - s.cell_start[g.key(cell.x, cell.y, cell.z)];
  std::uint32_t found = 0;
  const auto distance2 = [&](Real3 q) {
    const Real3 d = s.geometry.template vector<false>(s.metric, r - q);
    return dot(d, d);
  };
  const auto row = [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t k = begin; k < end; k += 4) {
      const bool room = found + 4 <= most;
      Real4 q[4];
#pragma unroll
      for (std::uint32_t l = 0; l < 4; ++l) q[l] = staged[k + l];
      bool near[4];
#pragma unroll
      for (std::uint32_t l = 0; l < 4; ++l)
        near[l] = distance2(q[l].xyz()) < s.reach2 && k + l < end && k + l != self;
#pragma unroll
      for (std::uint32_t l = 0; l < 4; ++l) {
        // Every candidate is written behind the list; the list grows by those in reach.
        if (room) *list = std::uint16_t(k + l);
        if (near[l]) ++found, list += stride;
      }
    }
  };
  const auto low = [&](int axis) {
    return g.halo[axis] == g.cells[axis] ? 0 : own[axis] - g.reach[axis];
  };
  const auto high = [&](int axis) {
    return g.halo[axis] == g.cells[axis] ? g.halo[axis] - 1 : own[axis] + g.reach[axis];
  };
  const std::int32_t x0 = low(0), x1 = high(0), y0 = low(1), y1 = high(1), z0 = low(2),
                     z1 = high(2);
  // What the distance to the row leaves of the reach decides how long it must be.
  const Real to_unit = Real(1.0 / 4294967296.0);
  const Real in_x = Real(p.x * std::uint32_t(g.cells.x)) * to_unit;  // the low word: the fraction
  const Real in_y = Real(p.y * std::uint32_t(g.cells.y)) * to_unit * s.cell.y;
  const Real in_z = Real(p.z * std::uint32_t(g.cells.z)) * to_unit * s.cell.z;
  const auto gap = [](std::int32_t d, Real inside, Real edge) {
    return d == 0 ? Real(0) : d > 0 ? Real(d) * edge - inside : inside - Real(d + 1) * edge;
  };
  for (std::int32_t z = z0; z <= z1; ++z) {
    const Real gz = gap(z - own.z, in_z, s.cell.z);
    const Real left_z = s.reach2 - gz * gz;
    if (left_z < Real(0)) continue;
    for (std::int32_t y = y0; y <= y1; ++y) {
      const Real gy = gap(y - own.y, in_y, s.cell.y);
      const Real left = left_z - gy * gy;
      if (left < Real(0)) continue;
      const Real chord = square_root(left) * Real(1.0001);
      const std::int32_t from = own.x + std::int32_t(floorf(float(in_x - chord * s.per_cell)));
      const std::int32_t to = own.x + std::int32_t(floorf(float(in_x + chord * s.per_cell)));
      const std::uint32_t* starts = cell_offset + (z * g.halo.y + y) * g.halo.x;
      std::uint32_t begin = starts[x0 > from ? x0 : from], end = starts[(x1 < to ? x1 : to) + 1];
      const Real first = r.x - chord * s.per_unit, last = r.x + chord * s.per_unit;
      while (begin < end && staged[begin].x < first) ++begin;
      while (begin < end && staged[end - 1].x > last) --end;
      row(begin, end);
    }
  }
  return found + 4 > most ? found + 4 : found;  // the last four are written ahead
}

}  // namespace detail
#endif

}  // namespace perrin
