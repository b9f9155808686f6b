// What the sum over waves of an Ewald sum lacks beyond k_max of two charges that stay together, by
// its mean over all directions. EwaldSum has the same of a charge and itself (the "diagonal
// correction"): of a molecule that excludes its pairs that alone would be too much, for on the
// scale of 1/k_max its charges hardly differ from their sum. Of two unit charges
//
//     R(r) = 2/π ∫ exp(-k²/4α²) sin(kr)/(kr) dk,  k > k_max.
//
// Waves hardly reach beyond k_max before their weights have gone: R is that of their mean k. With a
// change of the box waves enter and leave the sphere of k_max, of which the virial has to be free:
// their weight there, times the mean of cos(k·r) k_a k_b/k² over its surface.
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
  double surface = 0;  // 2/π k_max exp(-k_max²/4α²): 1/length

  static WavesBeyond of(const EwaldParameters& p) {
    const double x = p.k_max / (2 * p.splitting), gone = std::erfc(x);
    const double weight = std::exp(-x * x);
    if (!(gone > 1e-16)) return {};
    return {2 / std::sqrt(M_PI) * p.splitting * gone,
            2 / std::sqrt(M_PI) * p.splitting * weight / gone, p.k_max,
            2 / M_PI * p.k_max * weight};
  }

  /// R(r), and -R'(r)/r.
  PERRIN_HD double energy(double r) const {
    const double z = mean * r;
    return z < 1e-3 ? at_0 : at_0 * std::sin(z) / z;
  }
  PERRIN_HD double force_over_r(double r) const {
    const double z = mean * r;
    const double by = z < 1e-3 ? 1.0 / 3 : (std::sin(z) / z - std::cos(z)) / (z * z);
    return at_0 * mean * mean * by;
  }
  /// Of two charges with this product, r apart.
  PERRIN_HD void add_virial(Virial& virial, const Real3& r, double product) const {
    const double length = std::sqrt(double(dot(r, r))), z = k_max * length;
    double same = 1.0 / 3, along = 0;  // j1(z)/z, and j2(z)/r²
    if (z > 1e-3) {
      const double sine = std::sin(z) / z;
      same = (sine - std::cos(z)) / (z * z);
      along = (3 * same - sine) / (length * length);
    }
    const double by = -surface * product;
    virial.add(r, Real(-by * along) * r);
    for (std::size_t c = 0; c < 3; ++c) virial.c[c] += Real(by * same);
  }
};

}  // namespace perrin
