#include "neighbor/cells/crowding.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "neighbor/verlet_list/row_plan.h"

namespace perrin {
namespace {

/// Pairs of samples that share a cell, each counted twice. Samples by id: the order in memory must
/// not matter.
template <class Cell>
double pairs_sharing(const Position* position, const std::uint32_t* index, std::int64_t n,
                     std::int64_t stride, std::int64_t cells, const Cell& cell) {
  std::vector<std::uint32_t> count(static_cast<std::size_t>(cells));
  for (std::int64_t id = 0; id < n; id += stride) ++count[cell(position[index[id]])];
  double pairs = 0;
  for (const std::uint32_t c : count) pairs += double(c) * (double(c) - 1);
  return pairs;
}

}  // namespace

double padded_volume(const Box& box) {
  double volume = box.volume();
  for (int axis = 0; axis < box.dimension; ++axis)
    if (!box.periodic[std::size_t(axis)]) volume *= 1 + 2 * box.padding[axis];
  return volume;
}

double Crowding::particles() const { return std::accumulate(by_type.begin(), by_type.end(), 0.0); }

Crowding measure_crowding(const Particles& particles, double reach) {
  const Box& box = particles.box;
  const auto positions = particles.position.to_host();
  const auto n = std::int64_t(positions.size());
  Crowding crowding{double(n) / padded_volume(box), 1, {}};
  crowding.by_type.assign(std::max<std::size_t>(1, particles.types.size()), 0);
  for (const Position& p : positions) {
    if (p.type() >= crowding.by_type.size()) crowding.by_type.resize(p.type() + 1);
    ++crowding.by_type[p.type()];
  }
  if (n < 2) return crowding;
  const std::int64_t stride = n / 1000000 + 1, samples = (n + stride - 1) / stride;
  const RowGrid grid = make_row_grid(box, reach, std::max(64.0, 4.0 * double(samples)));
  const auto cells = std::int64_t(grid.cells.x) * grid.cells.y * grid.cells.z;
  double folded = padded_volume(box);  // of the folded box
  for (int axis = 0; axis < 3; ++axis) folded = std::ldexp(folded, -grid.fold[axis]);
  const auto index = particles.index.to_host();
  const double pairs = pairs_sharing(positions.data(), index.data(), n, stride, cells,
                                     [&](const Position& p) { return std::size_t(grid.key(p)); });
  double seen = pairs / double(samples) * double(stride) * double(cells) / folded;
  seen -=
      double(n) / folded - crowding.density;  // what is folded onto the same cells from elsewhere
  if (seen > crowding.density) {
    crowding.occupied = crowding.density / seen;
    crowding.density = seen;
  }
  return crowding;
}

double quick_density(const Particles& particles, double reach) {
  const std::int64_t n = particles.size(), stride = n / 65536 + 1;
  const Box& box = particles.box;
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
  const auto cell = [&](const Position& p) {
    const std::int64_t y = cell_along(p.y, cells.y), z = cell_along(p.z, cells.z);
    return std::size_t((z * cells.y + y) * cells.x + cell_along(p.x, cells.x));
  };
  const double pairs = pairs_sharing(particles.position.data(), particles.index.data(), n, stride,
                                     std::int64_t(cells.x) * cells.y * cells.z, cell);
  const std::int64_t samples = (n + stride - 1) / stride;
  return std::max(pairs / (double(samples) * (padded_volume(box) / total)) * double(stride),
                  double(n) / box.volume() / 8);
}

}  // namespace perrin
