// How two charges act on each other within a cut-off, for every method that sums over pairs:
//
//     E(r) = q_1 q_2 C (G(r)/r + c0 + c1 r + c2 r²),   G(r) = exp(-kappa r) erfc(alpha r)
//
// C is Coulomb's constant in the units of the job. One law, so that one pair loop serves all of
// them:
//
//     plain, energy_shift, force_shift   c0 and c1 from G at the cut-off
//     Wolf; damped shifted force         alpha, and the same c0 and c1
//     reaction field                     c0 and c2
//     Debye-Hückel                       kappa
//     Ewald's sum in real space          alpha alone
#pragma once

#include "forces/charges/error_function.h"
#include "forces/device_math.h"
#include "forces/pair_potential.h"

namespace perrin {

struct ChargeLaw {
  double constant = 1;  // C: energy · length
  double cutoff = 1;    // length
  double kappa = 0, alpha = 0;
  double c0 = 0, c1 = 0, c2 = 0;  // 1/length, 1/length², 1/length³
  /// What remains between pairs that are left out of pair forces (bonded ones): the law less 1/r,
  /// which is what a method that stands for far-away charges adds to Coulomb's law. False: nothing.
  bool corrects_excluded = false;
  double excluded_range = 0;  // of that; 0: the cut-off
  double self = 0;            // energy of a charge by itself: self · C q²

  /// G/r ends at the cut-off with the energy 0 (`energy`), and the force 0, too (`force`).
  void shift(bool energy, bool force);
};

/// The same for kernels, in T: Real, or double where little is computed.
template <class T>
struct ChargeCoefficients {
  T constant, cutoff2, kappa, alpha, c0, c1, c2;

  explicit ChargeCoefficients(const ChargeLaw& law)
      : constant(T(law.constant)),
        cutoff2(T(law.cutoff * law.cutoff)),
        kappa(T(law.kappa)),
        alpha(T(law.alpha)),
        c0(T(law.c0)),
        c1(T(law.c1)),
        c2(T(law.c2)) {}

  /// For the product C q_1 q_2 and r² > 0.
  PERRIN_HD PairForce<T> evaluate(T r2, T product) const {
    const auto d = Distance<T>::from_square(r2);
    const T x = alpha * d.r;
    const T gauss = decay(kappa * d.r + x * x);  // exp(-kappa r - alpha² r²)
    const T screened = gauss * scaled_erfc(x);
    constexpr T two_over_root_pi = T(1.1283791670955126);
    // -dG/dr
    const T slope = kappa * screened + two_over_root_pi * alpha * gauss;
    const T energy = screened * d.inverse;
    return {product * ((energy + slope) * d.inverse * d.inverse - c1 * d.inverse - T(2) * c2),
            product * (energy + c0 + d.r * (c1 + d.r * c2))};
  }
};

inline void ChargeLaw::shift(bool energy, bool force) {
  const double gauss = std::exp(-kappa * cutoff - alpha * alpha * cutoff * cutoff);
  const double screened = std::exp(-kappa * cutoff) * std::erfc(alpha * cutoff);
  const double slope = kappa * screened + 2 / std::sqrt(M_PI) * alpha * gauss;
  const double at_end = (screened / cutoff + slope) / cutoff;  // -d(G/r)/dr
  c1 = force ? at_end : 0;
  c0 = energy || force ? -screened / cutoff - c1 * cutoff : 0;
}

}  // namespace perrin
