#include "neighbor/neighbors.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/parallel.h"
#include "neighbor/cells.h"

#ifndef __CUDA_ARCH__
#include <immintrin.h>
#endif
#ifdef __CUDACC__
#include <cub/device/device_radix_sort.cuh>
#endif

namespace perrin {
namespace {

struct CheckMoved {
  const Position* position;
  Metric metric;
  MoveCheck check;
  PERRIN_HD void operator()(std::int64_t i) const { check(i, position[i], metric); }
};

struct CellKeys {
  const Position* position;
  const std::uint32_t* index;
  Vec3<std::int32_t> cells;
  std::uint32_t *keys, *values;  // in id order: a stable sort by cell is then one by (cell, id)
  PERRIN_HD void operator()(std::int64_t id) const {
    const std::uint32_t i = index[id];
    keys[id] = cell_of(position[i], cells);
    values[id] = i;
  }
};

struct CellStarts {
  const std::uint32_t* keys;
  std::int64_t n, cells;
  std::uint32_t* start;  // cells + 1
  PERRIN_HD void operator()(std::int64_t k) const {
    const std::int64_t key = k < n ? std::int64_t(keys[k]) : cells;
    for (std::int64_t c = k > 0 ? std::int64_t(keys[k - 1]) + 1 : 0; c <= key; ++c)
      start[c] = std::uint32_t(k);
  }
};

struct FinishBuild {
  std::uint32_t* flags;
  std::int64_t* builds;
  PERRIN_HD void operator()(std::int64_t) const {
    flags[0] = 0;
    *builds += 1;
  }
};

struct CopyPositions {
  Position* to;
  const Position* from;
  PERRIN_HD void operator()(std::int64_t i) const { to[i] = from[i]; }
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

#ifndef __CUDA_ARCH__
/// Writes first + k for every bit k of `mask`, one after the other.
__attribute__((target("avx512f"))) inline void compress16(std::uint32_t* to, std::uint32_t first,
                                                          std::uint32_t mask) {
  const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  _mm512_mask_compressstoreu_epi32(to, static_cast<__mmask16>(mask),
                                   _mm512_add_epi32(_mm512_set1_epi32(int(first)), lane));
}
#endif

struct BuildList {
  CellGrid grid;
  const Position* position;
  const std::uint32_t *x, *y, *z;  // the same by coordinate, on the CPU
  const std::uint32_t* id;
  Metric metric;
  Real range2;
  const std::uint32_t *exclusion_begin, *excluded;  // by id; nullptr: none
  NeighborListView list;
  std::uint32_t *count, *entries;
  std::uint32_t *wanted, *halt;
  bool avx512;
  const std::uint32_t* order;  // GPU: the particle of each place in the cells; nullptr: itself

  // A function of its own: GCC does not vectorise over a struct declared in the simd loop.
  PERRIN_HD Real distance2(const Position& p, std::uint32_t qx, std::uint32_t qy,
                           std::uint32_t qz) const {
    const Real3 d =
        metric.vector(std::int32_t(p.x - qx), std::int32_t(p.y - qy), std::int32_t(p.z - qz));
    return dot(d, d);
  }

  PERRIN_HD bool is_excluded(std::int64_t i, std::uint32_t j) const {
    const std::uint32_t me = id[i], other = id[j];
    for (std::uint32_t k = exclusion_begin[me]; k < exclusion_begin[me + 1]; ++k)
      if (excluded[k] == other) return true;
    return false;
  }

  PERRIN_HD void append(std::int64_t i, std::int64_t row, std::uint32_t j, std::uint32_t& n) const {
    if (std::int64_t(j) == i || (exclusion_begin && is_excluded(i, j))) return;
    if (n < list.capacity) entries[list.slot(row, n)] = j;
    ++n;
  }

  PERRIN_HD void operator()(std::int64_t i) const {
    const Position p = position[i];
    const std::int64_t row = list.row(i);
    std::uint32_t n = 0;
#ifdef __CUDA_ARCH__
    grid.for_each_range(p, [&](std::uint32_t begin, std::uint32_t end) {
      for (std::uint32_t k = begin; k < end; ++k) {
        const std::uint32_t j = order ? order[k] : k;
        const Position q = position[j];
        if (distance2(p, q.x, q.y, q.z) < range2) append(i, row, j, n);
      }
    });
#else
    std::uint32_t begins[CellGrid::max_ranges], ends[CellGrid::max_ranges];
    int ranges = 0;
    grid.for_each_range(p, [&](std::uint32_t begin, std::uint32_t end) {
      begins[ranges] = begin;
      ends[ranges++] = end;
    });
    // Distances first, in whole vectors whether all are needed or not (Device::allocate leaves room
    // to read beyond the end); then the survivors, bit by bit.
    constexpr int width = 16, block = 64;
    const bool compress = avx512 && !exclusion_begin;
    for (int range = 0; range < ranges; ++range)
      for (std::uint32_t first = begins[range]; first < ends[range]; first += block) {
        const std::uint32_t left = ends[range] - first;
        const int m = left < std::uint32_t(block) ? int(left) : block;
        const int padded = (m + width - 1) / width * width;
        const std::uint32_t *qx = x + first, *qy = y + first, *qz = z + first;
        std::uint32_t bit[block];
#pragma omp simd simdlen(width)
        for (int k = 0; k < padded; ++k)
          bit[k] = distance2(p, qx[k], qy[k], qz[k]) < range2 ? 1u << (k % width) : 0u;
        for (int k0 = 0; k0 < m; k0 += width) {
          std::uint32_t near = 0;
#pragma omp simd reduction(| : near)
          for (int k = 0; k < width; ++k) near |= bit[k0 + k];
          if (m - k0 < width) near &= (1u << (m - k0)) - 1;
          const std::uint32_t self = std::uint32_t(i) - first - std::uint32_t(k0);
          if (self < std::uint32_t(width)) near &= ~(1u << self);
          if (compress && n + std::uint32_t(width) <= list.capacity) {  // rows are contiguous here
            compress16(entries + row + n, first + std::uint32_t(k0), near);
            n += std::uint32_t(__builtin_popcount(near));
            continue;
          }
          for (; near != 0; near &= near - 1)
            append(i, row, first + std::uint32_t(k0 + __builtin_ctz(near)), n);
        }
      }
#endif
    count[i] = n < list.capacity ? n : list.capacity;
    if (n > list.capacity) report_full(n);
  }

  PERRIN_HD void report_full(std::uint32_t n) const {
#ifdef __CUDA_ARCH__
    atomicMax(wanted, n);
    *halt = 1;
#else
    std::uint32_t seen = __atomic_load_n(wanted, __ATOMIC_RELAXED);
    while (seen < n && !__atomic_compare_exchange_n(wanted, &seen, n, true, __ATOMIC_RELAXED,
                                                    __ATOMIC_RELAXED)) {
    }
#endif
  }
};

struct CountEntry {
  const std::uint32_t* count;
  PERRIN_HD double operator()(std::int64_t i) const { return double(count[i]); }
};

int choose_lanes(const Device& device, std::int64_t n) {
  if (!device.is_cuda()) return 32;  // one particle, contiguous entries: what SIMD wants
  // Enough threads to fill the device, but rows of some ten entries per thread.
  const std::int64_t wanted = std::int64_t(device.multiprocessors()) * 1024;
  int lanes = 1;
  while (lanes < 16 && n * lanes < wanted) lanes *= 2;
  return lanes;
}

}  // namespace

Neighbors::Neighbors(Particles& particles, double range, const NeighborSettings& settings)
    : particles_(particles), range_(range), skin_(settings.skin) {
  const Box& box = particles_.box;
  const auto heights = box.padded_heights();
  double half = std::numeric_limits<double>::infinity();
  for (int axis = 0; axis < box.dimension; ++axis)
    if (box.periodic[std::size_t(axis)]) half = std::min(half, heights[axis] / 2);
  if (range > half)
    throw UserError(fmt::format("the interaction range {} exceeds half the box ({})", range, half));
  // As the benchmarks have it: cluster lists are quickly built and lose much to a long skin.
  if (skin_ == 0)
    skin_ = (particles_.device().is_cuda() || settings.traversal == "rows" ? 0.16 : 0.1) * range;
  skin_ = std::min(skin_, half - range);
  const Device& device = particles_.device();
  const int lanes = settings.lanes > 0 && device.is_cuda()
                        ? settings.lanes
                        : choose_lanes(device, particles_.size());
  while ((2 << log2_lanes_) <= lanes) ++log2_lanes_;
  make_exclusions(settings.exclusions);
  const std::int64_t n = particles_.size();
  flags_ = {device, 2};
  builds_ = {device, 1};
  progress_ = {device, 1};
  count_ = {device, n};
  reference_ = {device, n};
  const bool gpu = device.is_cuda();
  const std::string& wanted = settings.traversal;
  if (wanted == (gpu ? "clusters" : "verlet"))
    throw UserError(fmt::format("neighbors.traversal: \"{}\" is not for the device {}; expected {}",
                                wanted, device.name(),
                                gpu ? "verlet, cells or rows" : "clusters, cells or rows"));
  reorder_ = settings.reorder;
  if (!reorder_ && (!gpu || wanted != "rows"))
    throw UserError("neighbors.reorder: false is for the traversal \"rows\" on a GPU only");
  if (gpu && wanted != "rows" && settings.lanes != 0 && settings.lanes != 4 && settings.lanes != 8)
    throw UserError(
        fmt::format("neighbors.lanes: expected 4 or 8, or 0, got {}; other powers of "
                    "two are for the traversal \"rows\"",
                    settings.lanes));
  direct_ = wanted == "cells";
  if (direct_) skin_ = 0;
  if (gpu && wanted != "rows")
    tiles_ = std::make_unique<TileList>(
        particles_, range_ + skin_,
        TileList::Choices{!direct_, settings.interaction_sorting && direct_, settings.lanes,
                          settings.cells});
  if (tiles_ && tiles_->fits())
    cell_sort_ = CellSort(device, n, tiles_->geometry().cell_count());
  else if (!gpu && direct_)
    columns_ = std::make_unique<ColumnSearch>(particles_, range_, settings.interaction_sorting,
                                              settings.cells);
  else if (!gpu && wanted != "rows")
    clusters_ = std::make_unique<ClusterList>();
  else
    use_rows();
  if (columns_ && !columns_->fits()) use_rows();
  invalidate();
}

void Neighbors::use_rows() {
  if (direct_) skin_ = 0.16 * range_;
  direct_ = false;
  tiles_.reset();
  columns_.reset();
  choose_grid();
  allocate();
}

void Neighbors::choose_grid() {
  const Box& box = particles_.box;
  const double reach = range_ + skin_;
  const auto heights = box.padded_heights();
  const double limit = double(std::max<std::int64_t>(64, particles_.size()));
  // On the GPU cells half as wide as the list's range: fewer candidates than with whole ones (125/8
  // against 27 cubes). On the CPU whole ones: longer rows fill the vectors. Wider where the box is
  // nearly empty, so that memory follows the particles.
  double width = particles_.device().is_cuda() ? reach / 2 : reach;
  for (;;) {
    double total = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const double n = axis < box.dimension ? std::floor(heights[axis] / width) : 1;
      cells_[axis] = std::int32_t(std::clamp(n, 1.0, 1048576.0));
      reach_[axis] = std::int32_t(std::ceil(reach / (heights[axis] / cells_[axis])));
      total *= cells_[axis];
    }
    if (total <= limit) break;
    width *= 1.1;
  }
}

void Neighbors::allocate() {
  const Device& device = particles_.device();
  const std::int64_t n = particles_.size();
  const std::int64_t cells = std::int64_t(cells_.x) * cells_.y * cells_.z;
  keys_ = {device, n}, sorted_keys_ = {device, n}, values_ = {device, n}, order_ = {device, n};
  cell_start_ = {device, cells + 1};
  if (!device.is_cuda()) coordinates_ = {device, 3 * n};
  // What a uniform system needs, and a quarter more; recover() enlarges.
  const double reach = range_ + skin_;
  const double volume =
      particles_.box.dimension == 2 ? 3.1416 * reach * reach : 4.1888 * reach * reach * reach;
  const double expected = 1.25 * double(n) / particles_.box.volume() * volume + 16;
  capacity_ = std::uint32_t((std::min(expected, double(n)) + 31) / 32) * 32;
  capacity_ = std::max(capacity_, 32u);
  entries_ = {device, (n + 31) / 32 * 32 * std::int64_t(capacity_)};
#ifdef __CUDACC__
  if (device.is_cuda()) {
    std::size_t bytes = 0;
    check_cuda(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys_.data(), sorted_keys_.data(),
                                               values_.data(), order_.data(), int(n), 0, 32),
               "sizing the sort");
    sort_scratch_ = {device, std::int64_t(bytes)};
  }
#endif
}

void Neighbors::make_exclusions(const std::vector<std::string>& kinds) {
  const Topology& topology = particles_.topology;
  std::vector<std::vector<std::uint32_t>> lists(std::size_t(particles_.size()));
  const auto exclude = [&](std::uint32_t a, std::uint32_t b) {
    lists[a].push_back(b);
    lists[b].push_back(a);
    has_exclusions_ = true;
  };
  for (const auto& kind : kinds) {
    if (kind == "bonds")
      for (const auto& bond : topology.bonds) exclude(bond.a, bond.b);
    if (kind == "angles")
      for (const auto& angle : topology.angles) exclude(angle.a, angle.c);
    if (kind == "molecules") {
      std::vector<std::vector<std::uint32_t>> members;
      for (std::size_t i = 0; i < topology.molecule.size(); ++i) {
        const std::size_t m = topology.molecule[i];
        if (members.size() <= m) members.resize(m + 1);
        for (const std::uint32_t other : members[m]) exclude(std::uint32_t(i), other);
        members[m].push_back(std::uint32_t(i));
      }
    }
  }
  if (!has_exclusions_) return;
  std::vector<std::uint32_t> begin{0}, all;
  for (auto& list : lists) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    all.insert(all.end(), list.begin(), list.end());
    begin.push_back(std::uint32_t(all.size()));
  }
  exclusion_begin_ = {particles_.device(), std::int64_t(begin.size())};
  exclusion_begin_.assign(begin);
  excluded_ = {particles_.device(), std::int64_t(all.size())};
  excluded_.assign(all);
}

NeighborListView Neighbors::list() const {
  return {count_.data(), entries_.data(), capacity_, log2_lanes_};
}

void Neighbors::invalidate() {
  const std::uint32_t one = 1;
  particles_.device().copy_in(flags_.data(), &one, sizeof one);
}

bool Neighbors::interaction_sorting() const {
  return columns_ ? columns_->sorted() : direct_ && search().geometry.sorted;
}

ColumnView Neighbors::columns() const {
  return columns_->view(particles_, has_exclusions_ ? exclusion_begin_.data() : nullptr,
                        excluded_.data());
}

TileSearch Neighbors::search() const {
  return tiles_->search(cell_sort_.cell_start(),
                        has_exclusions_ ? exclusion_begin_.data() : nullptr, excluded_.data());
}

MoveCheck Neighbors::check_moves(std::uint32_t* progress, std::uint32_t step) {
  if (columns_) return {nullptr, 0, {}, progress, step};
  if (direct_) {
    moves_checked_ = true;
    return {nullptr, 0, {}, progress, step, cell_sort_.counter(tiles_->geometry())};
  }
  rebuild_ = particles_.device().condition(flags_.data());
  moves_checked_ = true;
  const Real limit = Real(skin_ / 2);
  return {reference_.data(), limit * limit, rebuild_, progress ? progress : progress_.data(), step};
}

void Neighbors::update(std::uint32_t* progress, std::uint32_t step, bool may_exchange) {
  if (columns_) return sort_columns(progress != nullptr);
  const Device& device = particles_.device();
  if (!moves_checked_)
    for_each(device, "check displacements", particles_.size(),
             CheckMoved{particles_.position.data(), particles_.box.metric(),
                        check_moves(progress, step)});
  moves_checked_ = false;
  if (direct_)
    return may_exchange ? cell_sort_.sort_exchanging(particles_, tiles_->geometry())
                        : cell_sort_.sort(particles_, tiles_->geometry(), nullptr);
  device.when(rebuild_, [this] { build(); });
  if (!device.recording() && !device.skipping()) recover();
}

/// Particles are sorted in every step, but brought into that order in memory now and then: forces do
/// not depend on it. Counted are the steps, so that a resumed run does it when the first one did.
void Neighbors::sort_columns(bool in_step) {
  constexpr std::uint32_t interval = 16;
  std::uint32_t *now = flags_.data(), *steps = flags_.data() + 1;
  if (in_step && ++*steps >= interval) *now = 1;
  columns_->sort(particles_, *now != 0);
  if (*now != 0) *builds_.data() += 1;
  if (*now != 0) *steps = *now = 0;
}

void Neighbors::build() {
  const Device& device = particles_.device();
  if (tiles_) {
    cell_sort_.count(particles_, tiles_->geometry());
    cell_sort_.sort(particles_, tiles_->geometry(), reference_.data());
    tiles_->build(cell_sort_.cell_start(), has_exclusions_ ? exclusion_begin_.data() : nullptr,
                  excluded_.data(), count_.data(), {flags_.data(), builds_.data()});
    return;
  }
  if (clusters_) {
    clusters_->build(particles_, range_ + skin_,
                     has_exclusions_ ? exclusion_begin_.data() : nullptr, excluded_.data());
  } else {
    sort_into_cells();
    build_list();
  }
  for_each(device, "keep positions", particles_.size(),
           CopyPositions{reference_.data(), particles_.position.data()});
  for_each(device, "list built", 1, FinishBuild{flags_.data(), builds_.data()});
}

void Neighbors::sort_into_cells() {
  const Device& device = particles_.device();
  const std::int64_t n = particles_.size();
  const std::int64_t cells = std::int64_t(cells_.x) * cells_.y * cells_.z;
  for_each(device, "cells of particles", n,
           CellKeys{particles_.position.data(), particles_.index.data(), cells_, keys_.data(),
                    values_.data()});
#ifdef __CUDACC__
  if (device.is_cuda()) {
    int bits = 1;
    while ((std::int64_t(1) << bits) < cells) ++bits;
    std::size_t bytes = std::size_t(sort_scratch_.size());
    check_cuda(cub::DeviceRadixSort::SortPairs(sort_scratch_.data(), bytes, keys_.data(),
                                               sorted_keys_.data(), values_.data(), order_.data(),
                                               int(n), 0, bits, device.stream()),
               "sorting particles into cells");
    for_each(device, "starts of cells", n + 1,
             CellStarts{sorted_keys_.data(), n, cells, cell_start_.data()});
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

void Neighbors::build_list() {
  const Real range = Real(range_ + skin_);
  const std::int64_t n = particles_.size();
  if (!particles_.device().is_cuda())
    for_each(particles_.device(), "coordinates", n,
             SplitCoordinates{particles_.position.data(), coordinates_.data(), n});
  for_each(
      particles_.device(), "build the Verlet list", particles_.size(),
      BuildList{CellGrid{cell_start_.data(), cells_, reach_}, particles_.position.data(),
                coordinates_.data(), coordinates_.data() + n, coordinates_.data() + 2 * n,
                particles_.id.data(), particles_.box.metric(), range * range,
                has_exclusions_ ? exclusion_begin_.data() : nullptr, excluded_.data(), list(),
                count_.data(), entries_.data(), flags_.data() + 1, particles_.device().halt_word(),
                instruction_set() == InstructionSet::avx512, reorder_ ? nullptr : order_.data()});
}

bool Neighbors::recover() {
  bool recovered = false;
  while (tiles_) {
    if (!particles_.device().halted() || !tiles_->enlarge()) return recovered;
    const bool direct = direct_;
    if (!tiles_->fits()) use_rows();
    ++version_;
    particles_.device().clear_halt();
    if (direct && direct_) return true;
    build();
    recovered = true;
  }
  if (clusters_ || columns_) return false;
  for (;;) {
    const std::uint32_t wanted = flags_.to_host(1);
    if (wanted <= capacity_) return recovered;
    const Device& device = particles_.device();
    capacity_ = std::uint32_t((double(wanted) * 1.2 + 31) / 32) * 32;
    entries_ = Buffer<std::uint32_t>();
    entries_ = {device, (particles_.size() + 31) / 32 * 32 * std::int64_t(capacity_)};
    ++version_;
    device.clear_halt();
    build();  // sorts again: a permutation of nothing
    recovered = true;
  }
}

std::int64_t Neighbors::builds() const { return builds_.to_host(0); }

const char* Neighbors::traversal() const {
  return direct_ ? "cells" : tiles_ ? "verlet" : clusters_ ? "clusters" : "rows";
}

double Neighbors::mean_entries() const {
  if (clusters_) return clusters_->mean_tests();
  const std::int64_t n = particles_.size();
  return sum<double>(particles_.device(), "count entries", n, CountEntry{count_.data()}) /
         double(std::max<std::int64_t>(n, 1));
}

bool Neighbors::state(Archive& a) {
  Archive::Scope scope(a, "neighbors");
  double skin = skin_;
  a("skin", skin);
  a("builds", builds_);
  a("flags", flags_);
  a("reference", reference_);
  if (a.is_saving()) return true;
  if (skin != skin_) {  // "auto" chose it, or the settings have been changed
    invalidate();
    return false;
  }
  if (builds() == 0 || direct_) return true;
  // The list itself is not stored: it follows from where particles were when it was built.
  if (!tiles_ && !clusters_) choose_grid();
  const auto flags = flags_.to_host();
  const auto count = builds_.to_host();
  Buffer<Position> now(particles_.device(), particles_.size());
  now.copy_from(particles_.position);
  particles_.position.copy_from(reference_);
  build();
  recover();
  particles_.position.copy_from(now);
  flags_.assign(flags);
  builds_.assign(count);
  ++version_;
  return true;
}

}  // namespace perrin
