// Observer "pressure_profile": the diagonal of the pressure tensor in slabs across one axis.
#pragma once

#include "binned_sums.h"
#include "kinetic_share.h"
#include "sampled.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct PressureProfileSettings : SampledSettings {
  PressureProfileSettings() { file = "pressure_profile.h5"; }
  std::string axis = "z";
  std::int32_t bins = 50;
  std::string group = "all";
};
template <class D>
void describe(D& d, PressureProfileSettings& s) {
  describe_sampling(d, s, "the mean of the samples since the previous row");
  d.optional("axis", s.axis, OneOf{"x", "y", "z"}, "axis normal to the slabs");
  d.optional("bins", s.bins, Between{1, 100000}, "number of slabs, of equal thickness");
  d.optional("group", s.group, Any{},
             "group of particles considered; where it is not all, without tail corrections");
}

/// Columns: coordinate (middle of the slab), pressure (by slab: xx, yy, zz), as
///
///     P_aa(slab) = (sum over the particles in the slab of m v_a² + w_aa) / volume of the slab,
///
/// w: the particle's share of the virial, half of that of each of its pairs (Force). Tail
/// corrections are the same in all slabs. So the mean over the slabs is the pressure tensor of
/// thermo. (In overdamped motion m v² is k_B T of the bath.) The contour of Irving and Kirkwood, J.
/// Chem. Phys. 18, 817 (1950), would spread the virial of a pair along the line between its
/// particles, instead of giving it to where they are: that needs the pairs, one by one, of every
/// force; this serves all forces. The two agree where slabs are thicker than forces reach, and in
/// what is integrated across an interface.
class PressureProfile final : public SampledObserver {
 public:
  PressureProfile(const PressureProfileSettings& settings, Setup& setup);

 private:
  void sample(const Observation& seen) override;
  std::vector<double> row(const Box& box) override;
  void sums(Archive& archive) override;

  int axis_;
  std::int64_t bins_;
  GroupOnDevice group_;
  bool has_all_ = true;
  double tail_ = 0;  // sum over the samples of what corrections add to the pressure
  KineticShares kinetic_;
  BinnedSums<3> sums_;
};

void register_pressure_profile(Registry& registry);

}  // namespace perrin::analysis
