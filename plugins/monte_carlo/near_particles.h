// Who is near a place, on the host, while particles move one after another. Those of each type are
// in cells of their own, as fine as the shortest range of the type: large particles among many
// small ones do not make the cells of these large.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/system/box.h"
#include "neighbor/ranges.h"

namespace perrin::monte_carlo {

class NearParticles {
 public:
  /// `position`: [id], with the type, in a box that is periodic along all axes.
  NearParticles(const Box& box, const Ranges& ranges, std::size_t types,
                std::vector<Position> position);

  const Position& position(std::uint32_t id) const { return position_[id]; }
  const std::vector<Position>& positions() const { return position_; }
  void move(std::uint32_t id, const Position& to);
  Real distance2(const Position& a, const Position& b) const { return metric_.distance2(a, b); }
  /// The squared range of two types, a little more.
  Real reach2(std::uint32_t a, std::uint32_t b) const { return reach2_[a * of_type_.size() + b]; }
  /// f(id) for all within the range of a particle at p, also for itself where it is near.
  template <class F>
  void for_each_near(const Position& p, const F& f) const;

 private:
  /// Cells of a type.
  struct Cells {
    Vec3<std::int32_t> count{1, 1, 1};
    std::vector<std::vector<std::uint32_t>> ids;
  };
  /// How far to look along an axis, in cells.
  struct Span {
    std::int32_t first, number;
  };
  static std::int32_t along(std::uint32_t fraction, std::int32_t count) {
    return std::int32_t((std::uint64_t(fraction) * std::uint32_t(count)) >> 32);
  }
  static std::size_t key(const Cells& cells, const Position& p) {
    return key(cells, along(p.x, cells.count.x), along(p.y, cells.count.y),
               along(p.z, cells.count.z));
  }
  static std::size_t key(const Cells& cells, std::int32_t x, std::int32_t y, std::int32_t z) {
    return (std::size_t(z) * std::size_t(cells.count.y) + std::size_t(y)) *
               std::size_t(cells.count.x) +
           std::size_t(x);
  }
  Span span(const Cells& cells, int axis, std::uint32_t fraction, double range) const {
    const std::int32_t count = cells.count[axis], at = along(fraction, count);
    const auto far = std::int32_t(std::min(double(count), range / heights_[axis] * count)) + 1;
    if (2 * far + 1 >= count) return {0, count};
    return {at - far + count, 2 * far + 1};
  }

  Metric metric_;
  Vec3<double> heights_;
  std::vector<Position> position_;
  std::vector<Cells> of_type_;
  std::vector<Real> reach2_;
};

template <class F>
void NearParticles::for_each_near(const Position& p, const F& f) const {
  for (std::uint32_t type = 0; type < of_type_.size(); ++type) {
    const Real reach2 = this->reach2(p.type(), type);
    const Cells& cells = of_type_[type];
    if (reach2 == 0 || cells.ids.empty()) continue;
    const double range = std::sqrt(double(reach2));
    const Span x = span(cells, 0, p.x, range), y = span(cells, 1, p.y, range),
               z = span(cells, 2, p.z, range);
    for (std::int32_t c = 0; c < z.number; ++c)
      for (std::int32_t b = 0; b < y.number; ++b)
        for (std::int32_t a = 0; a < x.number; ++a)
          for (const std::uint32_t id :
               cells.ids[key(cells, (x.first + a) % cells.count.x, (y.first + b) % cells.count.y,
                             (z.first + c) % cells.count.z)])
            if (distance2(p, position_[id]) < reach2) f(id);
  }
}

}  // namespace perrin::monte_carlo
