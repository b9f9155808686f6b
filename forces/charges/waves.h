// The wave vectors of an Ewald sum, k = 2π h⁻ᵀ n for the box h and whole numbers n, of one half of
// space.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/system/box.h"

namespace perrin {

/// The cell that is repeated: the box, which a slab makes `stretch` times longer along z (1: none).
PERRIN_HD Box repeated_cell(const Box& box, double stretch) {
  Box cell = box;
  cell.length.z *= stretch;
  return cell;
}

/// k of n in an upper triangular cell.
PERRIN_HD Vec3<double> wave_vector(const Box& cell, double nx, double ny, double nz) {
  constexpr double turn = 6.283185307179586;
  const Vec3<double>& l = cell.length;
  const double x = nx / l.x, y = (ny - cell.xy * x) / l.y;
  return {turn * x, turn * y, turn * (nz - cell.xz * x - cell.yz * y) / l.z};
}

/// How much longer the deformation of one cell to another can make a vector: the largest singular
/// value of h h₀⁻¹.
PERRIN_HD double longest_stretch(const Box& from, const Box& to) {
  // Both are upper triangular, and so is F.
  const Vec3<double>&a = from.length, &b = to.length;
  const double xx = b.x / a.x, yy = b.y / a.y, zz = b.z / a.z;
  const double xy = (to.xy - xx * from.xy) / a.y, yz = (to.yz - yy * from.yz) / a.z;
  const double xz = (to.xz - xx * from.xz - xy * from.yz) / a.z;
  // The largest eigenvalue of FᵀF by its characteristic polynomial.
  const double g00 = xx * xx, g01 = xx * xy, g02 = xx * xz, g11 = xy * xy + yy * yy,
               g12 = xy * xz + yy * yz, g22 = xz * xz + yz * yz + zz * zz;
  const double mean = (g00 + g11 + g22) / 3;
  const double d0 = g00 - mean, d1 = g11 - mean, d2 = g22 - mean;
  const double off = g01 * g01 + g02 * g02 + g12 * g12;
  const double p = std::sqrt((d0 * d0 + d1 * d1 + d2 * d2 + 2 * off) / 6);
  if (!(p > 1e-14 * mean)) return std::sqrt(mean);
  const double det =
      d0 * (d1 * d2 - g12 * g12) - g01 * (g01 * d2 - g12 * g02) + g02 * (g01 * g12 - d1 * g02);
  double cosine = det / (2 * p * p * p);
  cosine = cosine < -1 ? -1.0 : cosine > 1 ? 1.0 : cosine;
  return std::sqrt(mean + 2 * p * std::cos(std::acos(cosine) / 3));
}

struct WaveNumbers {
  std::int32_t x, y, z;
};

/// All n of one half of space with |k| ≤ k_max, 0 left out, by increasing |k|; equal ones (to
/// rounding) by n.
std::vector<WaveNumbers> waves_within(const Box& cell, double k_max);

/// How many there are, from the volume of the sphere: at a glance.
double count_waves(const Box& cell, double k_max);

}  // namespace perrin
