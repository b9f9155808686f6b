// The wave vectors of an Ewald sum in the box of the step, with their weights, and where sums over
// particles go: k · r is a sum of products of whole numbers and the fixed-point fractions of
// positions, exact and wrapped. The list holds what may be within k_max in a box that changes.
#pragma once

#include "engine/device/buffer.h"
#include "engine/system/box.h"
#include "forces/charges/ewald_terms.h"

namespace perrin {

class StepContext;

namespace waves {

constexpr int lanes = 16;  // on the CPU

PERRIN_HD std::int64_t with_lanes(std::int64_t n) { return (n + lanes - 1) / lanes * lanes; }

/// One number of S(k) times the weight of k.
struct Factor {
  Real re, im;
};

/// For kernels.
struct Waves {
  std::int64_t room, count;
  const std::uint32_t* n;  // [axis · room + wave]
  const Real* k;           // [axis · room + wave]; axis 3: the weight
  Factor* factor;          // [wave]

  PERRIN_HD Real weight(std::int64_t wave) const { return k[3 * room + wave]; }
  PERRIN_HD Real3 vector(std::int64_t wave) const {
    return {k[wave], k[room + wave], k[2 * room + wave]};
  }
  PERRIN_HD std::uint32_t phase(std::int64_t wave, std::uint32_t x, std::uint32_t y,
                                std::uint32_t z) const {
    return n[wave] * x + n[room + wave] * y + n[2 * room + wave] * z;
  }
};

}  // namespace waves

class WaveSet {
 public:
  /// How far a box may be deformed, compared with that of the job's start.
  static constexpr double most_stretch = 2;

  explicit WaveSet(const EwaldTerms& terms) : terms_(terms) {}
  const EwaldTerms& terms() const { return terms_; }
  /// Before the first update().
  void set(const EwaldParameters& parameters) { terms_.parameters = parameters; }
  /// Weights are those of the present box. Device work; allocates at the first call. A box that was
  /// deformed too far is a fault.
  waves::Waves update(StepContext& s);

 private:
  void list(StepContext& s);

  EwaldTerms terms_;
  Box listed_for_;                  // the job's first box
  std::int64_t n_ = 0, usual_ = 0;  // waves; beyond these none is within k_max in the first box
  std::int64_t active_ = 0;         // none beyond has a weight
  bool weighed_ = false;            // for a box that does not change
  Buffer<std::uint32_t> wave_;      // [x, y, z][wave]: n
  Buffer<Real> vector_;             // [x, y, z, weight][wave]
  Buffer<waves::Factor> factor_;    // [wave]
};

}  // namespace perrin
