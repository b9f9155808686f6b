// The part of an Ewald sum in the space of wave vectors (P. P. Ewald, Ann. Phys. 369, 253 (1921);
// form of M. P. Allen, D. J. Tildesley, Computer Simulation of Liquids, 2nd ed., section 6.2):
//
//     E = 1/2 Σ_k A(k) |S(k)|²,  A(k) = 4π C/(V k²) exp(-k²/4α²),  S(k) = Σ_j q_j exp(i k·r_j)
//
// What a charge and itself would add beyond k_max is not left out, but its mean over all directions
// is taken (the diagonal correction of J. Kolafa, J. W. Perram, Mol. Simul. 9, 351 (1992)): in the
// virial here, in the energy by self_energy().
//
// In two dimensions A(k) = 2π C/(V k) erfc(k/2α), V an area: the integral of the other over k_z.
//
// Sums are those of |k| ≤ k_max in the box of the step (wave_set.h).
#pragma once

#include <cmath>

#include "engine/components/force.h"
#include "engine/device/buffer.h"
#include "forces/attribute_words.h"
#include "forces/charges/wave_set.h"

namespace perrin {

class EwaldSum {
 public:
  explicit EwaldSum(const EwaldTerms& terms) : waves_(terms) {}

  /// What a charge and its own screening charge add to the sum over waves, to be subtracted: the
  /// energy is this · C q².
  static double self_energy(const EwaldParameters& p, bool flat) {
    const double x = p.k_max / (2 * p.splitting), by = p.splitting / std::sqrt(M_PI);
    if (flat) return by * (std::exp(-x * x) - std::sqrt(M_PI) * x * std::erfc(x) - 1);
    return -by * std::erf(x);
  }

  const EwaldParameters& parameters() const { return waves_.terms().parameters; }
  /// Before the first compute().
  void set(const EwaldParameters& parameters) { waves_.set(parameters); }
  const EwaldTerms& terms() const { return waves_.terms(); }
  /// S(k) of all waves, times their weights, of the charges where they are. Device work; allocates
  /// at the first call.
  waves::Waves structure_factors(StepContext& s, const AttributeView<1>& charge);
  /// waves::Places::ratio
  std::uint64_t slab_ratio(const Box& box) const;
  /// Adds to the output. Device work; allocates at the first call.
  void compute(StepContext& s, const AttributeView<1>& charge, const ForceOutput& output);

 private:
  WaveSet waves_;
  Buffer<std::uint32_t> place_;  // [x, y, z][particle]: fractions of the repeated cell
  Buffer<Real> charge_;          // [particle]; both with zeros at the end
};

}  // namespace perrin
