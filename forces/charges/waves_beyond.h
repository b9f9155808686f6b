// What the sum over waves of an Ewald sum lacks beyond k_max of two charges that stay together, by
// its mean over all directions. EwaldSum has the same of a charge and itself (the "diagonal
// correction"): of a molecule that excludes its pairs that alone would be too much, for on the
// scale of 1/k_max its charges hardly differ from their sum. Of two unit charges, with k > k_max,
//
//     in space     R(r) = 2/π ∫ exp(-k²/4α²) sin(kr)/(kr) dk
//     in a plane   R(r) = ∫ erfc(k/2α) J₀(kr) dk
//
// Waves hardly reach beyond k_max before their weights have gone: R is that of their mean k. With a
// change of the box waves enter and leave the sphere (circle) of k_max, of which the virial has to
// be free: their weight there, times the mean of cos(k·r) k_a k_b/k² over its surface.
#pragma once

#include <cmath>

#include "engine/base/real.h"
#include "forces/charges/ewald_error.h"
#include "forces/deposit.h"

namespace perrin {

struct WavesBeyond {
  double at_0 = 0;     // R(0): 1/length; 0: nothing is lacking
  double mean = 0;     // k: 1/length
  double k_max = 0;    // 1/length
  double surface = 0;  // 2/π k_max exp(-k_max²/4α²), or k_max erfc(k_max/2α): 1/length
  bool flat = false;   // in a plane; Flat of what follows

  static WavesBeyond of(const EwaldParameters& p, bool flat) {
    const double x = p.k_max / (2 * p.splitting), gone = std::erfc(x);
    const double weight = std::exp(-x * x), root_pi = std::sqrt(M_PI);
    if (!(gone > 1e-16)) return {};
    if (flat) {
      const double all = weight / root_pi - x * gone;  // ∫ erfc from x, and the same of t erfc(t)
      const double moment = (0.25 - 0.5 * x * x) * gone + x * weight / (2 * root_pi);
      return {2 * p.splitting * all, 2 * p.splitting * moment / all, p.k_max, p.k_max * gone, true};
    }
    return {2 / root_pi * p.splitting * gone, 2 / root_pi * p.splitting * weight / gone, p.k_max,
            2 / M_PI * p.k_max * weight, false};
  }

  /// R(r), and -R'(r)/r.
  template <bool Flat>
  PERRIN_HD double energy(double r) const {
    const double z = mean * r;
    if constexpr (Flat) return at_0 * ::j0(z);
    return z < 1e-3 ? at_0 : at_0 * std::sin(z) / z;
  }
  template <bool Flat>
  PERRIN_HD double force_over_r(double r) const {
    const double z = mean * r;
    double by = Flat ? 0.5 : 1.0 / 3;
    if (z >= 1e-3) {
      if constexpr (Flat)
        by = ::j1(z) / z;
      else
        by = (std::sin(z) / z - std::cos(z)) / (z * z);
    }
    return at_0 * mean * mean * by;
  }
  /// Of two charges with this product, r apart.
  template <bool Flat>
  PERRIN_HD void add_virial(Virial& virial, const Real3& r, double product) const {
    const double length = std::sqrt(double(dot(r, r))), z = k_max * length;
    // j1(z)/z and j2(z)/r², or those of J.
    double same = Flat ? 0.5 : 1.0 / 3, along = 0;
    if (z > 1e-3) {
      double whole = 0;
      if constexpr (Flat) {
        whole = ::j0(z), same = ::j1(z) / z;
      } else {
        whole = std::sin(z) / z;
        same = (whole - std::cos(z)) / (z * z);
      }
      along = ((Flat ? 2 : 3) * same - whole) / (length * length);
    }
    const double by = -surface * product;
    virial.add(r, Real(-by * along) * r);
    for (std::size_t c = 0; c < (Flat ? 2 : 3); ++c) virial.c[c] += Real(by * same);
  }
};

}  // namespace perrin
