// A plane across the box, and places on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/system/box.h"
#include "io/parts/region.h"

namespace perrin::parts {

class Plane {
 public:
  /// Across "x", "y" or "z".
  Plane(const Box& box, const std::string& axis);
  /// Reports under "axis" one that this box has not.
  static bool check(const Box& box, const std::string& axis, const Report& error);

  /// A length in two dimensions.
  double area() const;
  /// At this coordinate along the axis; u and v in units of the edges.
  Vec3<double> place(double u, double v, double coordinate) const;
  Vec3<double> normal() const;
  /// The faces of the box.
  double lower() const { return box_.origin[axis_]; }
  double upper() const { return box_.origin[axis_] + box_.length[axis_]; }

  struct Site {
    double u, v;
  };
  /// n places of a rectangular lattice that is as square as possible; sites that are too many are
  /// left out by a keyed shuffle.
  std::vector<Site> sites(std::int64_t n, std::uint64_t seed) const;

 private:
  Box box_;
  int axis_, first_, second_;  // second: -1 in two dimensions
};

}  // namespace perrin::parts
