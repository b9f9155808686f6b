// A change of the box, as the kernels of a barostat know it (integrators/barostat.h).
#pragma once

#include <array>
#include <cstdint>

#include "engine/components/force.h"
#include "engine/system/box.h"

namespace perrin {

/// One way in which the box may change: a group of axes in proportion, or a tilt.
struct BoxStrain {
  bool axis[3] = {};
  int tilt = -1;  // 0, 1, 2: xy, xz, yz

  PERRIN_HD double axes() const { return tilt >= 0 ? 1 : double(axis[0] + axis[1] + axis[2]); }
  /// Of the three diagonal elements of a tensor, or the three others, what this changes.
  PERRIN_HD double part(double x, double y, double z) const {
    if (tilt >= 0) return tilt == 0 ? x : tilt == 1 ? y : z;
    return (axis[0] ? x : 0) + (axis[1] ? y : 0) + (axis[2] ? z : 0);
  }
};
struct BoxStrains {
  BoxStrain of[6];
  int count = 0;
  bool flexible = false;

  /// Along which the box changes.
  std::array<bool, 3> axes() const {
    std::array<bool, 3> all{};
    for (int k = 0; k < count; ++k)
      for (std::size_t a = 0; a < 3; ++a) all[a] = all[a] || of[k].axis[a];
    return all;
  }
};

/// Of the forces: the virial that a strain sees, and their power.
struct StrainWork {
  double virial = 0, power = 0;
  PERRIN_HD StrainWork& operator+=(const StrainWork& b) {
    virial += b.virial, power += b.power;
    return *this;
  }
};
/// Of the kinetic energy: sums of m v v, of first and second order in the strain. Without
/// velocities kT for every particle and axis.
struct StrainKinetic {
  double linear = 0, quadratic = 0;
  PERRIN_HD StrainKinetic& operator+=(const StrainKinetic& b) {
    linear += b.linear, quadratic += b.quadratic;
    return *this;
  }
};

/// What the barostat keeps on the device.
struct BarostatMemory {
  StrainWork before, after;   // of the present change
  double energy[2];           // where the whole of it decides: before and after
  VelocityStrain velocities;  // what it does to them
  StrainKinetic kinetic;      // before it
  Box box;                    // before it
  BoxStrain strain;           // its kind
  double change;              // of ln V or of a tilt
  double heat;                // given to the particles so far
  std::int64_t tried, accepted;
  std::int64_t pending;  // 1: proposed, not decided
  std::uint32_t off_diagonal;
};

}  // namespace perrin
