// Observer "structure_factor": S(k) = |sum over particles of exp(i k·r)|² / N at all wave vectors
// of the periodic box up to a length, one of each pair k, -k, by explicit sums. N: the
// particles that scatter.
#pragma once

#include <array>

#include "engine/device/buffer.h"
#include "sampled.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct StructureFactorSettings : SampledSettings {
  StructureFactorSettings() {
    file = "structure_factor.h5";
    rows_every = 1000;
  }
  double k_max = 0;
  std::vector<std::string> types;
  std::string group = "all";
  bool partial = false;
};
template <class D>
void describe(D& d, StructureFactorSettings& s) {
  d.required("k_max", s.k_max, Positive{}, "largest wave number (1/length)");
  describe_sampling(d, s, "the mean of the samples since the previous row");
  d.optional("types", s.types, Any{}, "particle types that scatter; empty: all");
  d.optional("group", s.group, Any{}, "group of particles that scatter, which stays the same");
  d.optional("partial", s.partial, Any{}, "also partial structure factors by pairs of types");
}

/// Column: structure_factor, one number per wave vector. What the numbers stand for is in
/// /parameters/perrin/wave_numbers (K × 3 integers n; k is n times the reciprocal lattice, 2 pi n /
/// L in an orthogonal box) and wave_vectors (K × 3, 1/length, in the box at the start).
///
/// With `partial` also partial_structure_factor (pairs of types, in /parameters/perrin/pairs, by
/// wave vector): S_ab = Re(rho_a rho_b*) / (N_a N_b)^1/2, rho_a the sum of exp(i k·r) over type a
/// (N. W. Ashcroft, D. C. Langreth, Phys. Rev. 156, 685 (1967)); together
/// N S = sum over a, b of (N_a N_b)^1/2 S_ab.
///
/// The phase of a particle is n · (its fixed-point coordinates), exact in integers of a 2^-32th
/// turn.
class StructureFactor final : public SampledObserver {
 public:
  StructureFactor(const StructureFactorSettings& settings, Setup& setup);

 private:
  void sample(const Observation& seen) override;
  std::vector<double> row(const Box& box) override;
  void constants(const io::Node& root) override;
  void sums(Archive& archive) override;
  bool follows_box() const override { return false; }  // its wave vectors are those of one box

  bool partial_by_type_;
  std::vector<std::array<std::int32_t, 3>> wave_numbers_;
  std::vector<double> wave_vectors_;
  std::string wave_vector_unit_;  // empty: reduced
  std::vector<std::string> pairs_;
  std::int64_t groups_ = 1;  // of types
  Buffer<std::int32_t> group_;
  GroupOnDevice members_;      // that scatter
  Buffer<double> scatterers_;  // by group, and all
  Buffer<Vec3<std::int32_t>> numbers_;
  Buffer<Vec3<double>> partial_;  // real and imaginary part of a chunk of the particles
  Buffer<double> sum_;            // of the samples since the last row
};

void register_structure_factor(Registry& registry);

}  // namespace perrin::analysis
