#include "engine/system/closest_pair.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace perrin {
namespace {

/// Cells of about one edge length, each with the particles in it.
class Search {
 public:
  Search(const Configuration& c, double edge) : c_(c) {
    const auto heights = c.box.heights();
    smallest_ = std::numeric_limits<double>::infinity();
    for (int axis = 0; axis < 3; ++axis) {
      cells_[axis] = axis < c.box.dimension
                         ? static_cast<std::int32_t>(std::clamp(heights[axis] / edge, 1.0, 1000.0))
                         : 1;
      // With three cells or fewer a wrapping axis is searched whole.
      if (cells_[axis] > 3) smallest_ = std::min(smallest_, heights[axis] / cells_[axis]);
    }
    first_.assign(std::size_t(cells_.x) * std::size_t(cells_.y) * std::size_t(cells_.z), none);
    next_.assign(c.position.size(), none);
    fraction_.resize(c.position.size());
    for (std::uint32_t i = 0; i < c.position.size(); ++i) {
      auto s = c.box.fraction(c.position[i]);
      for (int axis = 0; axis < 3; ++axis)
        if (c.box.periodic[static_cast<std::size_t>(axis)]) s[axis] -= std::floor(s[axis]);
      fraction_[i] = s;
      if (is_absent(c.types[c.type[i]])) continue;  // nobody finds it
      std::uint32_t& head = first_[slot(cell_of(s))];
      next_[i] = head;
      head = i;
    }
  }

  /// Exact where it is not above the smallest height of a cell.
  ClosestPair find() const {
    ClosestPair best{0, 0, std::numeric_limits<double>::infinity()};
    double best2 = best.distance;
    for (std::uint32_t i = 0; i < fraction_.size(); ++i) {
      if (is_absent(c_.types[c_.type[i]])) continue;
      const auto home = cell_of(fraction_[i]);
      for (const std::int32_t z : around(home.z, 2))
        for (const std::int32_t y : around(home.y, 1))
          for (const std::int32_t x : around(home.x, 0))
            for (std::uint32_t j = first_[slot({x, y, z})]; j != none; j = next_[j]) {
              if (j <= i) continue;
              const double d2 = distance2(i, j);
              if (d2 < best2) best2 = d2, best = {i, j, std::sqrt(d2)};
            }
    }
    return best;
  }
  double exact_below() const { return smallest_; }

 private:
  static constexpr std::uint32_t none = ~0u;

  Vec3<std::int32_t> cell_of(Vec3<double> s) const {
    Vec3<std::int32_t> cell;
    for (int axis = 0; axis < 3; ++axis)
      cell[axis] =
          std::clamp(static_cast<std::int32_t>(s[axis] * cells_[axis]), 0, cells_[axis] - 1);
    return cell;
  }
  std::size_t slot(Vec3<std::int32_t> c) const {
    return (std::size_t(c.z) * std::size_t(cells_.y) + std::size_t(c.y)) * std::size_t(cells_.x) +
           std::size_t(c.x);
  }
  std::vector<std::int32_t> around(std::int32_t home, int axis) const {
    std::vector<std::int32_t> list;
    const std::int32_t n = cells_[axis];
    if (n <= 3) {
      for (std::int32_t k = 0; k < n; ++k) list.push_back(k);
      return list;
    }
    for (std::int32_t k = home - 1; k <= home + 1; ++k) {
      if (c_.box.periodic[static_cast<std::size_t>(axis)])
        list.push_back((k + n) % n);
      else if (k >= 0 && k < n)
        list.push_back(k);
    }
    return list;
  }
  double distance2(std::uint32_t i, std::uint32_t j) const {
    Vec3<double> s = fraction_[i] - fraction_[j];
    for (int axis = 0; axis < 3; ++axis)
      if (c_.box.periodic[static_cast<std::size_t>(axis)]) s[axis] -= std::nearbyint(s[axis]);
    const Vec3<double> r = c_.box.point(s) - c_.box.origin;
    return dot(r, r);
  }

  const Configuration& c_;
  Vec3<std::int32_t> cells_{};
  double smallest_;
  std::vector<std::uint32_t> first_, next_;
  std::vector<Vec3<double>> fraction_;
};

}  // namespace

std::optional<ClosestPair> closest_pair(const Configuration& c) {
  const std::size_t n = c.position.size();
  if (n < 2) return std::nullopt;
  const double share = c.box.volume() / static_cast<double>(n);
  for (double edge = 1.2 * std::pow(share, 1.0 / c.box.dimension);; edge *= 2) {
    const Search search(c, edge);
    const ClosestPair pair = search.find();
    if (pair.distance <= search.exact_below()) return pair;
  }
}

}  // namespace perrin
