// Observer "profile": density, velocity and temperature in slabs across one axis, averaged over the
// samples between two rows of the file.
#pragma once

#include "binned_sums.h"
#include "kinetic_share.h"
#include "sampled.h"
#include "types.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct ProfileSettings : SampledSettings {
  ProfileSettings() {
    file = "profile.h5";
    stride = 10;
    rows_every = 1000;
  }
  std::string axis = "z";
  std::int32_t bins = 50;
  std::vector<std::string> types;
  std::string group = "all";
};
template <class D>
void describe(D& d, ProfileSettings& s) {
  describe_sampling(d, s, "the mean of the samples since the previous row");
  d.optional("axis", s.axis, OneOf{"x", "y", "z"},
             "axis normal to the slabs; coordinates run from -L/2 to L/2, with 0 in the middle of "
             "the box, those of H5MD files from 0 to L (perrin help coordinates)");
  d.optional("bins", s.bins, Between{1, 100000}, "number of slabs, of equal thickness");
  d.optional("types", s.types, Any{}, "particle types considered; empty: all");
  d.optional("group", s.group, Any{}, "group of particles considered");
}

/// Columns: coordinate (middle of the slab), density (particles per volume), velocity (of the
/// slab's centre of mass; overdamped motion has none: not a number), temperature (of the motion
/// relative to the centre of mass of those that count, KineticShare; in overdamped motion that of
/// the bath).
class Profile final : public SampledObserver {
 public:
  Profile(const ProfileSettings& settings, Setup& setup);

  /// Of a slab: particles; mass, momentum (3); of those that count in a temperature: particles,
  /// mass, momentum (3), m v².
  static constexpr int quantities = 11;

 private:
  void sample(const Observation& seen) override;
  std::vector<double> row(const Box& box) override;
  void sums(Archive& archive) override;

  int axis_, dimension_;
  double k_boltzmann_;
  std::int64_t bins_;
  Selection selection_;
  KineticShares kinetic_;
  BinnedSums<quantities> sums_;
};

void register_profile(Registry& registry);

}  // namespace perrin::analysis
