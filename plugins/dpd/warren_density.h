// The density-dependent repulsion of many-body dissipative particle dynamics.
//
// P. B. Warren, Phys. Rev. E 68, 066702 (2003). With y = 1 - r/r_d, for r < r_d, a particle has the
// local density of the others
//
//     rho_i = sum over j of w(r_ij),   w = 15/(2 pi r_d³) y²,
//
// and the energy F(rho) = pi r_d⁴/30 B rho², so that B (rho_i + rho_j) y acts on i along r_i - r_j,
// and the opposite on j. The factors go with the normalisation: the integral of w over space is 1.
// In two dimensions w = 6/(pi r_d²) y² has it, and F(rho) = pi r_d³/24 B rho² leads to the same
// force. B and r_d are the same for all pairs of types: otherwise the forces would be none of an
// energy (P. B. Warren, Phys. Rev. E 87, 045303 (2013)).
#pragma once

#include <cmath>

#include "forces/device_math.h"
#include "forces/many_body_loops.h"

namespace perrin::dpd {

struct WarrenDensity {
  static constexpr bool has_pair = false;
  struct Coefficients {
    Real inverse_range, weight, slope;  // 1/r_d; w = weight y², -w' = slope y
    Real cutoff2;                       // r_d²
  };
  struct TypeCoefficients {
    Real energy;  // F = energy rho²
  };

  /// `range`: r_d. `dimension`: 2 or 3.
  static Coefficients coefficients(double range, int dimension) {
    const double weight =
        dimension == 2 ? 6 / (M_PI * range * range) : 15 / (2 * M_PI * range * range * range);
    return {Real(1 / range), Real(weight), Real(2 * weight / range), Real(range * range)};
  }
  /// `repulsion`: B.
  static TypeCoefficients type_coefficients(double repulsion, double range, int dimension) {
    const double cube = range * range * range;
    return {Real(repulsion * M_PI * (dimension == 2 ? cube / 24 : range * cube / 30))};
  }

  template <class T>
  PERRIN_HD static T inside(T r, const Coefficients& c) {
    const T y = T(1) - r * T(c.inverse_range);
    return y > T(0) ? y : T(0);
  }
  template <class T>
  PERRIN_HD static T weight(T r, const Coefficients& c) {
    const T y = inside(r, c);
    return T(c.weight) * (y * y);
  }
  template <class T>
  PERRIN_HD static PairForce<T> density(T r2, const Coefficients& c) {
    const auto distance = Distance<T>::from_square(r2);
    return {T(c.slope) * inside(distance.r, c) * distance.inverse, weight(distance.r, c)};
  }
  template <class T>
  PERRIN_HD static Embedding<T> embedding(T density, const TypeCoefficients& c) {
    const T half = T(c.energy) * density;
    return {half + half, half * density};
  }
};

/// What the loop over the pairs of DPD sums up besides forces.
struct NoDensity {
  static constexpr bool used = false;
};
struct DensitySum {
  static constexpr bool used = true;
  WarrenDensity::Coefficients coefficients;
  ManyBodyView<WarrenDensity> view;

  PERRIN_HD Real weight(Real r) const { return WarrenDensity::weight(r, coefficients); }
  PERRIN_HD void store(std::int64_t i, Real density) const { view.store(i, density); }
};

}  // namespace perrin::dpd
