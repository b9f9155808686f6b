// What a particle mesh is made of, and its errors: the method P3M of R. W. Hockney, J. W. Eastwood,
// Computer Simulation Using Particles (1988), chapter 8, with derivatives in k space; charges are
// spread and forces gathered by cardinal B-splines of an order p (M. Deserno, C. Holm, J. Chem.
// Phys. 109, 7678 (1998)).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/system/box.h"
#include "forces/charges/ewald_error.h"

namespace perrin {

struct MeshTerms {
  static constexpr int most_order = 8;
  static constexpr double most_points = 6e7;  // 68 bytes each, and what transforms need
  std::array<std::int64_t, 3> size{};         // points along x, y and z
  int order = 6;                              // points along each axis that a charge is spread over
  std::int64_t points() const { return size[0] * size[1] * size[2]; }
};

/// The longest wave vectors that a mesh uses: those of a sphere within all that it has.
PERRIN_HD double longest_wave(const Box& cell, double nx, double ny, double nz) {
  constexpr double pi = 3.141592653589793;
  const double x = nx / cell.length.x;
  const double y = ny / std::sqrt(cell.xy * cell.xy + cell.length.y * cell.length.y);
  const double z =
      nz / std::sqrt(cell.xz * cell.xz + cell.yz * cell.yz + cell.length.z * cell.length.z);
  const double least = x < y ? x : y;
  return pi * (1 - 1e-9) * (least < z ? least : z);
}

/// Of one axis, by the wave number n = 0 … N - 1 (those above N/2 are below 0). W is the transform
/// of the spline at n + mN.
struct SplineTransforms {
  std::vector<double> filter;   // W_0²/(Σ_m W_m²)², 0 at n = N/2
  std::vector<double> squares;  // Σ_m W_m²
};
SplineTransforms spline_transforms(std::int64_t points, int order);

/// Root mean square of the error of the force on a particle, of charges without structure, by the
/// mesh and by what is beyond its shortest wave: energy/length.
double mesh_error(const ChargedSystem& s, double splitting, const Box& cell, const MeshTerms& mesh);
/// A mesh with about the same spacing along all axes whose error is at most this, and that is
/// hardly finer than needed; or one of about `most_points`.
MeshTerms choose_mesh(const ChargedSystem& s, double splitting, const Box& cell, int order,
                      double error);

}  // namespace perrin
