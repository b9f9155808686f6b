#include "near_particles.h"

#include <limits>
#include <utility>

namespace perrin::monte_carlo {

NearParticles::NearParticles(const Box& box, const Ranges& ranges, std::size_t types,
                             std::vector<Position> position)
    : metric_(box.metric()),
      heights_(box.heights()),
      position_(std::move(position)),
      of_type_(types) {
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b) {
      const double range = ranges(a, b) * (1 + 1e-5);
      reach2_.push_back(Real(range * range));
    }
  std::vector<double> number(types);
  for (const Position& p : position_) number[p.type()] += 1;
  for (std::size_t type = 0; type < types; ++type) {
    if (number[type] == 0) continue;
    double shortest = std::numeric_limits<double>::infinity();
    for (std::size_t other = 0; other < types; ++other)
      if (ranges(type, other) > 0) shortest = std::min(shortest, ranges(type, other));
    Cells& cells = of_type_[type];
    // More cells than particles are of no use.
    const double most = std::ceil(std::pow(number[type], 1.0 / box.dimension));
    for (int axis = 0; axis < box.dimension; ++axis)
      cells.count[axis] = std::int32_t(std::clamp(heights_[axis] / shortest, 1.0, most));
    cells.ids.resize(std::size_t(cells.count.x) * std::size_t(cells.count.y) *
                     std::size_t(cells.count.z));
  }
  for (std::uint32_t id = 0; id < position_.size(); ++id) {
    Cells& cells = of_type_[position_[id].type()];
    cells.ids[key(cells, position_[id])].push_back(id);
  }
}

void NearParticles::move(std::uint32_t id, const Position& to) {
  Cells& cells = of_type_[to.type()];
  std::vector<std::uint32_t>& left = cells.ids[key(cells, position_[id])];
  *std::ranges::find(left, id) = left.back();
  left.pop_back();
  cells.ids[key(cells, to)].push_back(id);
  position_[id] = to;
}

}  // namespace perrin::monte_carlo
