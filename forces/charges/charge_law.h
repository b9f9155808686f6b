// How two charges act on each other within a cut-off, for every method that sums over pairs:
//
//     E(r) = q_1 q_2 C ((G(r) - W(r))/r + c0 + c1 r + c2 r²),   G(r) = exp(-kappa r) erfc(alpha r)
//
// C is Coulomb's constant in the units of the job. One law, so that one pair loop serves all of
// them:
//
//     plain, energy_shift, force_shift   c0 and c1 from G - W at the cut-off
//     Wolf; damped shifted force         alpha, and the same c0 and c1
//     reaction field                     c0 and c2
//     Debye-Hückel                       kappa
//     Ewald's sum in real space          alpha alone
//     clouds of charge                   W
#pragma once

#include <cmath>
#include <optional>

#include "forces/charges/error_function.h"
#include "forces/device_math.h"
#include "forces/pair_potential.h"

namespace perrin {

/// What clouds of charge lack of points: two of them have the energy C q_1 q_2 (1 - W(r))/r with
///
///     W(r) = (1 + p1 r + p2 r² + p3 r³) exp(-decay r) erfc(gauss r)
///
/// (charge_smearing.h has the clouds). At short distances 1/r and W/r cancel. Within `core`, where
/// rounding would show in float, the force is linear in r, and the energy its integral.
struct Smearing {
  double p1 = 0, p2 = 0, p3 = 0;  // 1/length, 1/length², 1/length³
  double decay = 0, gauss = 0;    // 1/length; not both 0
  double core = 0;                // length

  double lacking(double r) const {
    return (1 + r * (p1 + r * (p2 + r * p3))) * std::exp(-decay * r) * std::erfc(gauss * r);
  }
  /// -dW/dr
  double slope(double r) const {
    const double x = gauss * r, e = std::exp(-decay * r);
    const double p = 1 + r * (p1 + r * (p2 + r * p3)), dp = p1 + r * (2 * p2 + r * 3 * p3);
    return e *
           ((decay * p - dp) * std::erfc(x) + p * 2 / std::sqrt(M_PI) * gauss * std::exp(-x * x));
  }
};

struct ChargeLaw {
  double constant = 1;  // C: energy · length
  double cutoff = 1;    // length
  double kappa = 0, alpha = 0;
  double c0 = 0, c1 = 0, c2 = 0;  // 1/length, 1/length², 1/length³
  std::optional<Smearing> smearing = std::nullopt;
  /// What remains between pairs that are left out of pair forces (bonded ones): the law less 1/r,
  /// which is what a method that stands for far-away charges adds to Coulomb's law. False: nothing.
  /// Clouds that are left out lack nothing of points: W goes with the pair.
  bool corrects_excluded = false;
  double excluded_range = 0;      // of that; 0: the cut-off
  bool slow_corrections = false;  // they belong to the slow part of the force
  double self = 0;                // energy of a charge by itself: self · C q²

  /// (G - W)/r ends at the cut-off with the energy 0 (`energy`), and the force 0, too (`force`).
  void shift(bool energy, bool force);
};

/// The same for kernels, in T: Real, or double where little is computed. Not Smeared: without W.
template <class T, bool Smeared = false>
struct ChargeCoefficients {
  T constant, kappa, alpha, c0, c1, c2;
  T p1, p2, p3, decay, gauss, core2;

  explicit ChargeCoefficients(const ChargeLaw& law)
      : constant(T(law.constant)),
        kappa(T(law.kappa)),
        alpha(T(law.alpha)),
        c0(T(law.c0)),
        c1(T(law.c1)),
        c2(T(law.c2)) {
    const Smearing s = law.smearing.value_or(Smearing{});
    p1 = T(s.p1), p2 = T(s.p2), p3 = T(s.p3), decay = T(s.decay), gauss = T(s.gauss);
    const double core = sizeof(T) == 4 ? s.core : 0.01 * s.core;
    core2 = T(core * core);
  }

  /// For the product C q_1 q_2 and r² > 0.
  PERRIN_HD PairForce<T> evaluate(T given_r2, T product) const {
    const T r2 = Smeared && given_r2 < core2 ? core2 : given_r2;
    const auto d = Distance<T>::from_square(r2);
    const T x = alpha * d.r;
    const T damped = perrin::decay(kappa * d.r + x * x);  // exp(-kappa r - alpha² r²)
    T acting = damped * scaled_erfc(x);                   // G
    constexpr T two_over_root_pi = T(1.1283791670955126);
    T slope = kappa * acting + two_over_root_pi * alpha * damped;  // -dG/dr
    if constexpr (Smeared) {
      const T y = gauss * d.r;
      const T gone = perrin::decay(decay * d.r + y * y);
      const T erfc = gone * scaled_erfc(y);
      const T p = T(1) + d.r * (p1 + d.r * (p2 + d.r * p3));
      acting -= p * erfc;
      slope -= (decay * p - (p1 + d.r * (T(2) * p2 + d.r * T(3) * p3))) * erfc +
               two_over_root_pi * gauss * p * gone;
    }
    const T energy = acting * d.inverse;
    PairForce<T> f{
        product * ((energy + slope) * d.inverse * d.inverse - c1 * d.inverse - T(2) * c2),
        product * (energy + c0 + d.r * (c1 + d.r * c2))};
    if constexpr (Smeared) f.energy += T(0.5) * f.force_over_r * (r2 - given_r2);
    return f;
  }
};

inline void ChargeLaw::shift(bool energy, bool force) {
  const double damped = std::exp(-kappa * cutoff - alpha * alpha * cutoff * cutoff);
  double acting = std::exp(-kappa * cutoff) * std::erfc(alpha * cutoff);
  double slope = kappa * acting + 2 / std::sqrt(M_PI) * alpha * damped;
  if (smearing) acting -= smearing->lacking(cutoff), slope -= smearing->slope(cutoff);
  const double at_end = (acting / cutoff + slope) / cutoff;  // -d((G - W)/r)/dr
  c1 = force ? at_end : 0;
  c0 = energy || force ? -acting / cutoff - c1 * cutoff : 0;
}

}  // namespace perrin
