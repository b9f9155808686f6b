// Sorting things into cells by (cell, number): the counting sort that all grids share.
//
// Everything is counted into its cell, counts are added up, and everything is put into its cell. On
// the CPU things come in order, in parts that threads share, and keep it. On a GPU they come in any
// order; CellRank then ranks the few of a cell by their numbers, so that the result does not depend
// on threads, either. (Ranking compares all pairs of a cell, as searching it does, too.)
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/device/tasks.h"
#include "engine/system/box.h"

namespace perrin {

/// What is called for every thing, once: notes its cell, and on a GPU counts.
struct CellCounter {
  std::uint32_t* count = nullptr;  // of each cell; nullptr: nothing is to be counted
  std::uint32_t *key = nullptr, *slot = nullptr;

  PERRIN_HD void operator()(std::int64_t thing, std::uint32_t cell) const {
    key[thing] = cell;
#ifdef __CUDA_ARCH__
    slot[thing] = atomicAdd(&count[cell], 1u);  // in any order
#endif
  }
};

/// The order of the things of a cell: by number, or by x and then by number.
struct CellRank {
  const std::uint32_t *start, *key, *member;
  const std::uint32_t* number;  // of things
  const Position* by_x;         // of things, or nullptr

  /// The place of member k; `thing`: who that is.
  PERRIN_HD std::uint32_t operator()(std::int64_t k, std::uint32_t& thing) const {
    thing = member[k];
    const std::uint32_t me = number[thing], x = by_x ? by_x[thing].x : 0;
    const std::uint32_t begin = start[key[thing]], end = start[key[thing] + 1];
    std::uint32_t place = begin;
    for (std::uint32_t m = begin; m < end; ++m) {
      const std::uint32_t other = member[m], its_x = by_x ? by_x[other].x : 0;
      place += its_x < x || (its_x == x && number[other] < me) ? 1 : 0;
    }
    return place;
  }
};

class CellSort {
 public:
  CellSort() = default;
  CellSort(const Device& device, std::int64_t things, std::int64_t cells);

  /// Other numbers of things and cells. CPU only.
  void resize(const Device& device, std::int64_t things, std::int64_t cells);

  CellCounter counter() { return {count_.data(), key_.data(), slot_.data()}; }
  /// After counting: start(), and the members of the cells. Device work only.
  void distribute();
  /// For who counts and distributes by itself on a GPU: what there is for it, …
  struct Arrays {
    std::uint32_t *count, *start;        // [cell]; both have an element more
    std::uint32_t *key, *slot, *member;  // [thing]
    const std::uint32_t* scanned;        // [cell]: receives what scan() finds; may be `start`
  };
  Arrays arrays();
  /// … and the sums of the counts of all cells before each.
  void scan();
  /// The same on the CPU, where emit(place, thing, place in the cell) says what becomes of each
  /// thing.
  template <class Emit>
  void distribute(const Emit& emit);

  /// Cell c has the places start()[c] … start()[c + 1] - 1.
  const std::uint32_t* start() const { return start_.data(); }
  CellRank rank(const std::uint32_t* number, const Position* by_x = nullptr) const {
    return {start_.data(), key_.data(), member_.data(), number, by_x};
  }
  std::int64_t bytes() const;  // of memory

 private:
  Device device_;
  std::int64_t things_ = 0, cells_ = 0;
  Buffer<std::uint32_t> count_, start_;        // cells + 1
  Buffer<std::uint32_t> key_, slot_, member_;  // things
  Buffer<std::byte> scratch_;                  // of a scan
  std::vector<std::uint32_t> next_;  // [part of the things][cell]: where the next one goes
};

/// By parts of the things, and as many of the cells, which are added up together.
template <class Emit>
void CellSort::distribute(const Emit& emit) {
  const std::uint32_t* key = key_.data();
  std::uint32_t* start = start_.data();
  const std::int64_t n = things_, cells = cells_;
  // Few enough that their counts take less memory and time than the things themselves.
  const std::int64_t most = std::clamp<std::int64_t>(4 * n / cells, 1, device_.threads());
  const std::int64_t parts = n > 4096 ? most : 1;
  next_.resize(std::size_t(cells * parts));
  std::vector<std::uint32_t> total(std::size_t(parts * parts));  // [part of things][part of cells]
  const auto begin = [&](std::int64_t of, std::int64_t part) { return of * part / parts; };
  for_tasks(device_, parts, [&](std::int64_t part, int) {
    std::uint32_t* next = next_.data() + part * cells;
    std::fill(next, next + cells, 0u);
    for (std::int64_t k = begin(n, part); k < begin(n, part + 1); ++k) ++next[key[k]];
    for (std::int64_t p = 0; p < parts; ++p)
      total[std::size_t(part * parts + p)] =
          std::accumulate(next + begin(cells, p), next + begin(cells, p + 1), 0u);
  });
  std::vector<std::uint32_t> first(std::size_t(parts) + 1);
  for (std::int64_t p = 0; p < parts; ++p) {
    first[std::size_t(p) + 1] = first[std::size_t(p)];
    for (std::int64_t part = 0; part < parts; ++part)
      first[std::size_t(p) + 1] += total[std::size_t(part * parts + p)];
  }
  for_tasks(device_, parts, [&](std::int64_t p, int) {
    std::uint32_t at = first[std::size_t(p)];
    for (std::int64_t c = begin(cells, p); c < begin(cells, p + 1); ++c) {
      start[c] = at;
      for (std::int64_t part = 0; part < parts; ++part) {
        std::uint32_t& count = next_[std::size_t(part * cells + c)];
        at += std::exchange(count, at);
      }
    }
  });
  start[cells] = std::uint32_t(n);
  for_tasks(device_, parts, [&](std::int64_t part, int) {
    std::uint32_t* next = next_.data() + part * cells;
    for (std::int64_t k = begin(n, part); k < begin(n, part + 1); ++k) {
      const std::uint32_t place = next[key[k]]++;
      emit(place, k, place - start[key[k]]);
    }
  });
}

}  // namespace perrin
