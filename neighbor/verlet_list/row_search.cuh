// Finding the entries of rows on a CUDA device: a warp for a group of particles.
#pragma once

#include "neighbor/verlet_list/row_search.h"

namespace perrin::detail {

constexpr int row_search_block = 128;
constexpr std::uint32_t row_stage = 1024;  // entries of a warp in shared memory

/// The neighbours of a warp's particles, 2^log2_lanes threads for each: write(place, index) for
/// every one. All particles are of one class, and all lanes come along. Returns their number.
template <class F>
__device__ __forceinline__ std::uint32_t find_row(const RowSearch& s, std::uint32_t i, bool present,
                                                  int log2_lanes, F&& write) {
  constexpr unsigned warp = 0xffffffffu;
  const unsigned lanes = 1u << log2_lanes, lane = threadIdx.x & 31, sub = lane & (lanes - 1);
  const unsigned mine = lanes == 32 ? warp : (1u << lanes) - 1;
  const Position p = s.position[i];
  std::uint32_t found = 0;
  for (std::uint32_t b = 0; b < s.classes; ++b) {
    const RowPair pair = s.pairs[s.class_of[p.type()] * s.classes + b];
    if (!(pair.reach2 > Real(0))) continue;
    const RowGrid grid = s.grids[b];
    const RowWalk walk(grid, pair, s.cell_start, s.orthogonal, p);
    __syncwarp();  // reductions must find a warp's threads together
    const int ny = __reduce_max_sync(warp, walk.rows_y()),
              nz = __reduce_max_sync(warp, walk.rows_z());
    for (int kz = 0; kz < nz; ++kz)
      for (int ky = 0; ky < ny; ++ky) {
        const CellRun run = walk.row(ky, kz);
        const std::uint32_t total = present ? run.count + run.count2 : 0;
        for (std::uint32_t k0 = 0; __ballot_sync(warp, k0 < total) != 0; k0 += lanes) {
          const std::uint32_t k = k0 + sub;
          bool near = false;
          std::uint32_t j = 0;
          if (k < total) {
            const std::uint32_t at = k < run.count ? run.begin + k : run.begin2 + (k - run.count);
            j = s.order ? s.order[at] : at;
            const Position q = s.position[j];
            const Real3 d = s.metric->vector(p, q);
            const Real r2 = dot(d, d);
            near = r2 < pair.reach2 && j != i &&
                   (!pair.mixed || r2 < s.reach2[p.type() * s.types + q.type()]);
            if (near) near = !s.is_excluded(i, j);
          }
          const unsigned hits = (__ballot_sync(warp, near) >> (lane - sub)) & mine;
          if (near) write(found + std::uint32_t(__popc(hits & ((1u << sub) - 1))), j);
          found += std::uint32_t(__popc(hits));
        }
      }
  }
  return found;
}

__global__ void __launch_bounds__(row_search_block)
    build_rows_kernel(const RowSearch s, const RowGroup* groups, std::int64_t group_count,
                      const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  __shared__ std::uint32_t stages[row_search_block / 32][row_stage];
  constexpr unsigned warp = 0xffffffffu;
  const std::int64_t g = std::int64_t(blockIdx.x) * (row_search_block / 32) + threadIdx.x / 32;
  if (g >= group_count) return;
  const RowGroup group = groups[g];
  if (!s.own.meets(group.first, group.count)) return;
  const unsigned lanes = 1u << group.log2_lanes, lane = threadIdx.x & 31, sub = lane & (lanes - 1),
                 m = lane >> group.log2_lanes;
  const bool present = m < group.count;
  const std::uint32_t i = group.first + (present ? m : 0);
  // Rows wait in shared memory until their lengths are known; long ones are found a second time.
  const std::uint32_t most = row_stage / 32 * lanes;
  std::uint32_t* stage = stages[threadIdx.x / 32] + m * most;
  const std::uint32_t found =
      find_row(s, i, present, group.log2_lanes, [&](std::uint32_t at, std::uint32_t j) {
        if (at < most) stage[at] = j;
      });
  const std::uint32_t units = present ? (found + row_unit - 1) / row_unit : 0;
  std::uint32_t before = 0, total = 0;
  for (unsigned from = 0; from < 32; from += lanes) {
    const std::uint32_t other = __shfl_sync(warp, units, int(from));
    if (from + lanes <= lane) before += other;
    total += other;
  }
  std::uint32_t base = 0;
  if (lane == 0) base = atomicAdd(s.used, total);
  base = __shfl_sync(warp, base, 0);
  if (present && sub == 0) s.begin[i] = base + before, s.count[i] = found;
  __syncwarp();                                      // what others of the warp have staged
  if (std::uint64_t(base) + total > s.room) return;  // seen when the list is finished
  std::uint32_t* to = s.entries + std::size_t(base + before) * row_unit;
  if (__ballot_sync(warp, found > most) != 0)
    find_row(s, i, present, group.log2_lanes,
             [&](std::uint32_t at, std::uint32_t j) { to[at] = j; });
  else if (present)
    for (std::uint32_t k = sub; k < found; k += lanes) to[k] = stage[k];
}

}  // namespace perrin::detail
