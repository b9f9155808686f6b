#include "io/placement.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace perrin::io {

Placement::Placement(const Box& box, double distance) : box_(box), distance_(distance) {
  for (int axis = 0; axis < 3; ++axis) {
    const double wide = distance > 0 ? box.length[axis] / distance : 1.0;
    cells_[axis] = int(std::clamp(std::floor(wide), 1.0, 200.0));
  }
  if (box.dimension == 2) cells_[2] = 1;
  members_.resize(std::size_t(cells_[0]) * std::size_t(cells_[1]) * std::size_t(cells_[2]));
}

Vec3<double> Placement::wrapped(Vec3<double> r) const {
  const Vec3<double> s = box_.fraction(r);
  for (int axis = 0; axis < 3; ++axis)
    if (box_.periodic[std::size_t(axis)]) r[axis] -= std::floor(s[axis]) * box_.length[axis];
  return r;
}

bool Placement::inside(Vec3<double> r) const {
  const Vec3<double> s = box_.fraction(r);
  for (int axis = 0; axis < 3; ++axis)
    if (!box_.periodic[std::size_t(axis)] && (s[axis] < 0 || s[axis] > 1)) return false;
  return true;
}

std::size_t Placement::cell(Vec3<double> r) const {
  const Vec3<double> s = box_.fraction(wrapped(r));
  std::size_t index = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const int k = std::clamp(int(s[axis] * cells_[axis]), 0, cells_[axis] - 1);
    index = index * std::size_t(cells_[axis]) + std::size_t(k);
  }
  return index;
}

bool Placement::fits(Vec3<double> r, std::int64_t except) const {
  if (distance_ <= 0) return true;
  const Vec3<double> s = box_.fraction(wrapped(r));
  int low[3], n[3];
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = std::clamp(int(s[axis] * cells_[axis]), 0, cells_[axis] - 1) - 1;
    n[axis] = 3;
    if (cells_[axis] < 3) low[axis] = 0, n[axis] = cells_[axis];
  }
  for (int a = 0; a < n[0]; ++a)
    for (int b = 0; b < n[1]; ++b)
      for (int c = 0; c < n[2]; ++c) {
        const int steps[3] = {a, b, c};
        std::size_t index = 0;
        for (int axis = 0; axis < 3; ++axis) {
          const int k = (low[axis] + steps[axis] + cells_[axis]) % cells_[axis];
          index = index * std::size_t(cells_[axis]) + std::size_t(k);
        }
        for (const std::uint32_t j : members_[index]) {
          if (j == except) continue;
          Vec3<double> d = positions_[j] - r;
          for (int axis = 0; axis < 3; ++axis)
            if (box_.periodic[std::size_t(axis)])
              d[axis] -= std::nearbyint(d[axis] / box_.length[axis]) * box_.length[axis];
          if (dot(d, d) < distance_ * distance_) return false;
        }
      }
  return true;
}

void Placement::add(Vec3<double> r) {
  members_[cell(r)].push_back(std::uint32_t(positions_.size()));
  positions_.push_back(r);
}

void Placement::remove_last() {
  members_[cell(positions_.back())].pop_back();
  positions_.pop_back();
}

Philox position_stream(std::uint64_t seed, std::uint64_t attempt, std::uint32_t id) {
  return keyed<Philox>(Purpose::initial_positions, seed, attempt, id);
}

std::vector<std::uint32_t> shuffled(Purpose purpose, std::uint64_t seed, std::uint32_t n) {
  std::vector<std::uint32_t> order(n);
  for (std::uint32_t k = 0; k < n; ++k) order[k] = k;
  Philox stream = keyed<Philox>(purpose, seed, 0, 0);
  for (std::uint32_t k = n; k > 1; --k) std::swap(order[k - 1], order[stream.below(k)]);
  return order;
}

Box centred_box(Vec3<double> length, int dimension, const std::array<bool, 3>& periodic) {
  Box box;
  box.dimension = dimension;
  box.length = length;
  box.periodic = periodic;
  if (dimension == 2) {
    box.length.z = 1;
    box.periodic[2] = true;
  }
  box.origin = -0.5 * box.length;
  return box;
}

}  // namespace perrin::io
