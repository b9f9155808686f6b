// Whether so many particles fit into a volume at all.
#pragma once

#include <cstdint>
#include <string>

#include "io/parts/region.h"

namespace perrin::parts {

/// The volume of a sphere (in two dimensions the area of a circle) of this diameter.
double sphere_volume(double diameter, int dimension);

/// The nearest whole number from 0 to 10^15.
std::int64_t rounded(double number);

/// Spheres of this volume in all and about this diameter, whose centres are in a volume.
struct Crowd {
  double spheres, diameter, volume;
  int dimension;
  bool whole = false;  // the volume is a box, at whose faces no sphere stands out

  /// Their share of the volume that they can take.
  double share() const;
  /// What is wrong, where no order or luck could place them; otherwise empty.
  std::string impossible() const;
  /// The same for particles placed one after the other at random, which gets stuck far earlier: at
  /// 0.38 (0.55 in two dimensions).
  std::string stuck() const;
};

}  // namespace perrin::parts
