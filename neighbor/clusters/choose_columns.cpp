#include "neighbor/clusters/choose_columns.h"

#include <algorithm>
#include <cmath>

#include "neighbor/cells/crowding.h"
#include "neighbor/clusters/cluster_set.h"

namespace perrin {
namespace {

/// How much of each edge of the box particles take up: 1 if they are evenly spread, little for a
/// thin layer across the axis. From pairs that share one of 32 parts.
Vec3<double> taken_up(const Particles& particles) {
  constexpr std::uint32_t parts = 32;
  std::uint32_t count[3][parts] = {};
  const std::int64_t n = particles.size(), stride = n / 65536 + 1;
  double samples = 0;
  for (std::int64_t id = 0; id < n; id += stride, ++samples) {
    const Position& p = particles.position.data()[particles.index.data()[id]];
    for (int axis = 0; axis < 3; ++axis) ++count[axis][fraction_along(p, axis) >> 27];
  }
  Vec3<double> share{1, 1, 1};
  for (int axis = 0; axis < 3; ++axis) {
    double pairs = 0;
    for (const std::uint32_t c : count[axis]) pairs += double(c) * (double(c) - 1);
    const double even = samples * (samples - 1) / parts;
    if (pairs > 1.25 * even) share[axis] = even / pairs;  // and not chance
  }
  return share;
}

}  // namespace

ColumnGrid choose_columns(const Particles& particles, double reach) {
  const Box& box = particles.box;
  const auto heights = box.padded_heights();
  ColumnGrid grid{};
  // Tasks divide the axis along which the system is longest; columns stand along the middle one,
  // long enough for whole clusters. In two dimensions there is one layer of columns.
  int axes[3] = {0, 1, 2};
  const auto height = [&](int axis) { return axis < box.dimension ? heights[axis] : 0.0; };
  const Vec3<double> share = taken_up(particles);
  std::stable_sort(axes, axes + 3,
                   [&](int a, int b) { return share[a] * height(a) > share[b] * height(b); });
  grid.axis[0] = axes[0], grid.axis[1] = axes[2], grid.axis[2] = axes[1];

  const double per_cluster = cluster_size / quick_density(particles, reach);
  double edge = box.dimension == 2 ? std::sqrt(per_cluster) : std::cbrt(per_cluster);
  const double limit = double(std::max<std::int64_t>(16, particles.size() / 4));
  for (;; edge *= 1.1) {
    // Clusters must not be wider than half of the box (ClusterList::cut), so there are two columns.
    for (int k = 0; k < 2; ++k)
      grid.cells[k] =
          height(grid.axis[k]) == 0
              ? 1
              : std::int32_t(std::clamp(std::round(height(grid.axis[k]) / edge), 2.0, 1e6));
    if (double(grid.cells[0]) * grid.cells[1] <= limit) break;
  }
  grid.edge = edge;
  const double columns = double(grid.cells[0]) * grid.cells[1];
  grid.cells[2] = std::int32_t(std::clamp(std::round(height(grid.axis[2]) / (4 * edge)), 1.0,
                                          std::max(1.0, 4 * limit / columns)));
  for (int k = 0; k < 3; ++k) {
    const double h = height(grid.axis[k]);
    grid.reach[k] = h > 0 ? std::int32_t(std::ceil(reach / (h / grid.cells[k]))) : 0;
  }
  grid.slack = std::uint32_t(65536.0 / grid.cells[2]) + 2;
  return grid;
}

}  // namespace perrin
