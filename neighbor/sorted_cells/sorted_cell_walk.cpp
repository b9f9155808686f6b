#include "neighbor/sorted_cells/sorted_cell_walk.h"

#include <algorithm>

#include "engine/device/parallel.h"
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

  PERRIN_INLINE bool has_own(std::int64_t cell) const {
    for (std::int32_t k = cells.start[cell]; k < cells.start[cell + 1]; ++k)
      if (cells.own.meets(cells.order[k], 1)) return true;
    return false;
  }

  /// Has this domain particles in the cell or in those ahead?
  PERRIN_INLINE bool is_wanted() const {
    if (cells.own.size() == cells.n || has_own(walk.cell_)) return true;
    for (int a = 0; a < view.axes; ++a) {
      int turns[3];
      if (has_own(neighbor(view.axis[a], walk.numbers_, turns))) return true;
    }
    return false;
  }

  /// The next group that is wanted; one without particles at the end.
  PERRIN_INLINE void next() const {
    for (walk.place += group.count; walk.cell_ < walk.end_; walk.place += group.count) {
      group.count = 0;
      if (walk.place == cells.start[walk.cell_ + 1]) {
        ++walk.cell_;
        continue;
      }
      group.count = int(std::min<std::int64_t>(most, cells.start[walk.cell_ + 1] - walk.place));
      view.numbers_of(walk.cell_, walk.numbers_);
      if (!is_wanted()) continue;
      for (int m = 0; m < group.count; ++m) group.index[m] = cells.order[walk.place + m];
      walk.several_ = group.count < cells.start[walk.cell_ + 1] - cells.start[walk.cell_];
      walk.middle_ = view.middle(walk.numbers_);
      const Vec3<Coordinate> o = walk.middle_;
      const std::int64_t place = walk.place;
#pragma omp simd
      for (int m = 0; m < group.count; ++m) {
        group.x[m] = difference(cells.x[place + m], o.x, cells.unit);
        group.y[m] = difference(cells.y[place + m], o.y, cells.unit);
        group.z[m] = difference(cells.z[place + m], o.z, cells.unit);
      }
      walk.axis_ = -1;
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
    walk.gives = false;
    walk.other_ = cells.start[walk.cell_];
    walk.from_ = 0, walk.to_ = cells.start[walk.cell_ + 1] - cells.start[walk.cell_];
    walk.origin_ = walk.middle_;
  }

  /// A cell's neighbour along an axis, and the turns around the box to it.
  PERRIN_INLINE std::int64_t neighbor(const CellAxis& axis, const std::int64_t (&numbers)[3],
                                      int (&turns)[3]) const {
    std::int64_t cell = 0;
    for (int k = 0; k < 3; ++k) {
      const std::int64_t n = cells.grid.cells[k], at = numbers[k] + axis.step[k];
      turns[k] = at < 0 ? -1 : at >= n ? 1 : 0;
      cell = cell * n + (at - turns[k] * n);
    }
    return cell;
  }

  /// The next neighbour. Both sequences begin where the cells meet.
  PERRIN_INLINE void begin_neighbor() const {
    const CellAxis& axis = view.axis[walk.axis_];
    int turns[3];
    const std::int64_t cell = neighbor(axis, walk.numbers_, turns);
    Vec3<Coordinate> origin = walk.middle_;
    for (int k = 0; k < 3; ++k) {
      const Vec3<Coordinate>& edge = cells.edge[cells.grid.axis[k]];
      const auto by = Coordinate(turns[k]);
      origin.x -= by * edge.x, origin.y -= by * edge.y, origin.z -= by * edge.z;
    }
    walk.origin_ = origin;
    walk.other_ = cells.start[cell];
    walk.from_ = 0, walk.to_ = cells.start[cell + 1] - cells.start[cell];
    if (walk.to_ == 0) return;
    const std::uint32_t* const words = view.words + walk.axis_ * cells.n;
    walk.sequence_ = words + walk.other_;
    walk.met_ = view.met + walk.axis_ * view.cell_count() + cell;
    walk.gives = true, walk.adds = walk.place > cells.start[walk.cell_];
    walk.slot = walk.axis_ + 1;
    take_in_order(words, axis.left);
  }

  PERRIN_INLINE std::int32_t place_of(std::uint32_t word) const {
    return std::int32_t(word >> view.index_bits);
  }

  /// The group, those first that are nearest to the neighbour.
  PERRIN_INLINE void take_in_order(const std::uint32_t* words, std::int32_t left) const {
    const std::int64_t begin = cells.start[walk.cell_], end = cells.start[walk.cell_ + 1];
    const std::uint32_t in_cell = (std::uint32_t(1) << view.index_bits) - 1;
    const std::uint32_t* const mine = words + end - 1;
    if (end - begin == group.count) {
      takers.count = group.count;
#pragma omp simd
      for (int t = 0; t < takers.count; ++t) {
        const std::uint32_t word = mine[-t];
        takers.member[t] = std::uint16_t(word & in_cell);
        walk.limit_[t] = place_of(word) + left;
      }
      return;
    }
    takers.count = 0;
    const auto first = std::uint32_t(walk.place - begin);
    for (std::int64_t k = 0; k < end - begin; ++k) {
      const std::uint32_t word = mine[-k], member = (word & in_cell) - first;
      if (member >= std::uint32_t(group.count)) continue;
      takers.member[takers.count] = std::uint16_t(member);
      walk.limit_[takers.count++] = place_of(word) + left;
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
    for (int t = 0; t < takers.count; ++t) takers.vectors[t] = 0;
    c.n = 0;
    for (int k0 = 0; k0 < n; k0 += width) {
      if (sequence) {
        const std::int32_t head = place_of(sequence[walk.from_ + k0]);
        if (head > walk.limit_[0] && !walk.several_) {
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
        for (int k = 0; k < width; ++k) at[k] = std::int32_t(sequence[at[k]] & in_cell);
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
    walk.offset = walk.other_ + walk.from_;
    walk.from_ += c.n;
    if (sequence && c.n > 0) *walk.met_ = walk.from_;
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
      if (walk.axis_ == view.axes) return;
      if (walk.axis_ < 0)
        begin_own_cell();
      else
        begin_neighbor();
      ++walk.axis_;
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

struct CompleteSums {
  const SortedCellView& v;
  Real* open;
  int sums;
  PERRIN_INLINE void operator()(std::int64_t cell) const {
    const std::int64_t n = v.cells.n, begin = v.cells.start[cell];
    const std::uint32_t in_cell = (std::uint32_t(1) << v.index_bits) - 1;
    for (int a = 0; a < v.axes; ++a) {
      const std::int32_t met = v.met[a * v.cell_count() + cell];
      const std::uint32_t* const words = v.words + a * n + begin;
      for (int s = 0; s < sums; ++s) {
        Real* const to = open + s * n + begin;
        const Real* const from = open + (std::int64_t(a + 1) * sums + s) * n + begin;
        for (std::int32_t k = 0; k < met; ++k) to[words[k] & in_cell] += from[k];
      }
    }
  }
};

}  // namespace

Share SortedCellWalk::complete_sums(const SortedCellView& view, std::int64_t part, Real* open,
                                    int sums) {
  const std::int64_t begin = part * view.cells_of_part,
                     end = std::min(view.cell_count(), begin + view.cells_of_part);
  run_range(CompleteSums{view, open, sums}, begin, end);
  return {view.cells.start[begin], view.cells.start[end]};
}

SortedCellWalk::SortedCellWalk(const SortedCellView& view, std::int64_t part)
    : GroupWalk(view.cells.exclusions, view.cells.id, view.cells.index, view.cells.far),
      view_(view),
      cell_(part * view.cells_of_part),
      end_(std::min(view.cell_count(), (part + 1) * view.cells_of_part)) {
  place = view.cells.start[cell_];
}

bool SortedCellWalk::next() {
  run_range(NextCell{*this}, 0, 1);
  return group.count > 0;
}

bool SortedCellWalk::find() {
  run_range(FindInCells{*this}, 0, 1);
  return candidates.n > 0;
}

}  // namespace perrin
