#include "cluster_size.h"

#include <algorithm>

#include "engine/components/registry.h"
#include "engine/dynamics/observation.h"

namespace perrin::analysis {
ClusterSize::ClusterSize(const ClusterSettings& settings, Setup& setup)
    : SampledObserver(settings,
                      {{"clusters", {}, ""},
                       {"largest", {}, ""},
                       {"mean_size", {}, ""},
                       {"weight_mean_size", {}, ""},
                       {"distribution", {hsize_t(settings.sizes)}, ""}},
                      setup),
      neighborhood_(settings.distance, settings.types, settings.group, setup),
      clusters_(std::size_t(neighborhood_.particles())),
      sums_(4 + std::size_t(settings.sizes)) {}

void ClusterSize::sample(const Observation& seen) {
  const PairGrid::View grid = neighborhood_.look(seen.particles());
  clusters_.part();
  for (std::int64_t k = 0; k < grid.n; ++k)
    grid.around(k, false, [&](std::int64_t m, const Vec3<double>&, double) {
      clusters_.join(std::uint32_t(k), std::uint32_t(m));
    });
  clusters_.add_to(sums_.data(), sums_.size() - 4);
}

std::vector<double> ClusterSize::row(const Box&) {
  std::vector<double> row = sums_;
  for (double& value : row) value /= double(samples());
  std::fill(sums_.begin(), sums_.end(), 0.0);
  return row;
}

void register_cluster_size(Registry& registry) {
  registry.add<Observer, ClusterSettings>(
      "cluster_size", "clusters of particles by distance: number, largest, distribution of sizes",
      [](const ClusterSettings& s, Setup& setup) {
        return std::make_unique<ClusterSize>(s, setup);
      });
}

}  // namespace perrin::analysis
