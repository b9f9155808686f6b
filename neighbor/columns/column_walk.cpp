#include "neighbor/columns/column_walk.h"

#include <algorithm>
#include <cmath>

#include "engine/device/parallel.h"
#include "neighbor/inline.h"

namespace perrin {

/// The steps of a walk, compiled for each instruction set.
struct ColumnSteps {
  static constexpr int width = ColumnWalk::width, most = ColumnWalk::together,
                       room = ColumnWalk::room;
  static constexpr std::int64_t turn = std::int64_t(1) << 32;  // units of a whole edge
  static constexpr std::uint32_t nobody = 0xffffffffu;
  ColumnWalk& walk;
  const ColumnView& list = walk.list_;
  ColumnWalk::Group& group = walk.group;
  ColumnWalk::Candidates& candidates = walk.candidates;
  ColumnWalk::Column& column = walk.column_;

  PERRIN_INLINE void look_around() const {
    const ColumnGrid& grid = list.grid;
    const auto turns = [](std::int32_t a, std::int32_t n) {
      return a >= 0 ? a / n : -((n - 1 - a) / n);
    };
    const std::int32_t nu = grid.cells[0], nv = grid.cells[1];
    const auto u0 = std::int32_t(column.number / nv), v0 = std::int32_t(column.number % nv);
    column.count = 0;
    for (std::int32_t u = u0 - grid.reach[0]; u <= u0 + grid.reach[0]; ++u)
      for (std::int32_t v = v0 - grid.reach[1]; v <= v0 + grid.reach[1]; ++v) {
        const std::int32_t mu = turns(u, nu), mv = turns(v, nv);
        const auto& a = list.edge[grid.axis[0]];
        const auto& b = list.edge[grid.axis[1]];
        const auto i = Coordinate(mu), j = Coordinate(mv);
        const double wide_u = 4294967296.0 / nu / list.per_length.x,
                     wide_v = 4294967296.0 / nv / list.per_length.y;
        column.around[column.count++] = {
            list.start + (std::int64_t(u - mu * nu) * nv + (v - mv * nv)) * grid.cells[2],
            {u * wide_u, v * wide_v},
            {(u + 1) * wide_u, (v + 1) * wide_v},
            i * a.x + j * b.x,
            i * a.y + j * b.y,
            i * a.z + j * b.z};
      }
  }

  /// Particles from the group's place on that are not far from one another; `end`: of their column
  /// or cell.
  PERRIN_INLINE void gather(std::int64_t end) const {
    group.count = 0;
    const std::int64_t place = walk.place_;
    const Real limit = Real(list.range);
    for (std::int64_t k = place; k < end && group.count < most; ++k) {
      const std::uint32_t i = list.order[k];
      const Position p = list.position[i];
      const int m = group.count;
      const Real x = difference(list.x[k], list.x[place], list.unit),
                 y = difference(list.y[k], list.y[place], list.unit),
                 z = difference(list.z[k], list.z[place], list.unit);
      if (std::abs(x) > limit || std::abs(y) > limit || std::abs(z) > limit) break;
      group.index[m] = i, group.x[m] = x, group.y[m] = y, group.z[m] = z;
      for (int a = 0; a < 3; ++a) {
        const std::int64_t at = fraction_along(p, list.grid.axis[a]);
        walk.group_low_[a] = m == 0 ? at : std::min(walk.group_low_[a], at);
        walk.group_high_[a] = m == 0 ? at : std::max(walk.group_high_[a], at);
      }
      ++group.count;
    }
  }

  PERRIN_INLINE bool is_wanted() const {
    for (int m = 0; m < group.count; ++m)
      if (list.own.meets(group.index[m], 1)) return true;
    return false;
  }

  /// The next group that is wanted; one without particles at the end.
  PERRIN_INLINE void next_group() const {
    const std::int64_t bins = list.grid.cells[2];
    for (walk.place_ += group.count; walk.place_ < walk.end_; walk.place_ += group.count) {
      while (list.start[walk.bin_ + 1] <= walk.place_) ++walk.bin_;
      if (walk.bin_ / bins != column.number) {
        column.number = walk.bin_ / bins;
        look_around();
      }
      const std::int64_t stop =
          list.start[list.sorted ? (column.number + 1) * bins : walk.bin_ + 1];
      gather(std::min(walk.end_, stop));
      if (is_wanted()) {
        for (int a = 0; a < 2; ++a) {
          const double per_length = a == 0 ? list.per_length.x : list.per_length.y;
          walk.low_[a] = double(walk.group_low_[a]) / per_length;
          walk.high_[a] = double(walk.group_high_[a]) / per_length;
        }
        walk.neighbor_ = -1, walk.image_ = walk.last_image_ = 0;
        walk.first_ = walk.last_ = 0;
        return;
      }
    }
    group.count = 0;
  }

  /// Of the places begin … end - 1, in order along the column, the first that is not before
  /// `limit`.
  PERRIN_INLINE std::int32_t first_from(std::int32_t begin, std::int32_t end,
                                        std::int64_t limit) const {
    const auto bound = std::uint32_t(limit);
    for (;; begin += width) {
      int before = 0;
      const int left = end - begin;
      const std::uint32_t* w = list.w + begin;
#pragma omp simd reduction(+ : before) simdlen(width)
      for (int k = 0; k < width; ++k) before += w[k] < bound && k < left ? 1 : 0;
      if (before < width) return begin + before;
    }
  }

  /// What of the next neighbour may be near, and in which images, beginning after image_; false:
  /// there is no neighbour left.
  PERRIN_INLINE bool next_neighbor() const {
    if (++walk.neighbor_ >= column.count) return false;
    const auto& near = column.around[walk.neighbor_];
    walk.image_ = walk.last_image_ = 0;  // in none
    if (!list.sorted) {                  // cells next to the group's own
      const std::int64_t cell = walk.bin_ % list.grid.cells[2];
      walk.from_ = cell - list.grid.reach[2], walk.to_ = cell + list.grid.reach[2];
      walk.image_ = -2, walk.last_image_ = 1;
      return true;
    }
    const double du =
        std::max(0.0, std::max(walk.low_[0] - near.high[0], near.low[0] - walk.high_[0]));
    const double dv =
        std::max(0.0, std::max(walk.low_[1] - near.high[1], near.low[1] - walk.high_[1]));
    if (du > list.range || dv > list.range) return true;
    // In a skewed box distances along the axes are no legs of a right angle.
    const double rest = list.range * list.range - (list.orthogonal ? du * du + dv * dv : 0);
    if (rest <= 0) return true;
    const auto reach = std::int64_t(std::sqrt(rest) * list.per_length.z) + 1 + list.grid.slack;
    walk.from_ = walk.group_low_[2] - reach, walk.to_ = walk.group_high_[2] + reach;
    walk.image_ = walk.from_ < 0 ? -2 : -1, walk.last_image_ = walk.to_ >= turn ? 1 : 0;
    return true;
  }

  /// The next places of the neighbours, which may be none; false: there is no neighbour left.
  PERRIN_INLINE bool next_places() const {
    while (++walk.image_ > walk.last_image_)
      if (!next_neighbor()) return false;
    const std::int64_t bins = list.grid.cells[2], whole = list.sorted ? turn : bins;
    const auto& near = column.around[walk.neighbor_];
    const std::int64_t a = std::max<std::int64_t>(walk.from_ - walk.image_ * whole, 0),
                       b = std::min<std::int64_t>(walk.to_ - walk.image_ * whole, whole - 1);
    walk.first_ = walk.last_ = 0;
    if (a > b) return true;
    if (!list.sorted) {
      walk.first_ = near.bins[a], walk.last_ = near.bins[b + 1];
      return true;
    }
    const std::int32_t *low = near.bins + ((a * bins) >> 32),
                       *high = near.bins + ((b * bins) >> 32);
    walk.first_ = first_from(low[0], low[1], a);
    walk.last_ = b + 1 < turn ? first_from(high[0], high[1], b + 1) : high[1];
    return true;
  }

  /// Those places become candidates, as long as there is room.
  PERRIN_INLINE void add() const {
    const auto& near = column.around[walk.neighbor_];
    const auto& along = list.edge[list.grid.axis[2]];
    const auto turns = Coordinate(walk.image_);
    const std::int64_t place = walk.place_;
    const Coordinate x0 = list.x[place] - near.x - turns * along.x,
                     y0 = list.y[place] - near.y - turns * along.y,
                     z0 = list.z[place] - near.z - turns * along.z;
    ColumnWalk::Candidates& c = candidates;
    const int n = std::min(walk.last_ - walk.first_, room - c.n);
    for (int k0 = 0; k0 < n; k0 += width) {
      const std::int32_t from = walk.first_ + k0;
      const int to = c.n + k0;
#pragma omp simd simdlen(width)
      for (int k = 0; k < width; ++k) {
        c.x[to + k] = difference(list.x[from + k], x0, list.unit);
        c.y[to + k] = difference(list.y[from + k], y0, list.unit);
        c.z[to + k] = difference(list.z[from + k], z0, list.unit);
        c.type[to + k] = list.type[from + k];
        c.index[to + k] = c.who[to + k] = list.order[from + k];
      }
    }
    c.n += n, walk.first_ += n;
  }

  PERRIN_INLINE void find() const {
    ColumnWalk::Candidates& c = candidates;
    c.n = 0;
    do {
      if (walk.first_ < walk.last_) add();
      walk.more_ = c.n == room;
      if (walk.more_) return;
    } while (next_places());
    for (int k = c.n; k < c.padded(); ++k) {
      c.x[k] = c.y[k] = c.z[k] = list.far, c.type[k] = 0;
      c.index[k] = group.index[0], c.who[k] = nobody;
    }
  }
};

namespace {

struct NextGroup {
  ColumnWalk& walk;
  PERRIN_INLINE void operator()(std::int64_t) const { ColumnSteps{walk}.next_group(); }
};
struct Find {
  ColumnWalk& walk;
  PERRIN_INLINE void operator()(std::int64_t) const { ColumnSteps{walk}.find(); }
};

}  // namespace

ColumnWalk::ColumnWalk(const ColumnView& list, std::int64_t part)
    : GroupWalk(list.exclusions, list.id, list.index, list.far),
      list_(list),
      end_(std::min(list.n, (part + 1) * part_size)),
      place_(part * part_size) {
  bin_ = list.grid.bin(list.position[list.order[place_]]);
}

bool ColumnWalk::next() {
  run_range(NextGroup{*this}, 0, 1);
  more_ = group.count > 0;
  takers.count = group.count;
  for (int m = 0; m < group.count; ++m) takers.member[m] = std::uint16_t(m);
  return more_;
}

bool ColumnWalk::find() {
  if (!more_) return false;
  run_range(Find{*this}, 0, 1);
  std::fill_n(takers.vectors, takers.count, std::uint16_t(candidates.padded() / width));
  return true;
}

}  // namespace perrin
