// Observer "cluster_size": clusters of particles that are nearer to one another than a distance.
#pragma once

#include "clusters.h"
#include "neighborhood.h"
#include "sampled.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct ClusterSettings : SampledSettings {
  ClusterSettings() { file = "cluster_size.h5"; }
  double distance = 0;
  std::vector<std::string> types;
  std::string group = "all";
  std::int32_t sizes = 100;
};
template <class D>
void describe(D& d, ClusterSettings& s) {
  d.required("distance", s.distance, Positive{},
             "neighbour cut-off: particles closer than this belong to the same cluster (length)");
  describe_sampling(d, s, "the mean of the samples since the previous row");
  d.optional("types", s.types, Any{}, "particle types considered; empty: all");
  d.optional("group", s.group, Any{},
             "group of particles considered, which stays the same; others are no neighbours");
  d.optional(
      "sizes", s.sizes, Between{1, 1000000},
      "number of sizes in the distribution, from 1; the last one includes all larger clusters");
}

/// Columns, averaged over the samples: clusters, their number (single particles count); largest,
/// particles in the largest one; mean_size, particles / clusters; weight_mean_size, the mean over
/// particles of the size of their cluster; distribution: the number of clusters of 1, 2, …
/// particles; the last element includes all larger ones.
class ClusterSize final : public SampledObserver {
 public:
  ClusterSize(const ClusterSettings& settings, Setup& setup);

 private:
  void sample(const Observation& seen) override;
  std::vector<double> row(const Box& box) override;
  void sums(Archive& archive) override { state_of_sums(archive, sums_); }

  Neighborhood neighborhood_;
  Clusters clusters_;
  std::vector<double> sums_;  // of the columns
};

void register_cluster_size(Registry& registry);

}  // namespace perrin::analysis
