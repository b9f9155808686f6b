// Moving one particle: what every integrator's position update comes down to.
#pragma once

#include <cmath>

#include "engine/faults.h"
#include "engine/move_check.h"
#include "engine/particles.h"

namespace perrin {

/// The nearest integer of a number below 2^31 in size.
PERRIN_HD std::int32_t round_to_int(float x) {
#ifdef __CUDA_ARCH__
  return __float2int_rn(x);
#else
  return static_cast<std::int32_t>(std::lrint(x));
#endif
}
PERRIN_HD std::int32_t round_to_int(double x) {
#ifdef __CUDA_ARCH__
  return __double2int_rn(x);
#else
  return static_cast<std::int32_t>(std::lrint(x));
#endif
}

/// Adds `step` to a fixed-point coordinate and counts the crossing of the periodic face, if any.
PERRIN_HD void move_along(std::uint32_t& coordinate, std::int32_t& image, std::int32_t step) {
  const std::uint32_t before = coordinate;
  coordinate = before + std::uint32_t(step);
  image += step >= 0 ? (coordinate < before ? 1 : 0) : (coordinate > before ? -1 : 0);
}

/// Moves particle i by a displacement (length), rounded to the fixed-point grid. Reports, and
/// leaves the particle where it is, if the displacement is not finite or longer than `limit`
/// (Simulation::max_displacement(): below half of the smallest height of the box); reports also
/// a particle that leaves the box along an axis that is not periodic. `check`
/// (Simulation::check_moves()) watches over the neighbour list; without it update_neighbors() does.
PERRIN_HD void drift(const ParticleView& particles, const Metric& metric, const FaultSink& faults,
                     std::int64_t i, Real3 displacement, Real limit, const MoveCheck& check = {}) {
  const Real length2 = dot(displacement, displacement);
  if (!(length2 <= limit * limit)) {  // catches NaN
    const double x = double(displacement.x), y = double(displacement.y), z = double(displacement.z);
    const double length = std::sqrt(x * x + y * y + z * z);
    const bool finite = length <= 1e300;
    faults.report(finite ? FaultKind::too_fast : FaultKind::not_finite, particles.id[i], length,
                  double(limit));
    return;
  }
  const Real3 u = metric.fixed(displacement);
  Position p = particles.position[i];
  Image crossed{};
  move_along(p.x, crossed.x, round_to_int(u.x));
  move_along(p.y, crossed.y, round_to_int(u.y));
  move_along(p.z, crossed.z, round_to_int(u.z));
  particles.position[i] = p;
  check(i, p, metric);
  // Few particles cross: the counters of the others are not even read.
  if ((crossed.x | crossed.y | crossed.z) != 0) particles.image[i] += crossed;
  const bool outside[3] = {p.x < metric.lower[0] || p.x > metric.upper[0],
                           p.y < metric.lower[1] || p.y > metric.upper[1],
                           p.z < metric.lower[2] || p.z > metric.upper[2]};
  if (outside[0] || outside[1] || outside[2])
    faults.report(FaultKind::left_the_box, particles.id[i], std::sqrt(double(length2)),
                  double(limit),
                  outside[0]   ? 0
                  : outside[1] ? 1
                               : 2);
}

}  // namespace perrin
