// The random factor of Bussi's thermostat, drawn on the device.
// G. Bussi, D. Donadio, M. Parrinello, J. Chem. Phys. 126, 014101 (2007).
#pragma once

#include <cmath>

#include "engine/system/box.h"
#include "integrators/bussi.h"
#include "rng/keyed.h"

namespace perrin::detail {

struct KineticEnergy {
  const Real4* velocity;
  Vec3<double> drift;
  PERRIN_HD double operator()(std::int64_t i) const {
    const Real4 v = velocity[i];
    const double x = double(v.x) - drift.x, y = double(v.y) - drift.y, z = double(v.z) - drift.z;
    return v.w > 0 ? 0.5 * (x * x + y * y + z * z) / double(v.w) : 0.0;
  }
};

/// A gamma-distributed number of the given shape, scale 1.
/// G. Marsaglia, W. W. Tsang, ACM Trans. Math. Softw. 26, 363 (2000).
template <class Generator>
PERRIN_HD double gamma(Generator& random, double shape) {
  // Shapes below 1 are drawn one higher and brought down by a power of a uniform number.
  double reduce = 1;
  if (shape < 1) {
    reduce = std::pow(random.template uniform_open<double>(), 1 / shape);
    shape += 1;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.template normal<double>();
    const double t = 1 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    const double u = random.template uniform_open<double>();
    if (std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) return reduce * d * v;
  }
}

/// Equation A7, when the kinetic energy has been added up. The factor is positive: with the sign of
/// equation A8 a bath whose memory is shorter than a step would turn all velocities round in every
/// second step, and particles would come back to where they were.
struct DrawFactor {
  RescalingBath* bath;
  const std::uint64_t* step;
  RunKey key;
  Ramp kt_ramp;    // of k_B T
  double freedom;  // degrees of freedom
  double decay;    // exp(-dt/tau)

  PERRIN_HD void operator()() const {
    const double kinetic = bath->kinetic;
    double factor = 1;
    if (kinetic > 0) {
      const double kt = kt_ramp.at(*step);
      auto random = keyed<Philox>(key, *step, 0);
      const double r = random.normal<double>();
      // The sum of the squares of the other freedom - 1 normals.
      const double rest = freedom > 1 ? 2 * gamma(random, (freedom - 1) / 2) : 0.0;
      const double ratio = kt / (2 * kinetic);  // wanted over present, per degree of freedom
      const double square = decay + ratio * (1 - decay) * (r * r + rest) +
                            2 * r * std::sqrt(decay * ratio * (1 - decay));
      factor = std::sqrt(square > 0 ? square : 0.0);
      bath->heat += kinetic * (square - 1);
    }
    bath->factor = factor;
  }
};

}  // namespace perrin::detail
