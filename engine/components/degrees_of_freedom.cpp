#include "engine/components/degrees_of_freedom.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/components/force.h"

namespace perrin {

DegreesOfFreedom::DegreesOfFreedom(const Configuration& c)
    : dimension_(c.box.dimension), particles_(c.types.size(), 0), sites_(c.types.size(), 0) {
  for (std::size_t id = 0; id < c.type.size(); ++id) {
    ++particles_.at(c.type[id]);
    const bool absent = is_absent(c.types[c.type[id]]);
    if (!absent) ++present_;
    if (absent || c.topology.is_site(id))
      ++sites_[c.type[id]];
    else
      // As particles have it on a device (1/mass, a Real): so has a run that is resumed.
      mass_ += c.mass.empty() ? 1 : 1 / double(Real(1 / c.mass[id]));
  }
  constraints_ = std::int64_t(c.topology.constraints.size());
  count({});
}

DegreesOfFreedom::DegreesOfFreedom(const DegreesOfFreedom& all, std::vector<std::int64_t> counts)
    : dimension_(all.dimension_),
      particles_(std::move(counts)),
      sites_(particles_.size(), 0),
      mass_(all.mass_),
      part_(true) {
  count({});
}

void DegreesOfFreedom::count(const std::vector<std::unique_ptr<Force>>& forces,
                             const Motion& motion) {
  motion_ = motion;
  std::int64_t moving = 0, all = 0;
  for (std::size_t t = 0; t < particles_.size(); ++t) {
    const std::int64_t free = particles_[t] - sites_[t];
    all += free;
    if (motion_.moves(t)) moving += free;
  }
  for (std::size_t k = 0; k < 3; ++k) moving_[k] = motion_.axes[k] ? moving : 0;
  if (motion_.of_each && !part_) moving_ = motion_.of_each->moving;
  std::array<bool, 3> changes{};
  Vec3<double> constant{}, size{};
  for (const auto& force : forces) {
    const MomentumChange change = force->momentum_change_of_group(particles_);
    for (int axis = 0; axis < 3; ++axis) {
      const auto k = static_cast<std::size_t>(axis);
      changes[k] = changes[k] || change.varying[k];
      constant[axis] += change.constant[axis];
      size[axis] += std::abs(change.constant[axis]);
    }
  }
  number_ = 0;
  for (int axis = 0; axis < dimension_; ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    // Those who are held in place take momentum as a wall does.
    const bool free = motion_.conserves_momentum && !part_ && moving_[k] == all && all > 1;
    const bool pulled = std::abs(constant[axis]) > 1e-12 * size[axis];
    driven_[k] = free && !changes[k] && pulled;
    conserved_[k] = free && !changes[k] && !pulled;
    number_ += double(moving_[k]) - (conserved_[k] ? 1 : 0);
  }
  number_ -= double(constraints_);
}

Vec3<double> DegreesOfFreedom::drift(Vec3<double> momentum) const {
  Vec3<double> v{};
  for (int axis = 0; axis < dimension_; ++axis)
    if (conserved_[static_cast<std::size_t>(axis)]) v[axis] = momentum[axis] / mass_;
  return v;
}

double DegreesOfFreedom::kinetic_of_drift(Vec3<double> momentum) const {
  double squares = 0;
  for (int axis = 0; axis < dimension_; ++axis)
    if (!conserved_[static_cast<std::size_t>(axis)]) squares += momentum[axis] * momentum[axis];
  return squares / (2 * mass_);
}

double DegreesOfFreedom::kt(double kinetic_energy, Vec3<double> momentum) const {
  if (number_ == 0) return 0;
  const Vec3<double> v = drift(momentum);
  return (2 * kinetic_energy - mass_ * dot(v, v)) / number_;
}

}  // namespace perrin
