#include "neighbor/columns/column_sort.h"

#include <algorithm>

#include "engine/core/parallel.h"
#include "neighbor/sort/short_sort.h"

namespace perrin {
namespace {

/// In the order of ids: where particles stand in memory must not matter.
struct BinsOfParticles {
  const Position* position;
  const std::uint32_t* index;
  ColumnGrid grid;
  CellCounter bins;
  std::uint32_t* coordinate;
  PERRIN_HD void operator()(std::int64_t id) const {
    const Position p = position[index[id]];
    bins(id, grid.bin(p));
    coordinate[id] = grid.coordinate(p);
  }
};

struct SortedOrder {
  const std::uint32_t* words;
  const std::int32_t* start;
  const std::uint32_t* member;
  std::uint32_t* order;
  PERRIN_HD void operator()(std::int64_t b) const {
    for (std::int32_t k = start[b]; k < start[b + 1]; ++k)
      order[k] = member[start[b] + std::int32_t(short_sort_index(words[k]))];
  }
};

}  // namespace

void ColumnSort::sort(const Particles& particles, const ColumnGrid& grid, bool along) {
  const Device& device = particles.device();
  const std::int64_t n = particles.size();
  const auto bins = std::int64_t(grid.cells[0]) * grid.cells[1] * grid.cells[2];
  if (order_.size() != n) {
    for (auto* buffer : {&order_, &words_, &member_}) *buffer = {device, n};
    cells_ = CellSort(device, n, bins);
  }
  cells_.resize(bins_ = bins);
  std::uint32_t *coordinate = order_.data(), *member = member_.data(), *words = words_.data();
  const std::uint32_t* index = particles.index.data();
  for_each(device, "bins of particles", n,
           BinsOfParticles{particles.position.data(), index, grid, cells_.counter(), coordinate});
  cells_.distribute([=](std::uint32_t place, std::int64_t id, std::uint32_t in_bin) {
    member[place] = index[id];
    words[place] = short_sort_word(coordinate[id], in_bin & 0xffffu);
  });
  if (along)
    sort_along(particles, grid);
  else
    order_.swap(member_);
}

void ColumnSort::sort_along(const Particles& particles, const ColumnGrid& grid) {
  const Device& device = particles.device();
  const std::int32_t* begin = start();
  std::uint32_t *member = member_.data(), *words = words_.data(), *order = order_.data();
  std::int32_t longest = 0;
  for (std::int64_t b = 0; b < bins_; ++b) longest = std::max(longest, begin[b + 1] - begin[b]);
  if (longest <= 0xffff) {
    short_sort(device, words, words, begin, bins_);
    return for_each(device, "sorted order", bins_, SortedOrder{words, begin, member, order});
  }
  // A bin of more particles than an index of 16 bits can tell apart.
  const Position* position = particles.position.data();
  std::copy(member, member + particles.size(), order);
  for (std::int64_t b = 0; b < bins_; ++b)
    std::stable_sort(order + begin[b], order + begin[b + 1], [&](std::uint32_t i, std::uint32_t j) {
      return grid.coordinate(position[i]) < grid.coordinate(position[j]);
    });
}

}  // namespace perrin
