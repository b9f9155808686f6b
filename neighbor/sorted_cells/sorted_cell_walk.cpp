#include "neighbor/sorted_cells/sorted_cell_walk.h"

#include <algorithm>

#include "engine/core/parallel.h"
#include "neighbor/inline.h"

namespace perrin {

/// The steps of a walk, compiled for each instruction set.
struct SortedCellSteps {
  static constexpr int width = SortedCellWalk::width, most = SortedCellWalk::most,
                       room = SortedCellWalk::room;
  static constexpr std::uint32_t nobody = 0xffffffffu;
  SortedCellWalk& walk;
  const SortedCellView& view = walk.view_;
  const ColumnView& cells = view.cells;
  SortedCellWalk::Group& group = walk.group;
  SortedCellWalk::Candidates& candidates = walk.candidates;
  SortedCellWalk::Takers& takers = walk.takers;

  /// The next group that is wanted; one without particles at the end.
  PERRIN_INLINE void next() const {
    for (walk.place_ += group.count; walk.cell_ < walk.end_; walk.place_ += group.count) {
      group.count = 0;
      if (walk.place_ == cells.start[walk.cell_ + 1]) {
        ++walk.cell_;
        continue;
      }
      group.count = int(std::min<std::int64_t>(most, cells.start[walk.cell_ + 1] - walk.place_));
      bool wanted = false;
      for (int m = 0; m < group.count; ++m) {
        group.index[m] = cells.order[walk.place_ + m];
        wanted |= cells.own.meets(group.index[m], 1);
      }
      if (!wanted) continue;
      view.numbers_of(walk.cell_, walk.numbers_);
      walk.middle_ = view.middle(walk.numbers_);
      const Vec3<Coordinate> o = walk.middle_;
      const std::int64_t place = walk.place_;
#pragma omp simd
      for (int m = 0; m < group.count; ++m) {
        group.x[m] = difference(cells.x[place + m], o.x, cells.unit);
        group.y[m] = difference(cells.y[place + m], o.y, cells.unit);
        group.z[m] = difference(cells.z[place + m], o.z, cells.unit);
      }
      walk.direction_ = -1;
      walk.from_ = walk.to_ = 0;
      return;
    }
    group.count = 0;
  }

  /// The own cell: all of the group meet all of it.
  PERRIN_INLINE void begin_own_cell() const {
    takers.count = group.count;
    for (int t = 0; t < takers.count; ++t) {
      takers.member[t] = std::uint16_t(t);
      walk.limit_[t] = 0;
    }
    walk.sequence_ = nullptr;
    walk.other_ = cells.start[walk.cell_];
    walk.from_ = 0, walk.to_ = cells.start[walk.cell_ + 1] - cells.start[walk.cell_];
    walk.origin_ = walk.middle_;
  }

  /// The neighbour in direction d. Places along the axis are turned round where the direction goes
  /// against it, so that both sequences begin where the cells meet.
  PERRIN_INLINE void begin_neighbor(const CellDirection& d) const {
    std::int64_t cell = 0;
    Vec3<Coordinate> origin = walk.middle_;
    for (int k = 0; k < 3; ++k) {
      const std::int64_t n = cells.grid.cells[k];
      std::int64_t at = walk.numbers_[k] + d.step[k];
      const int turns = at < 0 ? -1 : at >= n ? 1 : 0;
      at -= turns * n;
      cell = cell * n + at;
      const Vec3<Coordinate>& edge = cells.edge[cells.grid.axis[k]];
      const auto by = Coordinate(turns);
      origin.x -= by * edge.x, origin.y -= by * edge.y, origin.z -= by * edge.z;
    }
    walk.origin_ = origin;
    walk.other_ = cells.start[cell];
    walk.from_ = 0, walk.to_ = cells.start[cell + 1] - cells.start[cell];
    if (walk.to_ == 0) return;
    walk.sign_ = d.sign;
    walk.flip_ = d.sign > 0 ? 0 : 0xffffffffu >> view.index_bits;
    const std::uint32_t* const words = view.words + d.axis * cells.n;
    walk.sequence_ = words + walk.other_ + (d.sign > 0 ? 0 : walk.to_ - 1);
    take_in_order(words, d);
    if (place_of(walk.sequence_[0]) > walk.limit_[0]) walk.to_ = 0;
  }

  PERRIN_INLINE std::int32_t place_of(std::uint32_t word) const {
    return std::int32_t((word >> view.index_bits) ^ walk.flip_);
  }

  /// The group, those first that are nearest to the neighbour.
  PERRIN_INLINE void take_in_order(const std::uint32_t* words, const CellDirection& d) const {
    const std::int64_t begin = cells.start[walk.cell_], end = cells.start[walk.cell_ + 1];
    const std::uint32_t in_cell = (std::uint32_t(1) << view.index_bits) - 1;
    const std::uint32_t* const mine = words + (d.sign > 0 ? end - 1 : begin);
    const std::int64_t sign = -d.sign;
    if (end - begin == group.count) {
      takers.count = group.count;
#pragma omp simd
      for (int t = 0; t < takers.count; ++t) {
        const std::uint32_t word = mine[sign * t];
        takers.member[t] = std::uint16_t(word & in_cell);
        walk.limit_[t] = place_of(word) + d.left;
      }
      return;
    }
    takers.count = 0;
    const auto first = std::uint32_t(walk.place_ - begin);
    for (std::int64_t k = 0; k < end - begin; ++k) {
      const std::uint32_t word = mine[sign * k], member = (word & in_cell) - first;
      if (member >= std::uint32_t(group.count)) continue;
      takers.member[takers.count] = std::uint16_t(member);
      walk.limit_[takers.count++] = place_of(word) + d.left;
    }
  }

  /// The next of the neighbour's particles, as many as there is room for and somebody meets, and
  /// how many vectors of them each taker meets.
  PERRIN_INLINE void add() const {
    SortedCellWalk::Candidates& c = candidates;
    const int n = std::min(walk.to_ - walk.from_, room);
    const Coordinate *const x = cells.x + walk.other_, *const y = cells.y + walk.other_,
                            *const z = cells.z + walk.other_;
    const std::uint32_t *const type = cells.type + walk.other_, *const index =
                                                                    cells.order + walk.other_;
    const Vec3<Coordinate> o = walk.origin_;
    const std::uint32_t in_cell = (std::uint32_t(1) << view.index_bits) - 1;
    const std::uint32_t* const sequence = walk.sequence_;
    const int sign = walk.sign_;
    for (int t = 0; t < takers.count; ++t) takers.vectors[t] = 0;
    c.n = 0;
    for (int k0 = 0; k0 < n; k0 += width) {
      if (sequence) {
        const std::int32_t head = place_of(sequence[sign * (walk.from_ + k0)]);
        if (head > walk.limit_[0]) {
          walk.to_ = walk.from_ + k0;  // nobody meets what follows
          break;
        }
#pragma omp simd
        for (int t = 0; t < takers.count; ++t)
          takers.vectors[t] = std::uint16_t(takers.vectors[t] + (walk.limit_[t] >= head ? 1 : 0));
      } else {
        for (int t = 0; t < takers.count; ++t) ++takers.vectors[t];
      }
      const int count = std::min(n - k0, width);
      c.n = k0 + count;
      alignas(64) std::int32_t at[width];
      const std::int32_t first = walk.from_ + k0;
#pragma omp simd simdlen(width)
      for (int k = 0; k < width; ++k) at[k] = first + (k < count ? k : 0);  // the rest is nobody's
      if (sequence) {
#pragma omp simd simdlen(width)
        for (int k = 0; k < width; ++k) at[k] = std::int32_t(sequence[sign * at[k]] & in_cell);
      }
#pragma omp simd simdlen(width)
      for (int k = 0; k < width; ++k) {
        c.x[k0 + k] = difference(x[at[k]], o.x, cells.unit);
        c.y[k0 + k] = difference(y[at[k]], o.y, cells.unit);
        c.z[k0 + k] = difference(z[at[k]], o.z, cells.unit);
        c.type[k0 + k] = type[at[k]];
        c.index[k0 + k] = c.who[k0 + k] = index[at[k]];
      }
    }
    walk.from_ += c.n;
    for (int k = c.n; k < c.padded(); ++k) {
      c.x[k] = c.y[k] = c.z[k] = cells.far, c.type[k] = 0;
      c.index[k] = group.index[0], c.who[k] = nobody;
    }
  }

  PERRIN_INLINE void find() const {
    for (;;) {
      candidates.n = 0;
      if (walk.from_ < walk.to_) add();
      if (candidates.n > 0) return;
      if (walk.direction_ == view.directions) return;
      if (walk.direction_ < 0)
        begin_own_cell();
      else
        begin_neighbor(view.direction[walk.direction_]);
      ++walk.direction_;
    }
  }
};

namespace {

struct NextCell {
  SortedCellWalk& walk;
  PERRIN_INLINE void operator()(std::int64_t) const { SortedCellSteps{walk}.next(); }
};
struct FindInCells {
  SortedCellWalk& walk;
  PERRIN_INLINE void operator()(std::int64_t) const { SortedCellSteps{walk}.find(); }
};

}  // namespace

SortedCellWalk::SortedCellWalk(const SortedCellView& view, std::int64_t part)
    : GroupWalk(view.cells.exclusions, view.cells.id, view.cells.index, view.cells.far),
      view_(view),
      cell_(part * view.cells_of_part),
      end_(std::min(view.cell_count(), (part + 1) * view.cells_of_part)),
      place_(view.cells.start[cell_]) {}

bool SortedCellWalk::next() {
  run_range(NextCell{*this}, 0, 1);
  return group.count > 0;
}

bool SortedCellWalk::find() {
  run_range(FindInCells{*this}, 0, 1);
  return candidates.n > 0;
}

}  // namespace perrin
