// Which way particles look, and how they turn.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/system/archive.h"
#include "engine/system/configuration.h"
#include "engine/system/particle_arrays.h"

namespace perrin {

/// 1/2 sum of L²/I over the axes of a particle's frame; an axis without a moment has none.
template <class V>
PERRIN_HD double rotational_energy(const V& spin, const V& moment) {
  const auto of = [](Real l, Real i) {
    return i > Real(0) ? 0.5 * double(l) * double(l) / double(i) : 0.0;
  };
  return of(spin.x, moment.x) + of(spin.y, moment.y) + of(spin.z, moment.z);
}

/// What a kernel sees of the arrays that only looks.
struct ConstOrientationView {
  const Real4 *orientation, *angular_momentum, *moment, *torque;
};

/// The arrays a kernel sees, by place in memory like those of a ParticleView.
struct OrientationView {
  Real4* orientation;       // unit quaternion, from the particle's frame to space
  Real4* angular_momentum;  // in the particle's frame (mass length²/time); w: not used
  const Real4* moment;      // of inertia, about the axes of that frame (mass length²); 0: the
                            // particle does not turn about this axis
  Real4* torque;            // in space (energy); w: not used

  PERRIN_HD operator ConstOrientationView() const {
    return {orientation, angular_momentum, moment, torque};
  }
};

/// Of a system whose particles have them (Configuration::orientation). In two dimensions they turn
/// about z alone.
class Orientations {
 public:
  /// `extra`: what moves with the particles.
  Orientations(const Device& device, const Configuration& configuration, ParticleArrays& extra);
  Orientations(const Orientations&) = delete;
  Orientations& operator=(const Orientations&) = delete;

  OrientationView view() {
    return {orientation_.data(), angular_momentum_.data(), moment_.data(), torque_.data()};
  }
  ConstOrientationView view() const {
    return {orientation_.data(), angular_momentum_.data(), moment_.data(), torque_.data()};
  }
  Buffer<Real4>& orientation() { return orientation_; }
  const Buffer<Real4>& orientation() const { return orientation_; }
  Buffer<Real4>& angular_momentum() { return angular_momentum_; }
  const Buffer<Real4>& angular_momentum() const { return angular_momentum_; }
  Buffer<Real4>& moment() { return moment_; }
  const Buffer<Real4>& moment() const { return moment_; }
  Buffer<Real4>& torque() { return torque_; }
  const Buffer<Real4>& torque() const { return torque_; }
  /// Velocities that the rotation of these particles has: axes about which they have a moment of
  /// inertia. `id`: in memory order. Waits for the device.
  std::int64_t degrees_of_freedom(const Buffer<std::uint32_t>& id, const GroupMask& group) const;
  /// By id, into a configuration. Waits for the device.
  void put_into(Configuration& configuration, const std::vector<std::uint32_t>& id) const;
  /// By id.
  void state(Archive& archive, const std::vector<std::uint32_t>& id);

 private:
  Buffer<Real4> orientation_, angular_momentum_, moment_, torque_;
  std::array<std::shared_ptr<const ParticleArrays::Array>, 4> arrays_;
};

}  // namespace perrin
