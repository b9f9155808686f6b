// The neighbours of a particle of a brick by one thread, in rows of cells that are sorted along x.
//
// The particles of a cell are sorted by x (CellSort), so a row of cells along x is sorted as a
// whole: what the distance between particle and row leaves of the reach cuts the row's candidates
// at both ends. This is the interaction sorting of E. S. Fomin, for cells joined along x.
#pragma once

#include "neighbor/tiles/tile_search.h"

#ifdef __CUDACC__

namespace perrin::detail {

/// To a few units in the last place.
inline __device__ Real square_root(Real x) {
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(float(x)));
  return root;
}

/// The list that find_in_rows() fills.
struct PlaceList {
  std::uint16_t* next;
  std::uint32_t stride, most, found;

  /// Appends those of the candidates at places begin … end - 1 that are within reach of r, but
  /// `self`.
  __device__ __forceinline__ void take(const TileSearch& s, const Real4* staged, const Real3& r,
                                       std::uint32_t self, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t k = begin; k < end; k += 4) {
      const bool room = found + 4 <= most;
      Real4 q[4];
#pragma unroll
      for (std::uint32_t l = 0; l < 4; ++l) q[l] = staged[k + l];
      bool near[4];
#pragma unroll
      for (std::uint32_t l = 0; l < 4; ++l) {
        const Real3 d = s.geometry.template vector<false>(*s.metric, r - q[l].xyz());
        near[l] = dot(d, d) < s.reach2 && k + l < end && k + l != self;
      }
#pragma unroll
      for (std::uint32_t l = 0; l < 4; ++l) {
        // Every candidate is written behind the list; the list grows by those in reach.
        if (room) *next = std::uint16_t(k + l);
        if (near[l]) ++found, next += stride;
      }
    }
  }
};

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
  const Vec3<std::int32_t> cell = g.cell(p);
  const Vec3<std::int32_t> own{cell.x - block.halo_first.x, cell.y - block.halo_first.y,
                               cell.z - block.halo_first.z};
  const std::uint32_t self = cell_offset[(own.z * g.halo.y + own.y) * g.halo.x + own.x] +
                             std::uint32_t(i) - s.cell_start[g.key(cell.x, cell.y, cell.z)];
  const TileScale scale = *g.scale;
  PlaceList places{list, stride, most, 0};
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
  const Real in_y = Real(p.y * std::uint32_t(g.cells.y)) * to_unit * scale.cell.y;
  const Real in_z = Real(p.z * std::uint32_t(g.cells.z)) * to_unit * scale.cell.z;
  const auto gap = [](std::int32_t d, Real inside, Real edge) {
    return d == 0 ? Real(0) : d > 0 ? Real(d) * edge - inside : inside - Real(d + 1) * edge;
  };
  for (std::int32_t z = z0; z <= z1; ++z) {
    const Real gz = gap(z - own.z, in_z, scale.cell.z);
    const Real left_z = s.reach2 - gz * gz;
    if (left_z < Real(0)) continue;
    for (std::int32_t y = y0; y <= y1; ++y) {
      const Real gy = gap(y - own.y, in_y, scale.cell.y);
      const Real left = left_z - gy * gy;
      if (left < Real(0)) continue;
      const Real chord = square_root(left) * Real(1.0001);
      const std::int32_t from = own.x + std::int32_t(floorf(float(in_x - chord * scale.per_cell)));
      const std::int32_t to = own.x + std::int32_t(floorf(float(in_x + chord * scale.per_cell)));
      const std::uint32_t* starts = cell_offset + (z * g.halo.y + y) * g.halo.x;
      std::uint32_t begin = starts[x0 > from ? x0 : from], end = starts[(x1 < to ? x1 : to) + 1];
      const Real first = r.x - chord * scale.per_unit, last = r.x + chord * scale.per_unit;
      while (begin < end && staged[begin].x < first) ++begin;
      while (begin < end && staged[end - 1].x > last) --end;
      places.take(s, staged, r, self, begin, end);
    }
  }
  const std::uint32_t found = places.found;
  return found + 4 > most ? found + 4 : found;  // the last four are written ahead
}

}  // namespace perrin::detail

#endif
