// The nearest of a vector's periodic images, in boxes of any shape.
#pragma once

#include <cmath>

#include "engine/system/box.h"

namespace perrin {

/// Rounding the fractions of a vector along the edges, as Metric does, gives the nearest image
/// where the edges are perpendicular. In a tilted box it does not. Here the fractions are those
/// along a Minkowski-reduced basis of the same lattice, whose 26 vectors around the origin are all
/// that can still lead to a nearer image (P. Q. Nguyen, D. Stehlé, ACM Trans. Algorithms 5, 46
/// (2009)).
class NearestImage {
 public:
  /// For images along the periodic axes of the box.
  explicit NearestImage(const Box& box);

  /// r: any image of the vector. In a box that is not tilted it comes back as it is: there the
  /// nearest by fractions is right.
  PERRIN_HD Real3 operator()(Real3 r) const {
    if (!tilted_) return r;
    const Real3 n{std::rint(dot(r, dual_[0])), std::rint(dot(r, dual_[1])),
                  std::rint(dot(r, dual_[2]))};
    r = r - n.x * edge_[0] - n.y * edge_[1] - n.z * edge_[2];
    Real3 nearest = r;
    for (int k = 0; k < 27; ++k) {
      const Real3 image = r + Real(k % 3 - 1) * edge_[0] + Real(k / 3 % 3 - 1) * edge_[1] +
                          Real(k / 9 - 1) * edge_[2];
      if (dot(image, image) < dot(nearest, nearest)) nearest = image;
    }
    return nearest;
  }

 private:
  // Of the reduced basis; zero vectors in place of axes that are not periodic. dual · edge = 1 for
  // the same vector, 0 for others; dual vectors lie in the space of the edges.
  std::array<Real3, 3> edge_{}, dual_{};
  bool tilted_ = false;
};

}  // namespace perrin
