#include "pair_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/device/parallel.h"

namespace perrin::analysis {
namespace {

struct Count {
  const Position* position;
  CellCounter counter;
  std::int32_t x, y, z;
  PERRIN_HD void operator()(std::int64_t i) const {
    const Position p = position[i];
    const std::uint32_t row =
        std::uint32_t(cell_along(p.z, z)) * std::uint32_t(y) + std::uint32_t(cell_along(p.y, y));
    counter(i, row * std::uint32_t(x) + std::uint32_t(cell_along(p.x, x)));
  }
};

struct Copy {
  const Position* from;
  const std::uint32_t* member;
  Position* to;
  PERRIN_HD void operator()(std::int64_t k) const { to[k] = from[member[k]]; }
};

}  // namespace

double half_height(const Box& box) {
  const Vec3<double> heights = box.heights();
  double least = std::numeric_limits<double>::max();
  for (int a = 0; a < box.dimension; ++a)
    if (box.periodic[std::size_t(a)]) least = std::min(least, heights[a] / 2);
  return least;
}

PairGrid::PairGrid(const Device& device, std::int64_t particles, const Box& box, double distance)
    : lengths_(box), distance_(distance), seen_(distance), sorted_(device, particles) {
  divide(box);
}

void PairGrid::divide(const Box& box) {
  lengths_ = Lengths(box);
  const Vec3<double> heights = box.padded_heights();
  const std::array<std::int32_t, 3> before = count_;
  for (int a = 0; a < 3; ++a)
    count_[std::size_t(a)] =
        a < box.dimension ? std::int32_t(std::clamp(std::floor(heights[a] / seen_), 1.0, 1024.0))
                          : 1;
  // Not many more cells than particles.
  const std::int64_t particles = sorted_.size();
  const auto cells = [&] { return std::int64_t(count_[0]) * count_[1] * count_[2]; };
  while (cells() > 2 * particles + 64) *std::max_element(count_.begin(), count_.end()) /= 2;
  if (count_ != before) cells_ = CellSort(sorted_.device(), particles, cells());
}

void PairGrid::build(const Position* positions, const Box& box) {
  if (const double most = half_height(box); distance_ > most * (1 + 1e-12))
    throw UserError(
        fmt::format("the range of pairs, {:.6g}, exceeds half the shortest distance between "
                    "opposite faces of the box, which has become {:.6g}",
                    distance_, most));
  seen_ = distance_;
  sort(positions, box);
}

void PairGrid::build_within(const Position* positions, const Box& box) {
  seen_ = std::min(distance_, half_height(box));
  sort(positions, box);
}

void PairGrid::sort(const Position* positions, const Box& box) {
  divide(box);
  const Device& device = sorted_.device();
  for_each(device, "cells of pairs", sorted_.size(),
           Count{positions, cells_.counter(), count_[0], count_[1], count_[2]});
  cells_.distribute();
  for_each(device, "order of pairs", sorted_.size(),
           Copy{positions, cells_.rank(nullptr).member, sorted_.data()});
}

PairGrid::View PairGrid::view() const {
  return {sorted_.size(), cells_.start(),
          sorted_.data(), cells_.rank(nullptr).member,
          lengths_,       {count_[0], count_[1], count_[2]},
          seen_ * seen_};
}

}  // namespace perrin::analysis
