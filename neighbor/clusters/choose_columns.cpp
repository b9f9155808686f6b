#include "neighbor/clusters/choose_columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/domain/decomposition.h"
#include "neighbor/cells/crowding.h"

namespace perrin {
namespace {

/// Up to 65 536 particles, by id: neither the order in memory nor the domains must matter.
struct Samples {
  const Particles& particles;
  std::span<const std::uint8_t> idle;  // [type]
  bool apart;
  std::int64_t n = particles.size(), stride = n / 65536 + 1;

  /// f(position) of those that this domain counts.
  template <class F>
  void each(const F& f) const {
    const Share own = apart ? particles.share() : Share{0, n};
    const std::uint32_t *index = particles.index().data(), *id = particles.id().data();
    for (std::int64_t k = 0; k < n; k += stride) {
      const std::int64_t i = index[k];
      if (i < own.begin || i >= own.end || id[i] != k) continue;
      const Position& p = particles.position().data()[i];
      if (idle.empty() || idle[p.type()] == 0) f(p);
    }
  }
  /// What all domains have counted.
  void add_up(std::vector<std::int64_t>& counts) const {
    if (apart) decomposition_of(particles.device()).sum(counts);
  }
};

double sum_of(std::span<const std::int64_t> counts) {
  return double(std::accumulate(counts.begin(), counts.end(), std::int64_t(0)));
}

double pairs_within(std::span<const std::int64_t> counts) {
  double pairs = 0;
  for (const std::int64_t c : counts) pairs += double(c) * (double(c) - 1);
  return pairs;
}

/// How much of each edge of the box particles take up: 1 if they are evenly spread, little for a
/// thin layer across the axis. From pairs that share one of 32 parts.
Vec3<double> taken_up(const Samples& samples) {
  constexpr std::size_t parts = 32;
  std::vector<std::int64_t> count(3 * parts, 0);
  samples.each([&](const Position& p) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      ++count[axis * parts + (fraction_along(p, int(axis)) >> 27)];
  });
  samples.add_up(count);
  Vec3<double> share{1, 1, 1};
  const double n = sum_of({count.data(), parts}), even = n * (n - 1) / double(parts);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double pairs = pairs_within({count.data() + axis * parts, parts});
    if (pairs > 1.25 * even) share[int(axis)] = even / pairs;  // and not chance
  }
  return share;
}

/// The density around a particle, as measure_crowding() has it, from a coarser look.
double quick_density(const Samples& samples, double reach) {
  const std::int64_t n = samples.n;
  const Box& box = samples.particles.box();
  const auto heights = box.padded_heights();
  const double limit = double(std::max<std::int64_t>(64, n));
  Vec3<std::int32_t> cells{};
  double total = 0;
  for (double edge = reach;; edge *= 1.3) {
    total = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const double most = std::min(limit, heights[axis] / edge);
      cells[axis] = axis < box.dimension ? std::max(1, std::int32_t(most)) : 1;
      total *= double(cells[axis]);
    }
    if (total <= limit) break;
  }
  std::vector<std::int64_t> count(std::size_t(cells.x) * std::size_t(cells.y) *
                                  std::size_t(cells.z));
  samples.each([&](const Position& p) {
    const std::int64_t y = cell_along(p.y, cells.y), z = cell_along(p.z, cells.z);
    ++count[std::size_t((z * cells.y + y) * cells.x + cell_along(p.x, cells.x))];
  });
  samples.add_up(count);
  const double counted = std::max(1.0, sum_of(count)), stride = double(samples.stride);
  const double volume = counted * (padded_volume(box) / total);
  return std::max(pairs_within(count) / volume * stride,
                  std::min(counted * stride, double(n)) / box.volume() / 8);
}

}  // namespace

ColumnGrid choose_columns(const Particles& particles, std::span<const std::uint8_t> idle,
                          int cluster_size, double reach, bool apart) {
  const Samples samples{particles, idle, apart};
  const Box& box = particles.box();
  const auto heights = box.padded_heights();
  ColumnGrid grid{};
  // Tasks divide the axis along which the system is longest; columns stand along the middle one,
  // long enough for whole clusters. In two dimensions there is one layer of columns.
  int axes[3] = {0, 1, 2};
  const auto height = [&](int axis) { return axis < box.dimension ? heights[axis] : 0.0; };
  const Vec3<double> share = taken_up(samples);
  std::stable_sort(axes, axes + 3,
                   [&](int a, int b) { return share[a] * height(a) > share[b] * height(b); });
  grid.axis[0] = axes[0], grid.axis[1] = axes[2], grid.axis[2] = axes[1];

  const double per_cluster = cluster_size / quick_density(samples, reach);
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
