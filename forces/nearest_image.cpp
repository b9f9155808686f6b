#include "forces/nearest_image.h"

#include <vector>

namespace perrin {
namespace {

using Basis = std::vector<Vec3<double>>;

double square(const Vec3<double>& v) { return dot(v, v); }

/// Until no vector becomes shorter by adding or taking away others: in three dimensions that is
/// Minkowski-reduced.
void reduce(Basis& basis) {
  const std::size_t n = basis.size();
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (std::size_t k = 0; k < n; ++k) {
      // First by whole multiples, so that strong tilts take few rounds.
      for (std::size_t j = 0; j < n; ++j) {
        if (j == k) continue;
        const double m = std::nearbyint(dot(basis[k], basis[j]) / square(basis[j]));
        const Vec3<double> v = basis[k] - m * basis[j];
        if (square(v) < square(basis[k]) * (1 - 1e-12)) basis[k] = v, shorter = true;
      }
      if (n < 3) continue;
      for (const double x : {-1, 1})
        for (const double y : {-1, 1}) {
          const Vec3<double> v = basis[k] + x * basis[(k + 1) % 3] + y * basis[(k + 2) % 3];
          if (square(v) < square(basis[k]) * (1 - 1e-12)) basis[k] = v, shorter = true;
        }
    }
  }
}

/// What is left of basis[k] across the others, over its square.
Vec3<double> dual(const Basis& basis, std::size_t k) {
  Basis across;  // orthogonal
  Vec3<double> rest = basis[k];
  for (std::size_t j = 0; j < basis.size(); ++j) {
    if (j == k) continue;
    Vec3<double> v = basis[j];
    for (const auto& u : across) v = v - dot(v, u) / square(u) * u;
    across.push_back(v);
    rest = rest - dot(rest, v) / square(v) * v;
  }
  return 1 / square(rest) * rest;
}

Real3 rounded(const Vec3<double>& v) { return {Real(v.x), Real(v.y), Real(v.z)}; }

}  // namespace

NearestImage::NearestImage(const Box& box) : tilted_(!box.orthogonal()) {
  Basis basis;
  for (std::size_t axis = 0; axis < std::size_t(box.dimension); ++axis)
    if (box.periodic[axis]) basis.push_back(box.edges()[axis]);
  reduce(basis);
  for (std::size_t k = 0; k < basis.size(); ++k) {
    edge_[k] = rounded(basis[k]);
    dual_[k] = rounded(dual(basis, k));
  }
}

}  // namespace perrin
