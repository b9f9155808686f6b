// Observer "radial_profile": density, velocity and temperature in shells about a point, about the
// centre of mass or about an axis, averaged over the samples between two rows of the file.
#pragma once

#include <limits>
#include <optional>

#include "binned_sums.h"
#include "kinetic_share.h"
#include "sampled.h"
#include "types.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct RadialProfileSettings : SampledSettings {
  RadialProfileSettings() { file = "radial_profile.h5"; }
  std::string axis = "none", about = "point";
  std::optional<Vec3<double>> center;
  std::int32_t bins = 50;
  double r_max = 0;
  std::vector<std::string> types;
  std::string group = "all";
};
template <class D>
void describe(D& d, RadialProfileSettings& s) {
  describe_sampling(d, s, "the mean of the samples since the previous row");
  d.optional("axis", s.axis, OneOf{"none", "x", "y", "z"},
             "none: spherical shells (rings in two dimensions); otherwise cylindrical shells about "
             "a line along this axis");
  d.optional("about", s.about, OneOf{"point", "center_of_mass"},
             "centre of the shells: a fixed point, or the centre of mass of the particles "
             "considered, in every sample");
  d.optional("center", s.center, Any{},
             "the fixed point (length); default: the middle of the box. If the box changes, the "
             "point is rescaled with it");
  d.optional("bins", s.bins, Between{1, 100000}, "number of shells, of equal thickness");
  d.optional("r_max", s.r_max, NonNegative{},
             "outer radius of the last shell (length); 0: half the shortest distance between "
             "opposite faces of the box at the start. In rows of a smaller box, shells beyond half "
             "of that distance are NaN");
  d.optional("types", s.types, Any{}, "particle types considered; empty: all");
  d.optional("group", s.group, Any{}, "group of particles considered");
}

/// Columns: r (middle of the shell), density (particles per volume, or area), radial_velocity (of
/// the shell's mass, away from the middle; overdamped motion has none: not a number), temperature
/// (of the motion without that; in overdamped motion that of the bath).
///
/// The centre of mass is that of L. Bai, D. Breen, J. Graphics Tools 13(4), 53 (2008): coordinates
/// along a periodic axis are angles, whose mean direction it is. Right for what is compact.
class RadialProfile final : public SampledObserver {
 public:
  RadialProfile(const RadialProfileSettings& settings, Setup& setup);

  struct Mean {  // of the particles that count, weighed by mass: along each axis
    double mass = 0, cos[3] = {}, sin[3] = {}, fraction[3] = {};
    PERRIN_HD Mean& operator+=(const Mean& b) {
      mass += b.mass;
      for (int a = 0; a < 3; ++a)
        cos[a] += b.cos[a], sin[a] += b.sin[a], fraction[a] += b.fraction[a];
      return *this;
    }
  };
  // Of a shell: particles (per length of the axis), mass, radial momentum; of those that count in a
  // temperature: particles, mass, radial momentum, m v².
  static constexpr int quantities = 7;

 private:
  void sample(const Observation& seen) override;
  std::vector<double> row(const Box& box) override;
  void sums(Archive& archive) override;
  Position center_of_mass(const Observation& seen);
  double half_height(const Box& box) const;

  int axis_, dimension_;  // axis: -1 where there is none
  bool moving_;
  Vec3<double> center_;    // in a box that stays …
  Vec3<double> fraction_;  // … and in one that changes
  std::int64_t bins_;
  double r_max_, k_boltzmann_;
  double reach_ = std::numeric_limits<double>::max();  // of the smallest box since the last row
  Selection selection_;
  Buffer<Mean> scratch_;  // and the result behind it
  KineticShares kinetic_;
  BinnedSums<quantities> sums_;
};

void register_radial_profile(Registry& registry);

}  // namespace perrin::analysis
