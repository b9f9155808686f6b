// What a particle's motion adds to a pressure or a temperature in slabs or shells: of its velocity,
// or, where velocities are no part of the dynamics, of the heat bath that stands in for them.
//
// Particles whose motion is prescribed (frozen, moving) have a part in the velocity of a slab, and
// none in its temperature; sites of rigid bodies, whose mass is that of their centres, in neither.
#pragma once

#include <cmath>
#include <vector>

#include "engine/components/rigid_bodies.h"
#include "engine/device/buffer.h"
#include "engine/dynamics/observation.h"

namespace perrin::analysis {

/// For kernels.
struct KineticShare {
  const std::uint32_t* counts = nullptr;  // [3 type + axis]: 1 or 0; nullptr: velocities
  double kt = 0;
  GroupMask moves{};    // all but sites
  GroupMask thermal{};  // those whose velocities count in a temperature

  /// m v² along an axis.
  PERRIN_HD double square(const Real4& v, std::uint32_t type, int axis) const {
    if (counts != nullptr) return counts[3 * type + std::uint32_t(axis)] != 0 ? kt : 0.0;
    const double m = 1 / double(v.w);
    const double u = double(axis == 0 ? v.x : axis == 1 ? v.y : v.z);
    return m * u * u;
  }
  /// The velocity; 0 where it says nothing.
  PERRIN_HD Vec3<double> velocity(const Real4& v) const {
    if (counts != nullptr) return {};
    return {double(v.x), double(v.y), double(v.z)};
  }
  /// Twice the kinetic energy.
  PERRIN_HD double twice(const Real4& v, std::uint32_t type) const {
    if (counts != nullptr) return square(v, type, 0) + square(v, type, 1) + square(v, type, 2);
    const Vec3<double> u = velocity(v);
    return 1 / double(v.w) * dot(u, u);
  }
};

/// Owns what a KineticShare points to, and remembers since when there are velocities.
class KineticShares {
 public:
  /// Of the present instant; for one sample.
  KineticShare of(const Observation& s) {
    KineticShare share;
    share.thermal = s.thermal();
    if (s.bodies()) share.moves = s.bodies()->moved();
    const DegreesOfFreedom& freedom = s.degrees_of_freedom();
    if (freedom.velocities() == VelocityRole::moved) return share;
    if (freedom.velocities() == VelocityRole::bath) lacking_ = true;
    std::vector<std::uint32_t> counts;
    for (std::size_t type = 0; type < s.particles().properties().types.size(); ++type)
      for (std::size_t axis = 0; axis < 3; ++axis)
        counts.push_back(freedom.counts(type, axis) ? 1 : 0);
    counts_ = Buffer<std::uint32_t>(s.device(), std::span<const std::uint32_t>(counts));
    share.counts = counts_.data(), share.kt = s.kt_without_velocities();
    return share;
  }
  /// A mean velocity over the samples since the last row: not a number where some had none.
  double velocity(double mean) const { return lacking_ ? std::nan("") : mean; }
  void begin_row() { lacking_ = false; }
  void state(Archive& archive) {
    if (archive.has("without_velocities")) archive("without_velocities", lacking_);
  }

 private:
  Buffer<std::uint32_t> counts_;
  bool lacking_ = false;  // a sample since the last row was one of overdamped motion
};

}  // namespace perrin::analysis
