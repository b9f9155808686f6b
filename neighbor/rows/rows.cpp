#include "neighbor/rows/rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/core/parallel.h"

#include "neighbor/rows/row_search.h"
#ifdef __CUDACC__
#include <cub/device/device_radix_sort.cuh>

#include "neighbor/rows/row_search.cuh"
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
    keys[id] = grids[class_of[p.type()]].key(p);
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
  for (const auto* buffer :
       {&keys_, &sorted_keys_, &values_, &order_, &cell_start_, &begin_, &count_, &entries_})
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
  sort_into_cells();
  const RowSearch search{grids_.data(),
                         pairs_.data(),
                         std::uint32_t(plan_.classes()),
                         std::uint32_t(plan_.class_of.size()),
                         class_of_.data(),
                         reach2_.data(),
                         cell_start_.data(),
                         reorder_ ? nullptr : order_.data(),
                         particles_.position.data(),
                         particles_.id.data(),
                         particles_.box.metric(),
                         particles_.box.orthogonal(),
                         exclusion_begin,
                         excluded,
                         begin_.data(),
                         count_.data(),
                         entries_.data(),
                         words_.data(),
                         std::uint32_t(entries_.size() / row_unit)};
  const auto finish = [&] {
    for_each(device, "list built", 1,
             FinishRows{words_.data(), search.room, when_built,
                        device.is_cuda() ? device.halt_word() : nullptr});
  };
#ifdef __CUDACC__
  if (device.is_cuda()) {
    constexpr int warps = detail::row_search_block / 32;
    if (group_count_ > 0)
      launch_early(device, "build rows", dim3(unsigned((group_count_ + warps - 1) / warps)),
                   dim3(detail::row_search_block), 0, detail::build_rows_kernel, search,
                   static_cast<const RowGroup*>(groups_.data()), group_count_,
                   static_cast<const std::uint32_t*>(device.halt_word()));
    return finish();
  }
#endif
  if (device.skipping()) return;
  search_rows(device, search, particles_.size());
  finish();
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
