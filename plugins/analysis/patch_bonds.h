// Observer "patch_bonds": which particles are bonded by patches that face each other, as N. Kern,
// D. Frenkel, J. Chem. Phys. 118, 9882 (2003) have it.
#pragma once

#include <array>
#include <map>

#include "clusters.h"
#include "neighborhood.h"
#include "sampled.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct FacingPatches {
  std::vector<std::array<double, 3>> directions;
  double half_angle = 30;
};
template <class D>
void describe(D& d, FacingPatches& s) {
  d.example("{\"directions\": [[1, 0, 0], [-1, 0, 0]], \"half_angle\": 30}");
  d.required("directions", s.directions, Any{},
             "of each patch, in the frame of the particle; of any length");
  d.optional("half_angle", s.half_angle, Between{1, 180},
             "half opening angle of all patches (degrees)");
}

struct PatchBondsSettings : SampledSettings {
  PatchBondsSettings() { file = "patch_bonds.h5"; }
  double distance = 0;
  std::map<std::string, FacingPatches> patches;
  std::string group = "all";
  std::int32_t numbers = 8, sizes = 100;
};
template <class D>
void describe(D& d, PatchBondsSettings& s) {
  d.example(
      R"({"distance": 1.5, "patches": {"A": {"directions": [[1, 0, 0]], "half_angle": 60}}})");
  d.required("distance", s.distance, Positive{},
             "particles closer than this are bonded, where the line between them goes through a "
             "patch of each (length)");
  d.required("patches", s.patches, Any{},
             "patches of the particles of each type; types that are not named are left out");
  describe_sampling(d, s, "the mean of the samples since the previous row");
  d.optional("group", s.group, Any{}, "group of particles considered, which stays the same");
  d.optional("numbers", s.numbers, Between{1, 100},
             "numbers of bonds in the distribution, from 0; one more element has all larger ones");
  d.optional("sizes", s.sizes, Between{1, 1000000},
             "number of sizes of clusters, from 1; the last one includes all larger clusters");
}

/// Columns, averaged over the samples: bonds, their number per particle (a bond belongs to both of
/// its particles); distribution, the share of the particles with 0, 1, … bonds; and those of
/// Clusters of bonded particles: clusters, largest, mean_size, weight_mean_size, sizes.
class PatchBonds final : public SampledObserver {
 public:
  PatchBonds(const PatchBondsSettings& settings, Setup& setup);

 private:
  struct Patches {
    std::vector<Vec3<double>> directions;
    double cos_half = 1;
  };
  void take_patches(const PatchBondsSettings& settings, Setup& setup);
  void sample(const Observation& seen) override;
  std::vector<double> row(const Box& box) override;
  void sums(Archive& archive) override { state_of_sums(archive, sums_); }

  std::size_t numbers_, sizes_;
  std::vector<Patches> patches_;     // [type]
  std::vector<std::uint32_t> type_;  // [id]
  Neighborhood neighborhood_;
  Clusters clusters_;
  std::vector<double> sums_;  // of the columns
};

void register_patch_bonds(Registry& registry);

}  // namespace perrin::analysis
