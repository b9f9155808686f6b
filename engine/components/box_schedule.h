// The box of a stage that deforms it, as a function of the step, and what it does in a step
// (engine/dynamics/deformation.h).
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/base/real.h"
#include "engine/system/box.h"

namespace perrin {

/// The box as a function of the step.
struct BoxSchedule {
  enum class Form : std::uint32_t { linear, exponential, oscillating, shear };
  Form form = Form::linear;
  Box start;  // at step `begin`
  std::int64_t begin = 0, steps = 1;
  double length[3] = {};       // targets …
  double tilt[3] = {};         // … of xy, xz, yz, where they do not follow the edges
  bool tilts[3] = {};          // are these given?
  double step_turn = 0;        // oscillating: radians a step
  double step_strain = 0;      // shear: of a step
  int flow = 0, gradient = 1;  // of the shear
  bool turns = true;           // the tilt of a shear, beyond half of an edge

  PERRIN_HD int which() const { return gradient == 1 ? 0 : flow == 0 ? 1 : 2; }
  PERRIN_HD double& tilt_of(Box& b) const {
    return which() == 0 ? b.xy : which() == 1 ? b.xz : b.yz;
  }
  PERRIN_HD double sheared(std::int64_t step) const {  // the tilt that never turns
    Box b = start;
    return tilt_of(b) + double(step - begin) * step_strain * start.length[gradient];
  }
  /// By how many edges the tilt is turned in the box that a step begins with.
  PERRIN_HD std::int64_t turned(std::int64_t step) const {
    if (form != Form::shear || !turns || step < begin) return 0;
    return std::int64_t(std::floor(sheared(step) / start.length[flow] + 0.5));
  }
  PERRIN_HD Box at(std::int64_t step, std::int64_t turned) const;
};

PERRIN_HD Box BoxSchedule::at(std::int64_t step, std::int64_t turned) const {
  Box b = start;
  if (form == Form::shear) {
    tilt_of(b) = sheared(step) - double(turned) * start.length[flow];
    return b;
  }
  std::int64_t done = step - begin;
  done = done < 0 ? 0 : done < steps ? done : steps;
  const double share =
      form == Form::oscillating ? std::sin(double(done) * step_turn) : double(done) / double(steps);
  double factor[3];
  for (int k = 0; k < 3; ++k) {
    const double ratio = length[k] / start.length[k];
    factor[k] =
        form == Form::exponential ? std::exp(share * std::log(ratio)) : 1 + share * (ratio - 1);
    b.length[k] *= factor[k], b.origin[k] *= factor[k];
  }
  b.xy = tilts[0] ? start.xy + share * (tilt[0] - start.xy) : start.xy * factor[0];
  b.xz = tilts[1] ? start.xz + share * (tilt[1] - start.xz) : start.xz * factor[0];
  b.yz = tilts[2] ? start.yz + share * (tilt[2] - start.yz) : start.yz * factor[1];
  return b;
}

namespace deformation {

/// Upper triangular matrices: xx yy zz xy xz yz.
struct Triangle {
  double xx, yy, zz, xy, xz, yz;
};

/// From one box to another, less 1.
PERRIN_HD Triangle change(const Box& from, const Box& to) {
  const Vec3<double>&a = from.length, &b = to.length;
  Triangle f{};
  f.xx = (b.x - a.x) / a.x, f.yy = (b.y - a.y) / a.y, f.zz = (b.z - a.z) / a.z;
  f.xy = (to.xy - from.xy - f.xx * from.xy) / a.y;
  f.yz = (to.yz - from.yz - f.yy * from.yz) / a.z;
  f.xz = (to.xz - from.xz - f.xx * from.xz - f.xy * from.yz) / a.z;
  return f;
}

/// (1 + f)^-1 - 1
PERRIN_HD Triangle inverse(const Triangle& f) {
  const double x = 1 + f.xx, y = 1 + f.yy, z = 1 + f.zz;
  return {
      -f.xx / x,      -f.yy / y, -f.zz / z, -f.xy / (x * y), (f.xy * f.yz - y * f.xz) / (x * y * z),
      -f.yz / (y * z)};
}

/// (1 + g)^(1/2) - 1
PERRIN_HD Triangle root(const Triangle& g) {
  const double x = std::sqrt(1 + g.xx), y = std::sqrt(1 + g.yy), z = std::sqrt(1 + g.zz);
  Triangle e{};
  e.xx = g.xx / (x + 1), e.yy = g.yy / (y + 1), e.zz = g.zz / (z + 1);
  e.xy = g.xy / (x + y), e.yz = g.yz / (y + z);
  e.xz = (g.xz - e.xy * e.yz) / (x + z);
  return e;
}

/// F - 1 of a step.
PERRIN_HD Triangle step_change(const BoxSchedule& s, std::int64_t step) {
  Triangle f{};
  if (s.form == BoxSchedule::Form::shear) {
    (s.which() == 0 ? f.xy : s.which() == 1 ? f.xz : f.yz) = s.step_strain;
    return f;
  }
  return change(s.at(step, 0), s.at(step + 1, 0));
}

/// L Δt, of the second order in it.
PERRIN_HD Triangle strain_of(const Triangle& f) {
  const Triangle g = inverse(f);
  return {(f.xx - g.xx) / 2, (f.yy - g.yy) / 2, (f.zz - g.zz) / 2,
          (f.xy - g.xy) / 2, (f.xz - g.xz) / 2, (f.yz - g.yz) / 2};
}

}  // namespace deformation
}  // namespace perrin
