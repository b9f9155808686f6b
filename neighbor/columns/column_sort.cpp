#include "neighbor/columns/column_sort.h"

#include <algorithm>

#include "engine/device/parallel.h"
#include "neighbor/sort/short_sort.h"

namespace perrin {
namespace {

/// The k-th of those that are sorted.
struct BinsOfParticles {
  const Position* position;
  const std::uint32_t* index;  // nullptr: k
  ColumnGrid grid;
  CellCounter bins;
  std::uint32_t* coordinate;
  PERRIN_HD void operator()(std::int64_t k) const {
    const Position p = position[index ? std::int64_t(index[k]) : k];
    bins(k, grid.bin(p));
    coordinate[k] = grid.coordinate(p);
  }
};

/// `id`: particles did not come by id, and those with equal coordinates are put right.
struct SortedOrder {
  const std::uint32_t* words;
  const std::int32_t* start;
  const std::uint32_t *member, *id;
  std::uint32_t* order;
  PERRIN_HD void operator()(std::int64_t b) const {
    for (std::int32_t k = start[b]; k < start[b + 1]; ++k) {
      const std::uint32_t i = member[start[b] + std::int32_t(short_sort_index(words[k]))];
      std::int32_t at = k;
      for (; id && at > start[b] && same(at - 1, k) && id[order[at - 1]] > id[i]; --at)
        order[at] = order[at - 1];
      order[at] = i;
    }
  }
  PERRIN_HD bool same(std::int32_t a, std::int32_t b) const {
    return short_sort_coordinate(words[a]) == short_sort_coordinate(words[b]);
  }
};

}  // namespace

void ColumnSort::sort(const Particles& particles, const ColumnGrid& grid, bool along) {
  const Sorted sorted{particles.position().data(), particles.index().data(), nullptr,
                      particles.size()};
  sort_into_bins(particles.device(), sorted, grid);
  if (along)
    sort_along(particles.device(), sorted, grid);
  else
    order_.swap(member_);
}

void ColumnSort::sort(const Device& device, const Position* position, const std::uint32_t* id,
                      std::int64_t n, const ColumnGrid& grid) {
  const Sorted sorted{position, nullptr, id, n};
  sort_into_bins(device, sorted, grid);
  sort_along(device, sorted, grid);
}

void ColumnSort::sort_into_bins(const Device& device, const Sorted& sorted,
                                const ColumnGrid& grid) {
  const std::int64_t n = sorted.n;
  const auto bins = std::int64_t(grid.cells[0]) * grid.cells[1] * grid.cells[2];
  if (order_.size() < n)
    for (auto* buffer : {&order_, &words_, &member_})
      *buffer = {device, sorted.index ? n : n + n / 8};
  cells_.resize(device, n, bins_ = bins);
  std::uint32_t *coordinate = order_.data(), *member = member_.data(), *words = words_.data();
  const std::uint32_t* const index = sorted.index;
  for_each(device, "bins of particles", n,
           BinsOfParticles{sorted.position, index, grid, cells_.counter(), coordinate});
  cells_.distribute([=](std::uint32_t place, std::int64_t k, std::uint32_t in_bin) {
    member[place] = index ? index[k] : std::uint32_t(k);
    words[place] = short_sort_word(coordinate[k], in_bin & 0xffffu);
  });
}

void ColumnSort::sort_along(const Device& device, const Sorted& sorted, const ColumnGrid& grid) {
  const std::int32_t* begin = start();
  std::uint32_t *member = member_.data(), *words = words_.data(), *order = order_.data();
  std::int32_t longest = 0;
  for (std::int64_t b = 0; b < bins_; ++b) longest = std::max(longest, begin[b + 1] - begin[b]);
  if (longest <= 0xffff) {
    short_sort(device, words, words, begin, bins_);
    return for_each(device, "sorted order", bins_,
                    SortedOrder{words, begin, member, sorted.id, order});
  }
  // A bin of more particles than an index of 16 bits can tell apart.
  std::copy(member, member + sorted.n, order);
  for (std::int64_t b = 0; b < bins_; ++b)
    std::stable_sort(order + begin[b], order + begin[b + 1], [&](std::uint32_t i, std::uint32_t j) {
      const auto at_i = grid.coordinate(sorted.position[i]),
                 at_j = grid.coordinate(sorted.position[j]);
      return at_i < at_j || (at_i == at_j && sorted.id && sorted.id[i] < sorted.id[j]);
    });
}

}  // namespace perrin
