#include "io/parts/occupied.h"

#include <algorithm>
#include <cmath>

namespace perrin::parts {
namespace {

constexpr double most_cells = 1 << 23;  // of one type

int floor_divided(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

std::size_t index_of(const std::array<int, 3>& cells, int x, int y, int z) {
  return (std::size_t(x) * std::size_t(cells[1]) + std::size_t(y)) * std::size_t(cells[2]) +
         std::size_t(z);
}

}  // namespace

void Occupied::add_type(const std::vector<double>& distances, double width) {
  for (std::size_t t = 0; t < distance_.size(); ++t) distance_[t].push_back(distances[t]);
  distance_.push_back(distances);
  Grid grid;
  if (width > 0) {
    double all = 1;
    for (int axis = 0; axis < box_.dimension; ++axis) all *= std::max(1.0, heights_[axis] / width);
    const double wider = std::max(1.0, std::pow(all / most_cells, 1.0 / box_.dimension));
    for (int axis = 0; axis < box_.dimension; ++axis)
      grid.cells[std::size_t(axis)] =
          int(std::clamp(std::floor(heights_[axis] / (width * wider)), 1.0, most_cells));
    std::size_t count = 1;
    for (const int n : grid.cells) count *= std::size_t(n);
    grid.last.assign(count, none);
  }
  grids_.push_back(std::move(grid));
}

Vec3<double> Occupied::wrapped(Vec3<double> r, Image* image) const {
  Vec3<double> s = box_.fraction(r);
  for (int axis = 0; axis < 3; ++axis) {
    if (!box_.periodic[std::size_t(axis)]) continue;
    double whole = std::floor(s[axis]);
    if (s[axis] - whole >= 1) ++whole;  // rounded up to the upper face
    s[axis] -= whole;
    if (image) (*image)[axis] = std::int32_t(whole);
  }
  return box_.point(s);
}

std::array<int, 3> Occupied::place(const Grid& grid, Vec3<double> r) const {
  const Vec3<double> s = box_.fraction(r);
  std::array<int, 3> cell;
  for (int axis = 0; axis < 3; ++axis) {
    const int n = grid.cells[std::size_t(axis)];
    cell[std::size_t(axis)] = std::clamp(int(std::floor(s[axis] * n)), 0, n - 1);
  }
  return cell;
}

std::int64_t Occupied::conflict(Vec3<double> r, std::uint32_t type,
                                std::span<const std::uint32_t> except) const {
  const Vec3<double> inner = wrapped(r);
  for (std::size_t t = 0; t < grids_.size(); ++t) {
    const double distance = distance_[type][t];
    if (!(distance > 0) || grids_[t].last.empty()) continue;
    const std::int64_t found = near(grids_[t], inner, distance, except);
    if (found >= 0) return found;
  }
  return -1;
}

std::int64_t Occupied::near(const Grid& grid, Vec3<double> r, double distance,
                            std::span<const std::uint32_t> except) const {
  const auto center = place(grid, r);
  const auto edges = box_.edges();
  std::array<int, 3> low, high;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int n = grid.cells[axis];
    const bool flat = int(axis) >= box_.dimension;
    const int reach = flat ? 0 : int(std::ceil(distance * n / heights_[int(axis)]));
    low[axis] = center[axis] - reach, high[axis] = center[axis] + reach;
    if (box_.periodic[axis]) continue;
    low[axis] = std::max(low[axis], 0), high[axis] = std::min(high[axis], n - 1);
  }
  for (int x = low[0]; x <= high[0]; ++x)
    for (int y = low[1]; y <= high[1]; ++y)
      for (int z = low[2]; z <= high[2]; ++z) {
        const int u = floor_divided(x, grid.cells[0]), v = floor_divided(y, grid.cells[1]),
                  w = floor_divided(z, grid.cells[2]);
        const Vec3<double> seen =
            r - (double(u) * edges[0] + double(v) * edges[1] + double(w) * edges[2]);
        std::uint32_t j = grid.last[index_of(grid.cells, x - u * grid.cells[0],
                                             y - v * grid.cells[1], z - w * grid.cells[2])];
        for (; j != none; j = before_[j]) {
          const Vec3<double> d = inner_[j] - seen;
          if (dot(d, d) < distance * distance && std::ranges::find(except, j) == except.end())
            return std::int64_t(j);
        }
      }
  return -1;
}

void Occupied::add(Vec3<double> r, std::uint32_t type) {
  Grid& grid = grids_[type];
  const auto id = std::uint32_t(position_.size());
  const Vec3<double> inner = wrapped(r);
  std::uint32_t before = none;
  if (!grid.last.empty()) {
    const auto cell = place(grid, inner);
    std::uint32_t& last = grid.last[index_of(grid.cells, cell[0], cell[1], cell[2])];
    before = last;
    last = id;
  }
  position_.push_back(r);
  inner_.push_back(inner);
  type_.push_back(type);
  before_.push_back(before);
}

void Occupied::remove_last() {
  Grid& grid = grids_[type_.back()];
  if (!grid.last.empty()) {
    const auto cell = place(grid, inner_.back());
    grid.last[index_of(grid.cells, cell[0], cell[1], cell[2])] = before_.back();
  }
  position_.pop_back();
  inner_.pop_back();
  type_.pop_back();
  before_.pop_back();
}

}  // namespace perrin::parts
