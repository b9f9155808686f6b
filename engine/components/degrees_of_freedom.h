// How many degrees of freedom the kinetic energy is spread over: counted here and nowhere else.
//
// Every velocity that the integrator moves is one, along every axis that it moves. Where nothing
// changes the total momentum along an axis (no force, no bath, nobody who is held in place), the
// velocity of the centre of mass there is what it was at the beginning, and no degree of freedom:
// it has no part in the temperature. A single particle has nothing to be measured against: all of
// its motion counts. The angular momentum of a droplet in an open box counts too, since nothing
// takes it out of drawn velocities.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "engine/system/configuration.h"
#include "engine/system/momentum.h"

namespace perrin {

class Force;

class DegreesOfFreedom {
 public:
  /// Of all particles, before any force is known.
  explicit DegreesOfFreedom(const Configuration& configuration);
  /// Of a part of them, with which the others exchange momentum. `counts`: members of each type.
  DegreesOfFreedom(const DegreesOfFreedom& all, std::vector<std::int64_t> counts);
  /// Counts anew, for what an integrator moves (Integrator::motion()); by default all particles,
  /// and it leaves the momentum alone. At the beginning of every stage.
  void count(const std::vector<std::unique_ptr<Force>>& forces, const Motion& motion = {});

  double number() const { return number_; }
  /// Particles of all types but absent ones (is_absent()).
  std::int64_t present() const { return present_; }
  /// What the velocities are; where they are not moved, how many particles move along an axis.
  VelocityRole velocities() const { return motion_.velocities; }
  double along(std::size_t axis) const {
    return int(axis) < dimension_ ? double(moving_[axis]) : 0;
  }
  /// Whether the velocity of a particle of this type along an axis is among them.
  bool counts(std::size_t type, std::size_t id, std::size_t axis) const {
    return int(axis) < dimension_ && motion_.moves(type, id, axis);
  }
  /// The same where one integrator moves all particles.
  bool counts(std::size_t type, std::size_t axis) const {
    return int(axis) < dimension_ && motion_.axes[axis] && motion_.moves(type);
  }
  /// Axes along which the centre of mass keeps its velocity.
  const std::array<bool, 3>& conserved() const { return conserved_; }
  /// Axes along which constant forces change the momentum, and nothing else does.
  const std::array<bool, 3>& driven() const { return driven_; }
  /// Of the motion of the centre of mass along the axes where its velocity counts (energy).
  double kinetic_of_drift(Vec3<double> momentum) const;
  /// That velocity, of a total momentum; 0 along all other axes.
  Vec3<double> drift(Vec3<double> momentum) const;
  /// The temperature times Boltzmann's constant; 0 if no particle moves.
  double kt(double kinetic_energy, Vec3<double> momentum) const;

 private:
  int dimension_;
  std::vector<std::int64_t> particles_;  // of each type
  /// Of these, those whose velocities are not free: sites of rigid bodies, and who is not there.
  std::vector<std::int64_t> sites_;
  std::int64_t present_ = 0;
  std::int64_t constraints_ = 0;  // distances that stay as they are
  double mass_ = 0;               // of all but sites
  Motion motion_;
  std::array<bool, 3> conserved_{}, driven_{};
  double number_ = 0;
  std::array<std::int64_t, 3> moving_{};  // particles, along each axis
  bool part_ = false;
};

}  // namespace perrin
