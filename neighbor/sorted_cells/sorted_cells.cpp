#include "neighbor/sorted_cells/sorted_cells.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/device/parallel.h"
#include "neighbor/inline.h"
#include "neighbor/sort/short_sort.h"

namespace perrin {
namespace {

/// Words of a cell's particles in all its orders, not yet sorted.
struct PackWords {
  SortedCellView v;
  std::uint32_t* words;
  PERRIN_INLINE void operator()(std::int64_t cell) const {
    const std::int32_t begin = v.cells.start[cell], count = v.cells.start[cell + 1] - begin;
    std::int64_t at[3];
    v.numbers_of(cell, at);
    const Vec3<Coordinate> m = v.middle(at);
    const Coordinate *x = v.cells.x + begin, *y = v.cells.y + begin, *z = v.cells.z + begin;
    const auto last = Real((std::uint32_t(1) << (32 - v.index_bits)) - 1);
    for (int a = 0; a < v.axes; ++a) {
      const CellAxis axis = v.axis[a];
      std::uint32_t* const to = words + a * v.cells.n + begin;
#pragma omp simd
      for (std::int32_t k = 0; k < count; ++k) {
        const Real along = axis.along.x * difference(x[k], m.x, v.cells.unit) +
                           axis.along.y * difference(y[k], m.y, v.cells.unit) +
                           axis.along.z * difference(z[k], m.z, v.cells.unit);
        const Real place = (along - axis.low) * axis.scale;
        const Real inside = place > last ? last : place > Real(0) ? place : Real(0);
        to[k] = std::uint32_t(std::int32_t(inside)) << v.index_bits | std::uint32_t(k);
      }
    }
  }
};

}  // namespace

TraversalInput SortedCells::whole_cells(const TraversalInput& input) {
  TraversalInput whole = input;
  whole.settings.interaction_sorting = "none";
  whole.settings.cells = 1;
  return whole;
}

SortedCells::SortedCells(const TraversalInput& input)
    : cells_(whole_cells(input), true),
      range_(input.ranges.longest()),
      words_(input.particles.device(), SortedCellView::most_axes * input.particles.size()) {
  choose_axes();
}

bool SortedCells::fits() const {
  const ColumnGrid& grid = cells_.grid();
  return cells_.fits() && grid.reach[0] <= 1 && grid.reach[1] <= 1 && grid.reach[2] <= 1;
}

/// Axes are those that join the middles; any would do, since two particles are at least as far
/// apart as they are along it.
void SortedCells::choose_axes() {
  const ColumnGrid& grid = cells_.grid();
  const double unit = cells_.unit();
  SortedCellView& v = plan_;
  for (int k = 0; k < 3; ++k)
    v.step[k] = (1.0 / grid.cells[k]) * cells_.edge_in_units()[grid.axis[k]];
  v.axes = 0;
  const auto reach = [&](int k) { return std::min(grid.reach[k], 1); };
  for (int a = 0; a <= reach(0); ++a)
    for (int b = a > 0 ? -reach(1) : 0; b <= reach(1); ++b)
      for (int c = a > 0 || b > 0 ? -reach(2) : 1; c <= reach(2); ++c) {
        const Vec3<double> d =
            unit * (double(a) * v.step[0] + double(b) * v.step[1] + double(c) * v.step[2]);
        const double length = std::sqrt(dot(d, d));
        const Vec3<double> along = (1 / length) * d;
        double half = 0;
        for (const Vec3<double>& step : v.step) half += unit / 2 * std::abs(dot(along, step));
        const int bits = 32 - std::max(16, index_bits_);
        const double scale = std::exp2(bits) / (2 * half);
        // One more for the fractions of both places, one for rounding.
        const double left = std::ceil((range_ * (1 + 1e-5) - length) * scale) + 2;
        v.axis[v.axes++] = {{a, b, c},
                            {Real(along.x), Real(along.y), Real(along.z)},
                            Real(-half),
                            Real(scale),
                            std::int32_t(std::clamp(left, -1e9, 1e9))};
      }
}

void SortedCells::sort(const StepSort& step) {
  cells_.sort(step);
  order();
}

void SortedCells::follow_box(Real* limit2) {
  cells_.follow_box(limit2);
  order();
}

void SortedCells::order() {
  const Device& device = particles().device();
  if (device.halt().skipping()) return;
  const ColumnView cells = cells_.view();
  const std::int64_t count = view().cell_count();
  std::int32_t fullest = 1;
  for (std::int64_t c = 0; c < count; ++c)
    fullest = std::max(fullest, cells.start[c + 1] - cells.start[c]);
  if (met_.size() != count * plan_.most_axes) met_ = {device, count * plan_.most_axes};
  index_bits_ = std::max(16, int(std::bit_width(std::uint32_t(fullest - 1))));
  choose_axes();
  const PackWords pack{view(), words_.data()};
  for_pieces(device, count, 8,
             [&](std::int64_t begin, std::int64_t end) { run_range(pack, begin, end); });
  for (int a = 0; a < plan_.axes; ++a) {
    std::uint32_t* const words = words_.data() + a * cells.n;
    short_sort(device, words, words, cells.start, count);
  }
}

SortedCellView SortedCells::view() const {
  SortedCellView v = plan_;
  v.cells = cells_.view();
  v.words = words_.data();
  v.index_bits = index_bits_;
  v.met = met_.data();
  constexpr std::int64_t particles = 64;  // of a part, about
  const std::int64_t n = std::max<std::int64_t>(v.cells.n, 1);
  v.cells_of_part = int(std::clamp<std::int64_t>(particles * v.cell_count() / n, 1, 1024));
  return v;
}

Real* SortedCells::room_for_sums(int sums) const {
  const Device& device = particles().device();
  const std::int64_t wanted = (plan_.axes + 1) * sums * particles().size();
  if (sums_.size() < wanted) sums_ = {device, wanted};
  std::fill_n(met_.data(), met_.size(), 0);
  return sums_.data();
}

double particles_of_cell(const Box& box, double range, double density) {
  const auto heights = box.padded_heights();
  double cells = 1;
  for (int axis = 0; axis < box.dimension; ++axis)
    cells *= std::max(1.0, std::floor(heights[axis] / range));
  return density * padded_volume(box) / cells;
}

}  // namespace perrin
