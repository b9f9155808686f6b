// The neighbours of eight particles of a brick (neighbor/tiles/tile_list.h) by one warp, in any
// box.
//
// A thread that looks through the candidates of its own particle waits for the other threads of its
// warp at the end of every row of cells, and its list takes shared memory for as long as the block
// lives. Here the warp holds 64 or 128 candidates in registers and takes one particle after the
// other; the results of a test are a vote, kept as a word of 32 bits. At the end the words become
// lists, all lanes at work. neighbor/tiles/matrix_search.h is for the boxes of nearly everybody.
#pragma once

#include "neighbor/tiles/tile_search.h"

namespace perrin {

/// What a warp searches for at a time: particles that follow one another in a brick, four threads
/// each.
constexpr int unit_particles = 8;

namespace detail {

/// Words of 32 candidates per particle between two harvests; an even number whose multiples of four
/// rows lie in different banks.
constexpr int unit_words = 28;
/// Steps of sixteen candidates whose results fill a word of MatrixSearch; two words are kept.
constexpr std::uint32_t matrix_steps = 32;

/// A warp's shared memory: what the search needs, and eight lists; entry k of the list of particle
/// m is list[m · stride() + k].
struct UnitScratch {
  unsigned char* work;
  std::uint16_t* list;
  std::uint32_t room;  // of a list, a multiple of 16

  /// Rows of lists begin in different banks.
  PERRIN_HD static constexpr std::uint32_t stride(std::uint32_t room) { return room + 8; }
  PERRIN_HD static constexpr std::size_t work_bytes(bool general) {
    return general ? unit_particles * (sizeof(Real4) + unit_words * 6)
                   : 2 * matrix_steps * sizeof(std::uint16_t);
  }
  /// A multiple of 16.
  PERRIN_HD static constexpr std::size_t bytes(bool general, std::uint32_t room) {
    return work_bytes(general) + unit_particles * stride(room) * sizeof(std::uint16_t);
  }
  PERRIN_HD UnitScratch(unsigned char* memory, bool general, std::uint32_t list_room)
      : work(memory),
        list(reinterpret_cast<std::uint16_t*>(memory + work_bytes(general))),
        room(list_room) {}
  PERRIN_HD std::uint32_t stride() const { return stride(room); }
};

#ifdef __CUDACC__

/// Where a particle of the brick is: its row of cells in the halo, and its place there.
struct UnitPlace {
  std::int32_t y, z;
  std::uint32_t self;

  __device__ UnitPlace(const TileSearch& s, const TileBlock& block,
                       const std::uint32_t* cell_offset, std::int64_t i) {
    const TileGeometry& g = s.geometry;
    const Position p = s.position[i];
    const Vec3<std::int32_t> cell = g.cell(p);
    y = cell.y - block.halo_first.y, z = cell.z - block.halo_first.z;
    self = cell_offset[(z * g.halo.y + y) * g.halo.x + cell.x - block.halo_first.x] +
           std::uint32_t(i) - s.cell_start[g.key(cell.x, cell.y, cell.z)];
  }
};

/// Which cells of the halo along an axis hold the neighbours of particles in cells low … high.
__device__ inline void neighbour_cells(const TileGeometry& g, int axis, std::int32_t low,
                                       std::int32_t high, std::int32_t& begin, std::int32_t& end) {
  const bool all = g.halo[axis] == g.cells[axis];
  begin = all ? 0 : low - g.reach[axis];
  end = all ? g.halo[axis] : high + g.reach[axis] + 1;
}

/// Takes from the list of particle i, the warp's m-th, what lists leave out; four threads share it.
/// Returns what is left of `found` entries. index: in memory, of each place.
__device__ inline std::uint32_t filter_list(const TileSearch& s, const UnitScratch& scratch,
                                            const std::uint32_t* index, std::int64_t i,
                                            std::uint32_t m, std::uint32_t found) {
  constexpr std::uint32_t warp = 0xffffffffu, at_once = 4;  // entries of a thread
  const std::uint32_t lane = threadIdx.x & 31, sub = lane & 3;
  std::uint16_t* list = scratch.list + m * scratch.stride();
  std::uint32_t kept = 0;
  const std::int64_t first = __shfl_sync(warp, static_cast<long long>(i), 0);
  const ListFilter filter(s, found > 0 ? i : first);  // i may not be there
  // Beyond the room there is no list, and will be another.
  if (found > scratch.room || filter.leaves_out_all()) found = 0;
  for (std::uint32_t k = 0; __any_sync(warp, k < found); k += 4 * at_once) {
    // What is read of several entries is on its way together.
    std::uint16_t entry[at_once];
    std::uint32_t id[at_once];
    Position other[at_once];
    bool keep[at_once];
#pragma unroll
    for (std::uint32_t a = 0; a < at_once; ++a) {
      const std::uint32_t at = k + 4 * a + sub;
      entry[a] = at < found ? list[at] : std::uint16_t(0);
      const std::uint32_t j = index[entry[a]];
      id[a] = filter.id_of(j), other[a] = filter.position_of(j);
    }
#pragma unroll
    for (std::uint32_t a = 0; a < at_once; ++a)
      keep[a] = k + 4 * a + sub < found && !filter.leaves_out(id[a], other[a]);
    __syncwarp();  // all have read
#pragma unroll
    for (std::uint32_t a = 0; a < at_once; ++a) {
      const std::uint32_t votes = (__ballot_sync(warp, keep[a]) >> (lane & 28)) & 15;
      if (keep[a]) list[kept + __popc(votes & ((1u << sub) - 1))] = entry[a];
      kept += __popc(votes);
    }
    __syncwarp();
  }
  return kept;
}

/// One warp's search for the neighbours of particles first … first+7 of the brick.
struct UnitSearch {
  const TileSearch& s;
  const TileBlock& block;
  const std::uint32_t* cell_offset;
  const Real4* staged;  // local coordinates of the halo, and one more place
  std::uint32_t total;  // places in the halo
  UnitScratch scratch;

  static constexpr std::uint32_t warp = 0xffffffffu;
  static constexpr int lanes = 32 / unit_particles;

  // For each particle: its coordinates, words of candidates in reach, and the place of each word's
  // first candidate (for the first of particles with the same candidates).
  __device__ Real4* own() const { return reinterpret_cast<Real4*>(scratch.work); }
  __device__ std::uint32_t* word(std::uint32_t m) const {
    return reinterpret_cast<std::uint32_t*>(own() + unit_particles) + m * unit_words;
  }
  __device__ std::uint16_t* first_place(std::uint32_t m) const {
    return reinterpret_cast<std::uint16_t*>(word(unit_particles)) + m * unit_words;
  }

  /// Tests `Words`·32 candidates from place k (before `end`) against particles m0 … m1-1.
  template <int Words>
  __device__ void test(std::uint32_t k, std::uint32_t end, std::uint32_t m0, std::uint32_t m1,
                       int filled) const {
    const std::uint32_t lane = threadIdx.x & 31;
    Real3 q[Words];
    bool past[Words];
#pragma unroll
    for (int w = 0; w < Words; ++w) {
      const std::uint32_t place = k + 32 * w + lane;
      past[w] = place >= end;
      q[w] = staged[past[w] ? total : place].xyz();
    }
    if (lane == 0) {
      auto* first = reinterpret_cast<std::uint32_t*>(first_place(m0) + filled);
#pragma unroll
      for (int w = 0; w < Words; w += 2)  // two 16-bit places
        first[w / 2] = (k + 32 * w) * 0x10001u + (32u << 16);
    }
    for (std::uint32_t m = m0; m < m1; ++m) {
      const Real3 p = own()[m].xyz();
      std::uint32_t votes[Words];
#pragma unroll
      for (int w = 0; w < Words; ++w) {
        const Real3 d = s.geometry.template vector<true>(*s.metric, p - q[w]);
        votes[w] = __ballot_sync(warp, !past[w] && dot(d, d) < s.reach2);
      }
      if (lane == 0) {
#pragma unroll
        for (int w = 0; w < Words; w += 2)  // in twos: `filled` is even, no more
          *reinterpret_cast<uint2*>(word(m) + filled + w) = make_uint2(votes[w], votes[w + 1]);
      }
    }
  }

  /// Appends to the list of this lane's particle m, which is `self` and has `found` entries, what
  /// its `words` words say. Returns the new length; what does not fit is counted only.
  __device__ std::uint32_t harvest(std::uint32_t m, std::uint32_t group, std::uint32_t self,
                                   int words, std::uint32_t found) const {
    __syncwarp();
    const int sub = int(threadIdx.x) & (lanes - 1);
    std::uint32_t* its_word = word(m);
    const std::uint16_t* first = first_place(group);
    std::uint32_t own_count = 0;
    for (int w = sub; w < words; w += lanes) {
      std::uint32_t bits = its_word[w];
      const std::uint32_t at = self - first[w];
      if (at < 32) bits &= ~(1u << at);
      its_word[w] = bits;
      own_count += std::uint32_t(__popc(bits));
    }
    std::uint32_t until = own_count;
    for (int step = 1; step < lanes; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(warp, until, unsigned(step), lanes);
      if (sub >= step) until += other;
    }
    const std::uint32_t all = __shfl_sync(warp, until, lanes - 1, lanes);
    if (found + all <= scratch.room) {
      std::uint16_t* to = scratch.list + m * scratch.stride() + found + until - own_count;
      for (int w = sub; w < words; w += lanes) {
        const std::uint32_t base = first[w];
        for (std::uint32_t bits = its_word[w]; bits != 0; bits &= bits - 1)
          *to++ = std::uint16_t(base + std::uint32_t(__ffs(int(bits)) - 1));
      }
    }
    __syncwarp();
    return found + all;
  }

  /// Returns the number of neighbours of this lane's particle first + lane/4; its list is in
  /// `scratch`, if there was room.
  __device__ std::uint32_t operator()(std::uint32_t first) const {
    const TileGeometry& g = s.geometry;
    const int lane = int(threadIdx.x & 31);
    const std::uint32_t m = std::uint32_t(lane) / lanes;
    const bool present = first + m < block.count;
    const std::int64_t i = block.first + first + (present ? m : 0);
    const UnitPlace at(s, block, cell_offset, i);
    if (lane % lanes == 0) own()[m] = staged[at.self];
    __syncwarp();
    std::uint32_t found = 0, group = 0;
    int words = 0;
    // Particles in the same row of cells along x, which lie one behind the other, have the same
    // candidates.
    std::uint32_t left = __ballot_sync(warp, present);
    while (left != 0) {
      const int leader = __ffs(int(left)) - 1;
      const std::int32_t oy = __shfl_sync(warp, at.y, leader), oz = __shfl_sync(warp, at.z, leader);
      const std::uint32_t members = __ballot_sync(warp, present && at.y == oy && at.z == oz);
      left &= ~members;
      const std::uint32_t m0 = std::uint32_t(leader) / lanes,
                          m1 = m0 + std::uint32_t(__popc(members)) / lanes;
      const bool mine = m - m0 < m1 - m0;
      if (mine) group = m0;
      std::int32_t y0, y1, z0, z1;
      neighbour_cells(g, 1, oy, oy, y0, y1);
      neighbour_cells(g, 2, oz, oz, z0, z1);
      int filled = 0;
      for (std::int32_t z = z0; z < z1; ++z) {
        const std::uint32_t end = cell_offset[(z * g.halo.y + y1) * g.halo.x];
        for (std::uint32_t k = cell_offset[(z * g.halo.y + y0) * g.halo.x]; k < end;) {
          if (filled + 4 > unit_words) {
            if (mine) words = filled;
            found = harvest(m, group, at.self, words, found);
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
    found = harvest(m, group, at.self, words, found);
    return present ? found : 0;
  }
};

#endif
}  // namespace detail

}  // namespace perrin
