// The neighbours of a few particles of a brick (neighbor/tiles.h) by one warp.
//
// A thread that looks through the candidates of its own particle waits for the other threads of
// its warp at the end of every row of cells, and its list takes shared memory for as long as the block
// lives. Here the warp holds 32 to 128 candidates in registers and takes one particle after the other: a
// test is three multiplications and a comparison, its results are a vote, kept as a word of 32 bits.
// At the end the words become lists, all lanes at work.
#pragma once

#include "neighbor/tile_search.h"

namespace perrin {

/// Words of 32 candidates per particle between two harvests; a multiple of 4.
constexpr int unit_words = 24;

/// Bytes of shared memory for a warp that searches `particles` particles at a time; a multiple of
/// 16 where `list_room`, the entries of a list, is one of 8.
constexpr std::size_t unit_scratch_bytes(int particles, std::uint32_t list_room) {
  return std::size_t(particles) * (sizeof(Real4) + unit_words * sizeof(std::uint32_t) +
                                   (unit_words + list_room) * sizeof(std::uint16_t));
}

#ifdef __CUDACC__
namespace detail {

/// Shared memory of a warp, for each of its particles: its coordinates, words of candidates in
/// reach, the place of each word's first candidate (for the first of particles with the same candidates),
/// the list.
struct UnitScratch {
  Real4* own;
  std::uint32_t* word;
  std::uint16_t* first;
  std::uint16_t* list;
  std::uint32_t list_room;

  __device__ UnitScratch(unsigned char* memory, int particles, std::uint32_t room)
      : own(reinterpret_cast<Real4*>(memory)),
        word(reinterpret_cast<std::uint32_t*>(own + particles)),
        first(reinterpret_cast<std::uint16_t*>(word + particles * unit_words)),
        list(first + particles * unit_words),
        list_room(room) {}
};

/// One warp's search for the neighbours of particles first … of the brick (32 / lanes of them), `lanes`
/// threads for each. General: triclinic boxes, images taken per pair, or a halo so wide that
/// differences of squares would round too much. Scaled: `staged` holds lengths, and the square of
/// the distance from the origin in its fourth word; else local coordinates. Behind the last place is
/// one far away: fourth word 1e30, or coordinates of 1e16.
template <bool General, bool Scaled>
struct UnitSearch {
  const TileSearch& s;
  const TileBlock& block;
  const std::uint32_t* cell_offset;
  const Real4* staged;         // local coordinates of the halo, and one place that is far away
  const std::uint32_t* index;  // in memory, of each place; for exclusions
  std::uint32_t total;         // places in the halo
  UnitScratch scratch;
  int log2_lanes;

  static constexpr std::uint32_t warp = 0xffffffffu;

  PERRIN_HD static Real4 scaled(const Metric& l, Real3 r) {
    const Real x = l.xx * r.x, y = l.yy * r.y, z = l.zz * r.z;
    return {x, y, z, x * x + y * y + z * z};
  }

  /// Tests `Words`·32 candidates from place k (before `end`) against particles m0 … m1-1.
  template <int Words>
  __device__ void test(std::uint32_t k, std::uint32_t end, std::uint32_t m0, std::uint32_t m1,
                       int filled) const {
    const std::uint32_t lane = threadIdx.x & 31;
    Real4 q[Words];
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      const std::uint32_t place = k + 32 * w + lane;
      const bool past = place >= end;
      q[w] = staged[past ? total : place];
      if constexpr (General)
        q[w].w = past ? Real(1e30) : Real(0);
      else if constexpr (!Scaled)
        q[w] = scaled(s.metric, q[w].xyz());
    }
    if (lane == 0) {
      auto* first = reinterpret_cast<std::uint32_t*>(scratch.first + m0 * unit_words + filled);
#pragma unroll
      for (int w = 0; w < Words; w += 2)  // two 16-bit places
        first[w / 2] = (k + 32 * w) * 0x10001u + (32u << 16);
    }
    for (std::uint32_t m = m0; m < m1; ++m) {
      const Real4 p = scratch.own[m];
      std::uint32_t word[Words];
#pragma unroll
      for (int w = 0; w < Words; ++w) {
        bool near;
        if constexpr (General) {
          const Real3 d = s.geometry.template vector<true>(s.metric, p.xyz() - q[w].xyz());
          near = dot(d, d) + q[w].w < s.reach2;
        } else {  // |q|² - 2 p·q < reach² - |p|²
          near = p.x * q[w].x + (p.y * q[w].y + (p.z * q[w].z + q[w].w)) < p.w;
        }
        word[w] = __ballot_sync(warp, near);
      }
      if (lane == 0) {
        std::uint32_t* to = scratch.word + m * unit_words + filled;
#pragma unroll
        for (int w = 0; w < Words; w += 2)  // in twos: `filled` is even, no more
          *reinterpret_cast<uint2*>(to + w) = make_uint2(word[w], word[w + 1]);
      }
    }
  }

  /// Appends to the list of this lane's particle m, which is `self` and has `found` entries, what
  /// its `words` words say. Returns the new length; what does not fit is counted only.
  __device__ std::uint32_t harvest(std::int64_t i, std::uint32_t m, std::uint32_t group,
                                   std::uint32_t self, int words, std::uint32_t found) const {
    __syncwarp();
    const int lanes = 1 << log2_lanes, sub = int(threadIdx.x) & (lanes - 1);
    std::uint32_t* word = scratch.word + m * unit_words;
    const std::uint16_t* first = scratch.first + group * unit_words;
    std::uint32_t own = 0;
    for (int w = sub; w < words; w += lanes) {
      std::uint32_t bits = word[w];
      const std::uint32_t at = self - first[w];
      if (at < 32) bits &= ~(1u << at);
      if (s.exclusion_begin)
        for (std::uint32_t left = bits; left != 0; left &= left - 1) {
          const int bit = __ffs(int(left)) - 1;
          const std::uint32_t other = s.id[index[first[w] + std::uint32_t(bit)]];
          if (s.is_excluded(s.id[i], other)) bits &= ~(1u << bit);
        }
      if (Scaled && s.reach2_of_types)
        for (std::uint32_t left = bits; left != 0; left &= left - 1) {
          const int bit = __ffs(int(left)) - 1;
          if (s.is_beyond(i, index[first[w] + std::uint32_t(bit)])) bits &= ~(1u << bit);
        }
      word[w] = bits;
      own += std::uint32_t(__popc(bits));
    }
    std::uint32_t until = own;
    for (int step = 1; step < lanes; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(warp, until, unsigned(step), lanes);
      if (sub >= step) until += other;
    }
    const std::uint32_t all = __shfl_sync(warp, until, lanes - 1, lanes);
    if (found + all <= scratch.list_room) {
      std::uint16_t* to = scratch.list + m * scratch.list_room + found + until - own;
      for (int w = sub; w < words; w += lanes) {
        const std::uint32_t base = first[w];
        for (std::uint32_t bits = word[w]; bits != 0;) {
          const std::uint32_t bit = 31u - std::uint32_t(__clz(int(bits)));
          bits ^= 1u << bit;
          *to++ = std::uint16_t(base + bit);
        }
      }
    }
    __syncwarp();
    return found + all;
  }

  /// Returns the number of neighbours of this lane's particle; entry k of the list of the warp's
  /// particle m is list[m · list_room + k], if there was room.
  __device__ std::uint32_t operator()(std::uint32_t first) const {
    const TileGeometry& g = s.geometry;
    const int lane = int(threadIdx.x & 31);
    const std::uint32_t m = std::uint32_t(lane) >> log2_lanes;
    const bool present = first + m < block.count;
    const std::int64_t i = block.first + first + (present ? m : 0);
    std::int32_t row = 0;
    std::uint32_t self = 0;
    if (present) {
      const Position p = s.position[i];
      const Vec3<std::int32_t> cell{TileGeometry::along(p.x, g.cells.x),
                                    TileGeometry::along(p.y, g.cells.y),
                                    TileGeometry::along(p.z, g.cells.z)};
      row = (cell.z - block.halo_first.z) * g.halo.y + cell.y - block.halo_first.y;
      self = cell_offset[row * g.halo.x + cell.x - block.halo_first.x] + std::uint32_t(i) -
             s.cell_start[g.key(cell.x, cell.y, cell.z)];
      Real4 own = staged[self];
      if constexpr (!General) {
        if constexpr (!Scaled) own = scaled(s.metric, own.xyz());
        own = {-2 * own.x, -2 * own.y, -2 * own.z, s.reach2 - own.w};
      }
      if ((lane & ((1 << log2_lanes) - 1)) == 0) scratch.own[m] = own;
    }
    __syncwarp();
    std::uint32_t found = 0, group = 0;
    int words = 0;
    // Particles in the same row of cells along x, which lie one behind the other, have the same candidates.
    std::uint32_t left = __ballot_sync(warp, present);
    while (left != 0) {
      const int leader = __ffs(int(left)) - 1;
      const std::int32_t its_row = __shfl_sync(warp, row, leader);
      const std::uint32_t members = __ballot_sync(warp, present && row == its_row);
      left &= ~members;
      const std::uint32_t m0 = std::uint32_t(leader) >> log2_lanes,
                          m1 = m0 + (std::uint32_t(__popc(members)) >> log2_lanes);
      const bool mine = m - m0 < m1 - m0;
      if (mine) group = m0;
      const std::int32_t oy = its_row % g.halo.y, oz = its_row / g.halo.y;
      const bool all_y = g.halo.y == g.cells.y, all_z = g.halo.z == g.cells.z;
      const std::int32_t y0 = all_y ? 0 : oy - g.reach.y,
                         y1 = all_y ? g.halo.y : oy + g.reach.y + 1;
      const std::int32_t z0 = all_z ? 0 : oz - g.reach.z,
                         z1 = all_z ? g.halo.z : oz + g.reach.z + 1;
      int filled = 0;
      for (std::int32_t z = z0; z < z1; ++z) {
        const std::uint32_t end = cell_offset[(z * g.halo.y + y1) * g.halo.x];
        for (std::uint32_t k = cell_offset[(z * g.halo.y + y0) * g.halo.x]; k < end;) {
          if (filled + 4 > unit_words) {
            if (mine) words = filled;
            found = harvest(i, m, group, self, words, found);
            words = filled = 0;
          }
          if (end - k > 64) {
            test<4>(k, end, m0, m1, filled);
            k += 128, filled += 4;
          } else {
            test<2>(k, end, m0, m1, filled);
            k += 64, filled += 2;
          }
        }
      }
      if (mine) words = filled;
    }
    return harvest(i, m, group, self, words, found);
  }
};

}  // namespace detail
#endif

}  // namespace perrin
