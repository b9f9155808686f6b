#include "neighbor/cells/crowding.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "neighbor/verlet_list/row_grid.h"

namespace perrin {
namespace {

/// One of `stride` particles, by id, since the order in memory must not matter. Not at a fixed
/// interval: in a lattice these would be planes.
bool is_sample(std::int64_t id, std::int64_t stride) {
  auto word = std::uint64_t(id) * 0x9e3779b97f4a7c15u;
  word = (word ^ (word >> 29)) * 0xbf58476d1ce4e5b9u;
  return (word >> 32) % std::uint64_t(stride) == 0;
}

/// Pairs of samples that share a cell, each counted twice. `samples`: receives their number.
double pairs_sharing(const Position* position, const std::uint32_t* index, std::int64_t n,
                     std::int64_t stride, const RowGrid& grid, std::int64_t& samples) {
  std::vector<std::uint32_t> count(std::size_t(grid.cells.x) * std::size_t(grid.cells.y) *
                                   std::size_t(grid.cells.z));
  samples = 0;
  for (std::int64_t id = 0; id < n; ++id) {
    if (!is_sample(id, stride)) continue;
    ++count[grid.key(position[index[id]])];
    ++samples;
  }
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
  const Box& box = particles.box();
  const auto positions = particles.position().to_host();
  const auto n = std::int64_t(positions.size());
  Crowding crowding{double(n) / padded_volume(box), 1, {}};
  crowding.by_type.assign(std::max<std::size_t>(1, particles.properties().types.size()), 0);
  for (const Position& p : positions) {
    if (p.type() >= crowding.by_type.size()) crowding.by_type.resize(p.type() + 1);
    ++crowding.by_type[p.type()];
  }
  if (n < 2) return crowding;
  const std::int64_t stride = n / 1000000 + 1;
  const RowGrid grid = make_row_grid(box, reach, std::max(64.0, 4.0 * double(n) / double(stride)));
  const auto cells = std::int64_t(grid.cells.x) * grid.cells.y * grid.cells.z;
  double folded = padded_volume(box);  // of the folded box
  for (int axis = 0; axis < 3; ++axis) folded = std::ldexp(folded, -grid.fold[axis]);
  const auto index = particles.index().to_host();
  std::int64_t samples = 0;
  const double pairs = pairs_sharing(positions.data(), index.data(), n, stride, grid, samples);
  if (samples < 2) return crowding;
  double seen = pairs / double(samples) * double(stride) * double(cells) / folded;
  seen -=
      double(n) / folded - crowding.density;  // what is folded onto the same cells from elsewhere
  if (seen > crowding.density) {
    crowding.occupied = crowding.density / seen;
    crowding.density = seen;
  }
  return crowding;
}

}  // namespace perrin
