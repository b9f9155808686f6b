#include "neighbor/tiles/axis_orders.h"

#include <cmath>
#include <vector>

#include "engine/device/parallel.h"
#include "neighbor/sort/short_sort.h"

namespace perrin {
namespace {

/// The axes in the box as it is now. Any axis would do, since two particles are at least as far
/// apart as they are along it.
struct MeasureAxes {
  TileSearch search;
  JoiningAxis* axis;
  PERRIN_HD void operator()(std::int64_t a) const {
    const Metric& m = *search.metric;
    const Vec3<std::int32_t> cells = search.geometry.cells, step = axis[a].step;
    const double one = 4294967296.0;
    const double u = one / cells.x, v = one / cells.y, w = one / cells.z;  // a cell's edges
    const Vec3<double> edge[3] = {{double(m.xx) * u, 0, 0},
                                  {double(m.xy) * v, double(m.yy) * v, 0},
                                  {double(m.xz) * w, double(m.yz) * w, double(m.zz) * w}};
    const Vec3<double> d =
        double(step.x) * edge[0] + double(step.y) * edge[1] + double(step.z) * edge[2];
    const double length = sqrt(dot(d, d));
    const Vec3<double> along = (1 / length) * d;
    double half = 0;  // of what a cell takes up along the axis
    for (const Vec3<double>& e : edge) half += fabs(dot(along, e)) / 2;
    const double scale = (AxisOrdersView::last_place + 1) / (2 * half);
    // One more for the fractions of both places, one for rounding.
    const double left = ceil((sqrt(double(search.reach2)) * (1 + 1e-5) - length) * scale) + 2;
    axis[a].along = {Real(along.x), Real(along.y), Real(along.z)};
    axis[a].low = Real(-half), axis[a].scale = Real(scale);
    axis[a].left = std::int32_t(left < -1e9 ? -1e9 : left > 1e9 ? 1e9 : left);
  }
};

struct PackWords {
  TileSearch search;
  AxisOrdersView v;
  std::uint32_t* words;
  PERRIN_HD void operator()(std::int64_t i) const {
    const TileGeometry& g = search.geometry;
    const Position p = search.position[i];
    const Vec3<std::int32_t> cell = g.cell(p);
    const std::uint32_t key = g.key(cell.x, cell.y, cell.z);
    const Metric metric = *search.metric;
    const Real3 r = g.template vector<true>(metric, g.template local<true>(p, g.origin(cell)));
    const std::uint32_t index = (std::uint32_t(i) - search.cell_start[key]) & 0xffffu;
    for (std::int32_t a = 0; a < v.axes; ++a) {
      const JoiningAxis& axis = v.axis[a];
      const Real at = axis.along.x * r.x + axis.along.y * r.y + axis.along.z * r.z;
      words[a * v.n + i] = short_sort_word(short_sort_map(at, axis.low, axis.scale), index);
    }
  }
};

struct OrderOffsets {
  const std::uint32_t* start;
  std::int64_t cells, n;
  std::int32_t axes;
  std::int32_t* offsets;
  PERRIN_HD void operator()(std::int64_t k) const {
    const std::int64_t axis = k / cells, cell = k % cells;
    offsets[k] = std::int32_t(axis * n + (axis < axes ? start[cell] : 0));
  }
};

}  // namespace

AxisOrders::AxisOrders(const Particles& particles, const TileGeometry& geometry) {
  std::vector<JoiningAxis> axes;
  const Vec3<std::int32_t>& reach = geometry.reach;
  for (int z = 0; z <= reach.z; ++z)
    for (int y = z > 0 ? -reach.y : 0; y <= reach.y; ++y)
      for (int x = z > 0 || y > 0 ? -reach.x : 1; x <= reach.x; ++x)
        axes.push_back({{x, y, z}, {}, 0, 0, 0});
  axes_ = std::int32_t(axes.size());
  axis_ = {particles.device(), std::span<const JoiningAxis>(axes)};
  words_ = {particles.device(), axes_ * particles.size()};
  offsets_ = {particles.device(), axes_ * geometry.cell_count() + 1};
}

void AxisOrders::make(const TileSearch& search, const Particles& particles) {
  const Device& device = particles.device();
  const std::int64_t n = particles.size(), cells = search.geometry.cell_count();
  for_each(device, "axes of cells", axes_, MeasureAxes{search, axis_.data()});
  for_each(device, "offsets of orders", offsets_.size(),
           OrderOffsets{search.cell_start, cells, n, axes_, offsets_.data()});
  for_each(device, "keys of orders", n, PackWords{search, view(), words_.data()});
  short_sort(device, words_.data(), words_.data(), offsets_.data(), axes_ * cells);
}

}  // namespace perrin
