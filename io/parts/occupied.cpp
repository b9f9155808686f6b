#include "io/parts/occupied.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace perrin::parts {
namespace {

constexpr double most_cells = 1 << 23;  // of one type

int floor_divided(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

std::size_t index_of(const std::array<int, 3>& cells, int x, int y, int z) {
  return (std::size_t(x) * std::size_t(cells[1]) + std::size_t(y)) * std::size_t(cells[2]) +
         std::size_t(z);
}

}  // namespace

Occupied::Grid Occupied::make_grid(double width) const {
  Grid grid;
  double all = 1;
  for (int axis = 0; axis < box_.dimension; ++axis) all *= std::max(1.0, heights_[axis] / width);
  const double wider = std::max(1.0, std::pow(all / most_cells, 1.0 / box_.dimension));
  std::size_t count = 1;
  for (int axis = 0; axis < box_.dimension; ++axis) {
    const double cells = std::floor(heights_[axis] / (width * wider));
    grid.cells[std::size_t(axis)] = int(std::clamp(cells, 1.0, most_cells));
    count *= std::size_t(grid.cells[std::size_t(axis)]);
  }
  grid.last.assign(count, none);
  return grid;
}

void Occupied::add_type(const std::vector<double>& distances, double smallest, double largest) {
  for (std::size_t t = 0; t < distance_.size(); ++t) distance_[t].push_back(distances[t]);
  distance_.push_back(distances);
  Type& type = types_.emplace_back();
  if (smallest > 0) type.grids.push_back(make_grid(smallest));
  if (smallest > 0 && largest > 2 * smallest) type.grids.push_back(make_grid(largest));
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

std::uint32_t& Occupied::last(Grid& grid, Vec3<double> r) const {
  const auto cell = place(grid, r);
  return grid.last[index_of(grid.cells, cell[0], cell[1], cell[2])];
}

std::array<int, 3> Occupied::reach(const Grid& grid, double distance) const {
  std::array<int, 3> cells{0, 0, 0};
  for (int axis = 0; axis < box_.dimension; ++axis) {
    const auto k = std::size_t(axis);
    const double reached = std::ceil(distance * grid.cells[k] / heights_[axis]);
    cells[k] = int(std::min(reached, most_cells));
  }
  return cells;
}

double Occupied::cost(const Type& type, const Grid& grid, double distance) const {
  double cells = 1, share = 1;
  const auto around = reach(grid, distance);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    cells *= 2 * around[axis] + 1;
    share *= double(2 * around[axis] + 1) / grid.cells[axis];
  }
  return cells + share * double(type.count);
}

std::int64_t Occupied::conflict(Vec3<double> r, std::uint32_t type,
                                std::span<const std::uint32_t> except) const {
  const Vec3<double> inner = wrapped(r);
  for (std::size_t t = 0; t < types_.size(); ++t) {
    const double distance = distance_[type][t];
    const Type& other = types_[t];
    if (!(distance > 0) || other.count == 0) continue;
    std::size_t grid = 0;
    if (other.grids.size() > 1 &&
        cost(other, other.grids[1], distance) < cost(other, other.grids[0], distance))
      grid = 1;
    const std::int64_t found = near(other, grid, inner, distance, except);
    if (found >= 0) return found;
  }
  return -1;
}

std::int64_t Occupied::near(const Type& type, std::size_t which, Vec3<double> r, double distance,
                            std::span<const std::uint32_t> except) const {
  const Grid& grid = type.grids[which];
  const auto center = place(grid, r), around = reach(grid, distance);
  const auto edges = box_.edges();
  std::array<int, 3> low, high;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    low[axis] = center[axis] - around[axis], high[axis] = center[axis] + around[axis];
    if (box_.periodic[axis]) continue;
    low[axis] = std::max(low[axis], 0), high[axis] = std::min(high[axis], grid.cells[axis] - 1);
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
        for (; j != none; j = before_[which][j]) {
          const Vec3<double> d = inner_[j] - seen;
          if (dot(d, d) < distance * distance && std::ranges::find(except, j) == except.end())
            return std::int64_t(j);
        }
      }
  return -1;
}

void Occupied::add(Vec3<double> r, std::uint32_t type) {
  const auto id = std::uint32_t(position_.size());
  const Vec3<double> inner = wrapped(r);
  Type& own = types_[type];
  for (std::size_t k = 0; k < most_grids; ++k)
    before_[k].push_back(k < own.grids.size() ? std::exchange(last(own.grids[k], inner), id)
                                              : none);
  ++own.count;
  position_.push_back(r);
  inner_.push_back(inner);
  type_.push_back(type);
}

void Occupied::remove_last() {
  Type& own = types_[type_.back()];
  for (std::size_t k = 0; k < most_grids; ++k) {
    if (k < own.grids.size()) last(own.grids[k], inner_.back()) = before_[k].back();
    before_[k].pop_back();
  }
  --own.count;
  position_.pop_back();
  inner_.pop_back();
  type_.pop_back();
}

}  // namespace perrin::parts
