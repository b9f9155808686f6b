#include "neighbor/rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "engine/parallel.h"

#ifndef __CUDA_ARCH__
#include <immintrin.h>
#endif
#ifdef __CUDACC__
#include <cub/device/device_radix_sort.cuh>
#endif

namespace perrin {
namespace {

struct CellKeys {
  const Position* position;
  const std::uint32_t *index, *class_of;
  const RowGrid* grids;
  std::uint32_t *keys, *values;  // in id order: a stable sort by cell is then one by (cell, id)
  PERRIN_HD void operator()(std::int64_t id) const {
    const std::uint32_t i = index[id];
    const Position p = position[i];
    keys[id] = grids[class_of[p.type]].key(p);
    values[id] = i;
  }
};

/// The first particle of every cell. By bisection: in a box that is nearly empty a thread for a
/// particle would have to fill in all the empty cells before it.
struct CellStarts {
  const std::uint32_t* keys;
  std::int64_t n;
  std::uint32_t* start;  // cells + 1
  PERRIN_HD void operator()(std::int64_t cell) const {
    std::int64_t low = 0, high = n;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (std::int64_t(keys[middle]) < cell)
        low = middle + 1;
      else
        high = middle;
    }
    start[cell] = std::uint32_t(low);
  }
};

struct SplitCoordinates {
  const Position* position;
  std::uint32_t* coordinates;  // all x, all y, all z
  std::int64_t n;
  PERRIN_HD void operator()(std::int64_t i) const {
    const Position p = position[i];
    coordinates[i] = p.x, coordinates[n + i] = p.y, coordinates[2 * n + i] = p.z;
  }
};

struct FinishRows {
  std::uint32_t* words;
  std::uint32_t room;
  RowList::WhenBuilt when_built;
  std::uint32_t* halt;  // nullptr on the CPU, whose host looks at once
  PERRIN_HD void operator()(std::int64_t) const {
    if (words[0] > room) {
      words[1] = words[0];
      if (halt) *halt = 1;
    } else {
      *when_built.flag = 0;
      *when_built.builds += 1;
    }
    words[0] = 0;
  }
};

struct CountEntry {
  const std::uint32_t* count;
  PERRIN_HD double operator()(std::int64_t i) const { return double(count[i]); }
};

#ifndef __CUDA_ARCH__
/// Writes first + k for every bit k of `mask`, one after the other.
__attribute__((target("avx512f"))) inline void compress16(std::uint32_t* to, std::uint32_t first,
                                                          std::uint32_t mask) {
  const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  _mm512_mask_compressstoreu_epi32(to, static_cast<__mmask16>(mask),
                                   _mm512_add_epi32(_mm512_set1_epi32(int(first)), lane));
}
#endif

/// What both devices search with.
struct RowSearch {
  const RowGrid* grids;
  const RowPair* pairs;
  std::uint32_t classes, types;
  const std::uint32_t* class_of;
  const Real* reach2;  // [type · types + type], for pairs of classes that are mixed
  const std::uint32_t* cell_start;
  const std::uint32_t* order;  // the particle of each place in the cells; nullptr: itself
  const Position* position;
  const std::uint32_t *x, *y, *z;  // the same by coordinate, on the CPU
  const std::uint32_t* id;
  Metric metric;
  bool orthogonal, avx512;
  const std::uint32_t *exclusion_begin, *excluded;  // by id; nullptr: none
  std::uint32_t *begin, *count, *entries, *used;
  std::uint32_t room;  // units of entries
  std::int64_t particles;

  PERRIN_HD bool is_excluded(std::int64_t i, std::uint32_t j) const {
    const std::uint32_t me = id[i], other = id[j];
    for (std::uint32_t k = exclusion_begin[me]; k < exclusion_begin[me + 1]; ++k)
      if (excluded[k] == other) return true;
    return false;
  }

#ifdef __CUDACC__
  /// The neighbours of a warp's particles, 2^log2_lanes threads for each: write(place, index) for
  /// every one. All particles are of one class, and all lanes come along. Returns their number.
  template <class F>
  __device__ __forceinline__ std::uint32_t find(std::uint32_t i, bool present, int log2_lanes,
                                                F&& write) const {
    constexpr unsigned warp = 0xffffffffu;
    const unsigned lanes = 1u << log2_lanes, lane = threadIdx.x & 31, sub = lane & (lanes - 1);
    const unsigned mine = lanes == 32 ? warp : (1u << lanes) - 1;
    const Position p = position[i];
    std::uint32_t found = 0;
    for (std::uint32_t b = 0; b < classes; ++b) {
      const RowPair pair = pairs[class_of[p.type] * classes + b];
      if (!(pair.reach2 > Real(0))) continue;
      const RowGrid grid = grids[b];
      const RowWalk walk(grid, pair, cell_start, orthogonal, p);
      const std::int32_t ny = walk.rows_y(), nz = walk.rows_z();
      for (std::int32_t kz = 0; kz < nz; ++kz)
        for (std::int32_t ky = 0; ky < ny; ++ky) {
          const CellRun run = walk.row(ky, kz);
          const std::uint32_t total = present ? run.count + run.count2 : 0;
          for (std::uint32_t k0 = 0; __any_sync(warp, k0 < total); k0 += lanes) {
            const std::uint32_t k = k0 + sub;
            bool near = false;
            std::uint32_t j = 0;
            if (k < total) {
              const std::uint32_t at = k < run.count ? run.begin + k : run.begin2 + (k - run.count);
              j = order ? order[at] : at;
              const Position q = position[j];
              const Real3 d = metric.vector(p, q);
              const Real r2 = dot(d, d);
              near = r2 < pair.reach2 && j != i &&
                     (!pair.mixed || r2 < reach2[p.type * types + q.type]);
              if (near && exclusion_begin) near = !is_excluded(i, j);
            }
            const unsigned hits = (__ballot_sync(warp, near) >> (lane - sub)) & mine;
            if (near) write(found + std::uint32_t(__popc(hits & ((1u << sub) - 1))), j);
            found += std::uint32_t(__popc(hits));
          }
        }
    }
    return found;
  }
#endif

#ifndef __CUDA_ARCH__
  // A function of its own: GCC does not vectorise over a struct declared in the simd loop.
  inline __attribute__((always_inline)) Real distance2(const Position& p, std::uint32_t qx,
                                                       std::uint32_t qy, std::uint32_t qz) const {
    const Real3 d =
        metric.vector(std::int32_t(p.x - qx), std::int32_t(p.y - qy), std::int32_t(p.z - qz));
    return dot(d, d);
  }

  /// Appends to `list` at n the neighbours of i among first … first+count-1; returns the new n.
  inline __attribute__((always_inline)) std::size_t search_run(
      std::int64_t i, const Position& p, const RowPair& pair, std::uint32_t first,
      std::uint32_t length, std::vector<std::uint32_t>& list, std::size_t n) const {
    constexpr int width = 16, block = 64;
    if (list.size() < n + length + block) list.resize(2 * (n + length) + 1024);
    const bool plain = avx512 && !exclusion_begin && !pair.mixed;
    const Real range2 = pair.reach2;
    // Distances first, in whole vectors whether all are needed or not (Device::allocate leaves room
    // to read beyond the end); then the survivors, bit by bit.
    for (std::uint32_t done = 0; done < length; done += block) {
      const std::uint32_t start = first + done, left = length - done;
      const int m = left < std::uint32_t(block) ? int(left) : block;
      const int padded = (m + width - 1) / width * width;
      const std::uint32_t *qx = x + start, *qy = y + start, *qz = z + start;
      std::uint32_t bit[block];
#pragma omp simd simdlen(width)
      for (int k = 0; k < padded; ++k)
        bit[k] = distance2(p, qx[k], qy[k], qz[k]) < range2 ? 1u << (k % width) : 0u;
      for (int k0 = 0; k0 < m; k0 += width) {
        std::uint32_t near = 0;
#pragma omp simd reduction(| : near)
        for (int k = 0; k < width; ++k) near |= bit[k0 + k];
        if (m - k0 < width) near &= (1u << (m - k0)) - 1;
        const std::uint32_t from = start + std::uint32_t(k0), self = std::uint32_t(i) - from;
        if (self < std::uint32_t(width)) near &= ~(1u << self);
        if (plain) {
          compress16(list.data() + n, from, near);
          n += std::size_t(__builtin_popcount(near));
          continue;
        }
        for (; near != 0; near &= near - 1) {
          const std::uint32_t j = from + std::uint32_t(__builtin_ctz(near));
          if (pair.mixed &&
              !(distance2(p, x[j], y[j], z[j]) < reach2[p.type * types + position[j].type]))
            continue;
          if (exclusion_begin && is_excluded(i, j)) continue;
          list[n++] = j;
        }
      }
    }
    return n;
  }

  static constexpr std::int64_t chunk = 64;  // particles whose rows are found together

  /// The rows of a chunk of particles; `list` is scratch memory of the thread.
  inline __attribute__((always_inline)) void search_chunk(std::int64_t c,
                                                          std::vector<std::uint32_t>& list) const {
    const std::int64_t first = c * chunk, last = std::min(first + chunk, particles);
    std::uint32_t units = 0;
    for (std::int64_t i = first; i < last; ++i) {
      const Position p = position[i];
      const std::size_t row = std::size_t(units) * row_unit;
      std::size_t end = row;
      for (std::uint32_t b = 0; b < classes; ++b) {
        const RowPair& pair = pairs[class_of[p.type] * classes + b];
        if (!(pair.reach2 > Real(0))) continue;
        const RowWalk walk(grids[b], pair, cell_start, orthogonal, p);
        const std::int32_t ny = walk.rows_y(), nz = walk.rows_z();
        for (std::int32_t kz = 0; kz < nz; ++kz)
          for (std::int32_t ky = 0; ky < ny; ++ky) {
            const CellRun run = walk.row(ky, kz);
            if (run.count > 0) end = search_run(i, p, pair, run.begin, run.count, list, end);
            if (run.count2 > 0) end = search_run(i, p, pair, run.begin2, run.count2, list, end);
          }
      }
      count[i] = std::uint32_t(end - row);
      begin[i] = units;
      units += std::uint32_t((end - row + row_unit - 1) / row_unit);
    }
    const std::uint32_t base = __atomic_fetch_add(used, units, __ATOMIC_RELAXED);
    if (std::uint64_t(base) + units > room) return;  // FinishRows sees it
    for (std::int64_t i = first; i < last; ++i) begin[i] += base;
    std::memcpy(entries + std::size_t(base) * row_unit, list.data(),
                std::size_t(units) * row_unit * sizeof(std::uint32_t));
  }

  struct Chunks {
    const RowSearch* search;
    std::vector<std::uint32_t>* list;
    inline __attribute__((always_inline)) void operator()(std::int64_t c) const {
      search->search_chunk(c, *list);
    }
  };
#endif
};

#ifdef __CUDACC__
constexpr int rows_block = 128;
constexpr std::uint32_t rows_stage = 1024;  // entries of a warp in shared memory

__global__ void __launch_bounds__(rows_block)
    build_rows_kernel(const RowSearch s, const RowGroup* groups, std::int64_t group_count,
                      const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  __shared__ std::uint32_t stages[rows_block / 32][rows_stage];
  constexpr unsigned warp = 0xffffffffu;
  const std::int64_t g = std::int64_t(blockIdx.x) * (rows_block / 32) + threadIdx.x / 32;
  if (g >= group_count) return;
  const RowGroup group = groups[g];
  const unsigned lanes = 1u << group.log2_lanes, lane = threadIdx.x & 31, sub = lane & (lanes - 1),
                 m = lane >> group.log2_lanes;
  const bool present = m < group.count;
  const std::uint32_t i = group.first + (present ? m : 0);
  // Rows wait in shared memory until their lengths are known; long ones are found a second time.
  const std::uint32_t most = rows_stage / 32 * lanes;
  std::uint32_t* stage = stages[threadIdx.x / 32] + m * most;
  const std::uint32_t found =
      s.find(i, present, group.log2_lanes, [&](std::uint32_t at, std::uint32_t j) {
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
  if (std::uint64_t(base) + total > s.room) return;
  std::uint32_t* to = s.entries + std::size_t(base + before) * row_unit;
  if (__any_sync(warp, found > most))
    s.find(i, present, group.log2_lanes, [&](std::uint32_t at, std::uint32_t j) { to[at] = j; });
  else if (present)
    for (std::uint32_t k = sub; k < found; k += lanes) to[k] = stage[k];
}
#endif

}  // namespace

RowCosts row_costs(const Device& device) { return {device.is_cuda() ? 12.0 : 24.0}; }

RowList::RowList(Particles& particles, const Ranges& reaches, const Crowding& crowding,
                 const Choices& choices)
    : particles_(particles), reaches_(reaches), reorder_(choices.reorder) {
  const Device& device = particles_.device();
  const std::int64_t n = particles_.size();
  RowCosts costs = row_costs(device);
  costs.classes = choices.classes && choices.reorder;
  plan_ = plan_rows(particles_.box, reaches, crowding, costs);
  grids_ = {device, std::span<const RowGrid>(plan_.grids)};
  pairs_ = {device, std::span<const RowPair>(plan_.pairs)};
  class_of_ = {device, std::span<const std::uint32_t>(plan_.class_of)};
  const std::size_t types = crowding.by_type.size();
  std::vector<Real> reach2;
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b) reach2.push_back(Real(reaches(a, b) * reaches(a, b)));
  reach2_ = {device, std::span<const Real>(reach2)};
  keys_ = {device, n}, values_ = {device, n}, order_ = {device, n};
  cell_start_ = {device, plan_.cells() + 1};
  begin_ = {device, n}, count_ = {device, n};
  words_ = {device, 2};
  if (!device.is_cuda()) coordinates_ = {device, 3 * n};
  make_groups(choices);
  // What is expected, and a tenth more, and half a unit of padding; enlarge() makes room.
  const double units = double(n) * (1.1 * plan_.mean_entries() / row_unit + 1) + 64;
  entries_ = {device, std::int64_t(units) * row_unit};
#ifdef __CUDACC__
  if (device.is_cuda()) {
    sorted_keys_ = {device, n};
    std::size_t bytes = 0;
    check_cuda(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys_.data(), sorted_keys_.data(),
                                               values_.data(), order_.data(), int(n), 0, 32),
               "sizing the sort");
    sort_scratch_ = {device, std::int64_t(bytes)};
  }
#endif
}

void RowList::make_groups(const Choices& choices) {
  const Device& device = particles_.device();
  if (!device.is_cuda()) return;
  // Particles of one class are neighbours in memory. The longest rows come first: what is left for
  // the end is short.
  std::vector<std::size_t> by_length(plan_.classes());
  std::iota(by_length.begin(), by_length.end(), std::size_t(0));
  std::stable_sort(by_length.begin(), by_length.end(), [&](std::size_t a, std::size_t b) {
    return plan_.entries[a] > plan_.entries[b];
  });
  std::vector<std::int64_t> first(plan_.classes() + 1, 0);
  for (std::size_t c = 0; c < plan_.classes(); ++c) first[c + 1] = first[c] + plan_.members[c];
  const double wanted = device.multiprocessors() * 1024.0;
  std::vector<RowGroup> groups;
  for (const std::size_t c : by_length) {
    // Enough threads to fill the device, and some ten entries for each.
    int log2_lanes = 3;
    while (log2_lanes < 5 && (double(particles_.size() << log2_lanes) < wanted ||
                              plan_.entries[c] > 24.0 * double(1 << log2_lanes)))
      ++log2_lanes;
    if (plan_.entries[c] < 12) log2_lanes = 2;
    if (choices.lanes > 0)
      for (log2_lanes = 0; (2 << log2_lanes) <= choices.lanes;) ++log2_lanes;
    const std::int64_t per_group = 32 >> log2_lanes;
    for (std::int64_t i = first[c]; i < first[c + 1]; i += per_group)
      groups.push_back({std::uint32_t(i), std::uint16_t(std::min(per_group, first[c + 1] - i)),
                        std::uint16_t(log2_lanes)});
  }
  group_count_ = std::int64_t(groups.size());
  groups_ = {device, std::span<const RowGroup>(groups)};
}

RowView RowList::view() const {
  return {begin_.data(), count_.data(), entries_.data(), groups_.data(), group_count_};
}

double RowList::mean_entries() const {
  const std::int64_t n = particles_.size();
  return sum<double>(particles_.device(), "count entries", n, CountEntry{count_.data()}) /
         double(std::max<std::int64_t>(n, 1));
}

std::int64_t RowList::bytes() const {
  std::int64_t all = grids_.bytes() + pairs_.bytes() + reach2_.bytes() + groups_.bytes();
  for (const auto* buffer : {&keys_, &sorted_keys_, &values_, &order_, &cell_start_, &coordinates_,
                             &begin_, &count_, &entries_})
    all += buffer->bytes();
  return all + sort_scratch_.bytes();
}

void RowList::sort_into_cells() {
  const Device& device = particles_.device();
  const std::int64_t n = particles_.size(), cells = plan_.cells();
  for_each(device, "cells of particles", n,
           CellKeys{particles_.position.data(), particles_.index.data(), class_of_.data(),
                    grids_.data(), keys_.data(), values_.data()});
#ifdef __CUDACC__
  if (device.is_cuda()) {
    int bits = 1;
    while ((std::int64_t(1) << bits) < cells) ++bits;
    std::size_t bytes = std::size_t(sort_scratch_.size());
    check_cuda(cub::DeviceRadixSort::SortPairs(sort_scratch_.data(), bytes, keys_.data(),
                                               sorted_keys_.data(), values_.data(), order_.data(),
                                               int(n), 0, bits, device.stream()),
               "sorting particles into cells");
    for_each(device, "starts of cells", cells + 1,
             CellStarts{sorted_keys_.data(), n, cell_start_.data()});
    if (reorder_) particles_.reorder(order_);
    return;
  }
#endif
  // Counting sort; keys stand in id order, so a cell's particles end up ordered by id.
  std::uint32_t* start = cell_start_.data();
  std::fill(start, start + cells + 1, 0u);
  for (std::int64_t k = 0; k < n; ++k) ++start[keys_.data()[k] + 1];
  for (std::int64_t c = 0; c < cells; ++c) start[c + 1] += start[c];
  for (std::int64_t k = 0; k < n; ++k) order_.data()[start[keys_.data()[k]]++] = values_.data()[k];
  for (std::int64_t c = cells; c > 0; --c) start[c] = start[c - 1];
  start[0] = 0;
  particles_.reorder(order_);
}

void RowList::build(const std::uint32_t* exclusion_begin, const std::uint32_t* excluded,
                    const WhenBuilt& when_built) {
  const Device& device = particles_.device();
  const std::int64_t n = particles_.size();
  sort_into_cells();
  const std::uint32_t* coordinates = coordinates_.data();
  const RowSearch search{grids_.data(),
                         pairs_.data(),
                         std::uint32_t(plan_.classes()),
                         std::uint32_t(plan_.class_of.size()),
                         class_of_.data(),
                         reach2_.data(),
                         cell_start_.data(),
                         reorder_ ? nullptr : order_.data(),
                         particles_.position.data(),
                         coordinates,
                         coordinates + n,
                         coordinates + 2 * n,
                         particles_.id.data(),
                         particles_.box.metric(),
                         particles_.box.orthogonal(),
                         instruction_set() == InstructionSet::avx512,
                         exclusion_begin,
                         excluded,
                         begin_.data(),
                         count_.data(),
                         entries_.data(),
                         words_.data(),
                         std::uint32_t(entries_.size() / row_unit),
                         n};
  const auto finish = [&] {
    for_each(device, "list built", 1,
             FinishRows{words_.data(), search.room, when_built,
                        device.is_cuda() ? device.halt_word() : nullptr});
  };
#ifdef __CUDACC__
  if (device.is_cuda()) {
    constexpr int warps = rows_block / 32;
    launch_early(device, "build rows", dim3(unsigned((group_count_ + warps - 1) / warps)),
                 dim3(rows_block), 0, build_rows_kernel, search,
                 static_cast<const RowGroup*>(groups_.data()), group_count_,
                 static_cast<const std::uint32_t*>(device.halt_word()));
    return finish();
  }
#endif
#ifndef __CUDA_ARCH__
  if (device.skipping()) return;
  for_each(device, "coordinates", n,
           SplitCoordinates{particles_.position.data(), coordinates_.data(), n});
  const std::int64_t chunks = (n + RowSearch::chunk - 1) / RowSearch::chunk;
#pragma omp parallel num_threads(device.threads()) if (chunks > 4)
  {
    std::vector<std::uint32_t> list;
#pragma omp for schedule(dynamic, 4)
    for (std::int64_t c = 0; c < chunks; ++c)
      detail::run_range(RowSearch::Chunks{&search, &list}, c, c + 1);
  }
  finish();
#endif
}

bool RowList::enlarge() {
  const std::uint32_t wanted = words_.to_host(1);
  if (wanted <= std::uint32_t(entries_.size() / row_unit)) return false;
  const Device& device = particles_.device();
  entries_ = Buffer<std::uint32_t>();
  entries_ = {device, (std::int64_t(1.15 * wanted) + 64) * row_unit};
  words_.zero();
  return true;
}

}  // namespace perrin
