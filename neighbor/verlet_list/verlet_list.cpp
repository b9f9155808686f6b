#include "neighbor/verlet_list/verlet_list.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"
#include "engine/system/configuration.h"
#include "neighbor/per_particle.h"
#include "neighbor/verlet_list/row_search.h"
#ifdef __CUDACC__
#include "neighbor/verlet_list/row_search.cuh"
#endif

namespace perrin {
namespace {

void search_rows_on_gpu([[maybe_unused]] const Device& device,
                        [[maybe_unused]] const RowSearch& search,
                        [[maybe_unused]] const RowGroup* groups,
                        [[maybe_unused]] std::int64_t group_count) {
#ifdef __CUDACC__
  constexpr int warps = detail::row_search_block / 32;
  if (group_count > 0)
    launch_early(device, "build rows", dim3(unsigned((group_count + warps - 1) / warps)),
                 dim3(detail::row_search_block), 0, detail::build_rows_kernel, search, groups,
                 group_count, static_cast<const std::uint32_t*>(device.halt().word()));
#endif
}

/// The cell of a particle: by memory index on a GPU, by id on the CPU, where cells keep that order.
struct FindCells {
  const Position* position;
  const std::uint32_t *index, *class_of;
  const RowGrid* grids;
  CellCounter cells;
  PERRIN_HD void operator()(std::int64_t k) const {
#ifdef __CUDA_ARCH__
    const Position p = position[k];
#else
    const Position p = position[index[k]];
#endif
    cells(k, grids[class_of[p.type()]].key(p));
  }
};

/// Of the box as it is now.
struct FitGrids {
  const Box* box;
  RowGrid* grids;
  PERRIN_HD void operator()(std::int64_t k) const { grids[k].fit(box->padded_heights()); }
};

struct OrderByRank {
  CellRank rank;
  std::uint32_t* order;
  PERRIN_HD void operator()(std::int64_t k) const {
    std::uint32_t i = 0;
    const std::uint32_t place = rank(k, i);
    order[place] = i;
  }
};

struct FinishRows {
  std::uint32_t* words;
  std::uint32_t room;
  FinishBuild when_built;
  std::uint32_t* halt;  // nullptr on the CPU, whose host looks at once
  PERRIN_HD void operator()(std::int64_t) const {
    if (words[0] > room) {
      words[1] = words[0];
      if (halt) *halt = 1;
    } else {
      when_built(0);
    }
    words[0] = 0;
  }
};

}  // namespace

VerletList::VerletList(const TraversalInput& input)
    : particles_(&input.particles),
      exclusions_(input.exclusions),
      reorder_(input.settings.reorder),
      tilts_(input.tilts) {
  const Device& device = particles_->device();
  const std::int64_t n = particles_->size();
  const Ranges reaches = input.reaches();
  RowCosts costs = row_costs(device);
  // A class must keep its members: not where particles come and go.
  costs.classes = reorder_ && std::ranges::none_of(particles_->properties().types, is_absent);
  plan_ = plan_rows(input.box, reaches, input.crowding, costs);
  grids_ = {device, std::span<const RowGrid>(plan_.grids)};
  pairs_ = {device, std::span<const RowPair>(plan_.pairs)};
  class_of_ = {device, std::span<const std::uint32_t>(plan_.class_of)};
  reach2_ = {device, std::span<const Real>(squared_reaches(input))};
  cells_ = CellSort(device, n, plan_.cells());
  order_ = {device, n};
  begin_ = {device, n}, count_ = {device, n};
  words_ = {device, 2};
  make_groups(input.settings.lanes);
  if (!(input.box == particles_->box())) follow_box(nullptr);
  // What is expected, and a tenth more, and half a unit of padding; enlarge() makes room.
  const double units = double(n) * (1.1 * plan_.mean_entries() / row_unit + 1) + 64;
  entries_ = {device, std::int64_t(units) * row_unit};
}

void VerletList::make_groups(int lanes) {
  const Device& device = particles_->device();
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
    while (log2_lanes < 5 && (double(particles_->size() << log2_lanes) < wanted ||
                              plan_.entries[c] > 24.0 * double(1 << log2_lanes)))
      ++log2_lanes;
    if (plan_.entries[c] < 12) log2_lanes = 2;
    if (lanes > 0)
      for (log2_lanes = 0; (2 << log2_lanes) <= lanes;) ++log2_lanes;
    const std::int64_t per_group = 32 >> log2_lanes;
    for (std::int64_t i = first[c]; i < first[c + 1]; i += per_group)
      groups.push_back({std::uint32_t(i), std::uint16_t(std::min(per_group, first[c + 1] - i)),
                        std::uint16_t(log2_lanes)});
  }
  group_count_ = std::int64_t(groups.size());
  groups_ = {device, std::span<const RowGroup>(groups)};
}

RowView VerletList::view() const {
  // Rows that had no room were not written; on a GPU the device was halted.
  PERRIN_ASSERT(particles_->device().is_cuda() || words_.data()[1] == 0);
  return {begin_.data(),  count_.data(), entries_.data(),
          groups_.data(), group_count_,  particles_->share()};
}

double VerletList::mean_entries() const { return perrin::mean_entries(*particles_, count_); }

std::int64_t VerletList::bytes() const {
  std::int64_t all = grids_.bytes() + pairs_.bytes() + reach2_.bytes() + groups_.bytes();
  for (const auto* buffer : {&order_, &begin_, &count_, &entries_}) all += buffer->bytes();
  return all + cells_.bytes();
}

void VerletList::follow_box(Real*) {
  for_each(particles_->device(), "cells of the box", grids_.size(),
           FitGrids{particles_->box_state().data(), grids_.data()});
}

void VerletList::sort_into_cells() {
  const Device& device = particles_->device();
  const std::int64_t n = particles_->size();
  const std::uint32_t* index = particles_->index().data();
  std::uint32_t* order = order_.data();
  for_each(device, "cells of particles", n,
           FindCells{particles_->position().data(), index, class_of_.data(), grids_.data(),
                     cells_.counter()});
  if (device.is_cuda()) {
    cells_.distribute();
    for_each(device, "order of particles", n,
             OrderByRank{cells_.rank(particles_->id().data()), order});
  } else {
    cells_.distribute(
        [=](std::uint32_t place, std::int64_t id, std::uint32_t) { order[place] = index[id]; });
  }
  if (reorder_) particles_->memory_order().reorder(order_);
}

RowSearch VerletList::search() {
  return {.grids = grids_.data(),
          .pairs = pairs_.data(),
          .classes = std::uint32_t(plan_.classes()),
          .types = std::uint32_t(plan_.class_of.size()),
          .class_of = class_of_.data(),
          .reach2 = reach2_.data(),
          .cell_start = cells_.start(),
          .order = reorder_ ? nullptr : order_.data(),
          .position = particles_->position().data(),
          .id = particles_->id().data(),
          .metric = particles_->metric(),
          .orthogonal = particles_->box().orthogonal() && !tilts_,
          .exclusions = exclusions_,
          .begin = begin_.data(),
          .count = count_.data(),
          .entries = entries_.data(),
          .used = words_.data(),
          .room = std::uint32_t(entries_.size() / row_unit),
          .particles = particles_->size(),
          .own = particles_->share()};
}

void VerletList::build(const ListBuild& build) {
  const Device& device = particles_->device();
  const std::int64_t n = particles_->size();
  sort_into_cells();
  const RowSearch rows = search();
  if (device.is_cuda())
    search_rows_on_gpu(device, rows, groups_.data(), group_count_);
  else if (!device.halt().skipping())
    search_rows(device, rows);
  for_each(device, "list built", 1,
           FinishRows{words_.data(),
                      rows.room,
                      {build.flag, build.builds},
                      device.is_cuda() ? device.halt().word() : nullptr});
  for_each(device, "keep positions", n,
           CopyPositions{build.reference, particles_->position().data()});
}

bool VerletList::enlarge() {
  const std::uint32_t wanted = decomposition_of(particles_->device()).largest(words_.to_host(1));
  if (wanted <= std::uint32_t(entries_.size() / row_unit)) return false;
  const Device& device = particles_->device();
  entries_ = Buffer<std::uint32_t>();
  entries_ = {device, (std::int64_t(1.15 * wanted) + 64) * row_unit};
  words_.zero();
  return true;
}

}  // namespace perrin
