// What displaces an active particle in a step, beside its own drive: force and thermal noise.
#pragma once

#include <cmath>

#include "engine/base/real.h"
#include "rng/keyed.h"

namespace perrin::active {

/// Of the particles of a type.
struct Mobility {
  Real drift;   // dt / xi
  Real spread;  // of the displacement along an axis: sqrt(2 k_B T dt / xi)
  Real drive;   // of what drives it, for a time step

  static Mobility of(double dt, double friction, double kt, double drive) {
    return {Real(dt / friction), Real(std::sqrt(2 * kt * dt / friction)), Real(drive)};
  }
};

/// As kernels look it up.
struct Mobilities {
  const Mobility* of_type;
  const Real* drive_of_id;  // in place of that of the type; nullptr: the type's

  PERRIN_HD Mobility operator()(std::uint32_t type, std::uint32_t id) const {
    Mobility m = of_type[type];
    if (drive_of_id != nullptr) m.drive = drive_of_id[id];
    return m;
  }
};

/// Normal numbers for x and y, and for z; 0 where none is wanted.
template <class Generator>
PERRIN_HD Real3 normal_numbers(Generator& g, bool xy, bool z) {
  Real3 r{};
  if constexpr (sizeof(Real) == 4) {  // a word for each; see rng/distributions.h
    if (xy) r.x = g.normal_quantile(), r.y = g.normal_quantile();
    if (z) r.z = g.normal_quantile();
  } else {
    if (xy && z) return g.template normal3<Real>();
    const auto pair = g.template normal_pair<Real>();
    if (xy) r.x = pair.first, r.y = pair.second;
    if (z) r.z = pair.first;
  }
  return r;
}

/// Along the axes of the box.
struct AxisNoise {
  RunKey key;
  bool planar;

  PERRIN_HD Real4 draw(std::uint64_t step, std::uint32_t id, std::uint32_t use = 0) const {
    auto g = keyed<Saru>(key, step, id, use);
    const Real3 r = normal_numbers(g, true, !planar);
    return {r.x, r.y, r.z, Real(0)};
  }
};

/// drift · force + spread · noise + drive · direction
PERRIN_HD Real4 displacement(const Mobility& m, const Real4& force, const Real4& noise,
                             const Real4& direction) {
  Real4 d = times(m.drive, direction);
  d.w = 0;
  return multiply_add(m.drift, force, multiply_add(m.spread, noise, d));
}

}  // namespace perrin::active
