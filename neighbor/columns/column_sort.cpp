#include "neighbor/columns/column_sort.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/core/parallel.h"
#include "neighbor/sort/short_sort.h"

namespace perrin {
namespace {

/// In the order of ids: where particles stand in memory must not matter.
struct BinsOfParticles {
  const Position* position;
  const std::uint32_t* index;
  ColumnGrid grid;
  std::uint32_t *bin, *coordinate;
  PERRIN_HD void operator()(std::int64_t id) const {
    const Position p = position[index[id]];
    bin[id] = grid.bin(p);
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

/// A counting sort by parts of the ids: start_, and the members of the bins with their words for
/// the short sort. Ids of a bin stay in order, whatever the number of parts. Parts of the bins, as many, are added up
/// and placed together.
void ColumnSort::distribute(const Particles& particles, std::int64_t bins) {
  const Device& device = particles.device();
  const std::int64_t n = particles.size();
  const std::uint32_t *index = particles.index.data(), *bin = bin_.data();
  const std::uint32_t* coordinate = order_.data();
  std::uint32_t *member = member_.data(), *words = words_.data();
  std::int32_t* start = start_.data();
  const std::int64_t parts = n > 4096 ? device.threads() : 1;
  next_.resize(std::size_t(bins * parts));
  std::vector<std::int32_t> total(std::size_t(parts * parts));  // [part of ids][part of bins]
  const auto begin = [&](std::int64_t of, std::int64_t part) { return of * part / parts; };
  for_tasks(device, parts, [&](std::int64_t part, int) {
    std::int32_t* next = next_.data() + part * bins;
    std::fill(next, next + bins, 0);
    for (std::int64_t id = begin(n, part); id < begin(n, part + 1); ++id) ++next[bin[id]];
    for (std::int64_t p = 0; p < parts; ++p)
      total[std::size_t(part * parts + p)] =
          std::accumulate(next + begin(bins, p), next + begin(bins, p + 1), 0);
  });
  std::vector<std::int32_t> first(std::size_t(parts) + 1);
  for (std::int64_t p = 0; p < parts; ++p) {
    first[std::size_t(p) + 1] = first[std::size_t(p)];
    for (std::int64_t part = 0; part < parts; ++part)
      first[std::size_t(p) + 1] += total[std::size_t(part * parts + p)];
  }
  for_tasks(device, parts, [&](std::int64_t p, int) {
    std::int32_t at = first[std::size_t(p)];
    for (std::int64_t b = begin(bins, p); b < begin(bins, p + 1); ++b) {
      start[b] = at;
      for (std::int64_t part = 0; part < parts; ++part) {
        std::int32_t& count = next_[std::size_t(part * bins + b)];
        at += std::exchange(count, at);
      }
    }
  });
  for_tasks(device, parts, [&](std::int64_t part, int) {
    std::int32_t* next = next_.data() + part * bins;
    for (std::int64_t id = begin(n, part); id < begin(n, part + 1); ++id) {
      const std::int32_t to = next[bin[id]]++;
      member[to] = index[id];
      words[to] = short_sort_word(coordinate[id], std::uint32_t(to - start[bin[id]]) & 0xffffu);
    }
  });
  start[bins] = std::int32_t(n);
}

void ColumnSort::sort(const Particles& particles, const ColumnGrid& grid, bool along) {
  const Device& device = particles.device();
  const std::int64_t n = particles.size();
  const auto bins = std::int64_t(grid.cells[0]) * grid.cells[1] * grid.cells[2];
  if (bin_.size() != n)
    for (auto* buffer : {&bin_, &order_, &words_, &member_}) *buffer = {device, n};
  if (start_.size() < bins + 1) start_ = {device, bins + 1};
  for_each(device, "bins of particles", n,
           BinsOfParticles{particles.position.data(), particles.index.data(), grid, bin_.data(),
                           order_.data()});
  distribute(particles, bins);
  const std::int32_t* start = start_.data();
  std::uint32_t *member = member_.data(), *words = words_.data();
  std::int32_t longest = 0;
  for (std::int64_t b = 0; along && b < bins; ++b)
    longest = std::max(longest, start[b + 1] - start[b]);
  if (!along) {
    order_.swap(member_);
  } else if (longest <= 0xffff) {
    short_sort(device, words, words, start, bins);
    for_each(device, "sorted order", bins, SortedOrder{words, start, member, order_.data()});
  } else {  // a bin of more particles than an index of 16 bits can tell apart
    const Position* position = particles.position.data();
    std::copy(member, member + n, order_.data());
    for (std::int64_t b = 0; b < bins; ++b)
      std::stable_sort(order_.data() + start[b], order_.data() + start[b + 1],
                       [&](std::uint32_t i, std::uint32_t j) {
                         return grid.coordinate(position[i]) < grid.coordinate(position[j]);
                       });
  }
}

}  // namespace perrin
