// The part of an Ewald sum in the space of wave vectors (P. P. Ewald, Ann. Phys. 369, 253 (1921);
// form of M. P. Allen, D. J. Tildesley, Computer Simulation of Liquids, 2nd ed., section 6.2):
//
//     E = 1/2 Σ_k A(k) |S(k)|²,  A(k) = 4π C/(V k²) exp(-k²/4α²),  S(k) = Σ_j q_j exp(i k·r_j)
//
// What a charge and itself would add beyond k_max is not left out, but its mean over all directions
// is taken (the diagonal correction of J. Kolafa, J. W. Perram, Mol. Simul. 9, 351 (1992)): in the
// virial here, in the energy by self_energy().
//
// k·r is a sum of products of whole numbers and the fixed-point fractions of positions, exact and
// wrapped. Each S(k) is the sum of one process over all particles in the order of memory, and each
// force the sum over all k in the order of the list: bits depend neither on threads nor on
// processes. Sums are those of |k| ≤ k_max in the box of the step; the list holds what that may
// become in a box that changes.
#pragma once

#include <cmath>

#include "engine/components/force.h"
#include "engine/device/buffer.h"
#include "engine/system/box.h"
#include "forces/attribute_words.h"
#include "forces/charges/ewald_terms.h"

namespace perrin {

class EwaldSum {
 public:
  /// How far a box may be deformed, compared with that of the job's start.
  static constexpr double most_stretch = 2;

  explicit EwaldSum(const EwaldTerms& terms) : terms_(terms) {}

  /// What a charge and its own screening charge add to the sum over waves, to be subtracted: the
  /// energy is this · C q².
  static double self_energy(const EwaldParameters& p) {
    return -p.splitting / std::sqrt(M_PI) * std::erf(p.k_max / (2 * p.splitting));
  }

  const EwaldParameters& parameters() const { return terms_.parameters; }
  /// Before the first compute().
  void set(const EwaldParameters& parameters) { terms_.parameters = parameters; }
  /// Adds to the output. Device work; allocates at the first call.
  void compute(StepContext& s, const AttributeView<1>& charge, const ForceOutput& output);

  /// One number of S(k) times the weight of k.
  struct Factor {
    Real re, im;
  };

 private:
  void prepare(StepContext& s);
  void weigh_waves(StepContext& s);

  EwaldTerms terms_;
  Box listed_for_;                  // the job's first box
  std::int64_t n_ = 0, usual_ = 0;  // waves; beyond these none is within k_max in the first box
  std::int64_t active_ = 0;         // none beyond has a weight
  bool weighed_ = false;            // for a box that does not change
  Buffer<std::uint32_t> wave_;      // [x, y, z][wave]: n
  Buffer<Real> vector_;             // [x, y, z, weight][wave]
  Buffer<Factor> factor_;           // [wave]
  Buffer<std::uint32_t> place_;     // [x, y, z][particle]: fractions of the repeated cell
  Buffer<Real> charge_;             // [particle]; both with zeros at the end
};

}  // namespace perrin
