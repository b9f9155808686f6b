// Which edges of the box change, and which of them together, for nose_hoover and fire.
#pragma once

#include <array>
#include <string>

#include "engine/system/box.h"
#include "integrators/barostat.h"

namespace perrin {

/// The key "axes" of their settings.
template <class D>
void describe_moving_axes(D& d, std::string& axes) {
  d.optional("axes", axes, Any{},
             "coupling of the box edges: \"all\" isotropic, \"xy,z\" semi-isotropic, \"x,y,z\" "
             "anisotropic, \"z\" one edge only; the edges of a group change by the same factor, by "
             "their mean pressure");
}

/// For Barostat's forms of a change but the tilts.
struct MovingAxes {
  int group[3] = {-1, -1, -1};  // of each axis; -1: it stays
  int groups = 0;
  int dimension = 3;

  MovingAxes() = default;
  /// `axes` must be right.
  MovingAxes(const std::string& axes, int of_dimension) : dimension(of_dimension) {
    const BoxStrains strains = parse_axes(axes, dimension).value();
    groups = strains.count;
    for (int g = 0; g < groups; ++g)
      for (int axis = 0; axis < 3; ++axis)
        if (strains.of[g].axis[axis]) group[axis] = g;
  }
  std::array<bool, 3> which() const { return {group[0] >= 0, group[1] >= 0, group[2] >= 0}; }
  /// Number of axes of a group.
  PERRIN_HD int count(int of) const {
    return int(group[0] == of) + int(group[1] == of) + int(group[2] == of);
  }
  /// What a number of each group is for an axis; `otherwise` where it stays.
  PERRIN_HD double along(int axis, const double (&of_group)[3], double otherwise) const {
    return group[axis] < 0 ? otherwise : of_group[group[axis]];
  }
  /// A box whose edges are longer by a factor of each group.
  PERRIN_HD Box stretched(Box b, const double (&factor)[3]) const {
    for (int k = 0; k < 3; ++k) {
      const double f = along(k, factor, 1);
      b.length[k] *= f, b.origin[k] *= f;
      if (k == 0) b.xy *= f, b.xz *= f;
      if (k == 1) b.yz *= f;
    }
    return b;
  }
};

/// Half of the smallest height along a periodic axis.
PERRIN_HD double half_of_periodic(const Box& box) {
  const auto heights = box.padded_heights();
  double half = 1e300;
  for (int k = 0; k < box.dimension; ++k)
    if (box.periodic[std::size_t(k)] && heights[k] / 2 < half) half = heights[k] / 2;
  return half;
}

/// Reports at `key` axes that are not right, and flexible cells. False: they are not.
inline bool check_moving_axes(const std::string& axes, const std::string& key, Setup& setup) {
  const auto strains = check_axes(axes, key, setup);
  if (strains && strains->flexible)
    setup.error(key, "flexible cells are for the barostat of velocity_verlet, bussi and langevin");
  return strains && !strains->flexible;
}

}  // namespace perrin
