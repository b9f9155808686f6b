#include "cluster_size.h"

#include <algorithm>
#include <numeric>

#include "engine/components/registry.h"
#include "engine/dynamics/simulation.h"

namespace perrin::analysis {
namespace {

/// The lowest of a cluster; ways to it become shorter.
std::uint32_t root(std::vector<std::uint32_t>& parent, std::uint32_t k) {
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

}  // namespace

ClusterSize::ClusterSize(const ClusterSettings& settings, Setup& setup)
    : SampledObserver(settings,
                      {{"clusters", {}, ""},
                       {"largest", {}, ""},
                       {"mean_size", {}, ""},
                       {"weight_mean_size", {}, ""},
                       {"distribution", {hsize_t(settings.sizes)}, ""}},
                      setup),
      neighborhood_(settings.distance, settings.types, settings.group, setup),
      parent_(std::size_t(neighborhood_.particles())),
      sums_(4 + std::size_t(settings.sizes)) {}

void ClusterSize::sample(Simulation& simulation) {
  const PairGrid::View grid = neighborhood_.look(simulation);
  std::iota(parent_.begin(), parent_.end(), 0u);
  for (std::int64_t k = 0; k < grid.n; ++k)
    grid.around(k, false, [&](std::int64_t m, const Vec3<double>&, double) {
      const std::uint32_t a = root(parent_, std::uint32_t(k)), b = root(parent_, std::uint32_t(m));
      parent_[std::max(a, b)] = std::min(a, b);
    });
  std::vector<std::int64_t> size(parent_.size());
  for (std::uint32_t k = 0; k < parent_.size(); ++k) ++size[root(parent_, k)];
  double clusters = 0, largest = 0, squares = 0;
  for (const std::int64_t n : size) {
    if (n == 0) continue;
    clusters += 1;
    largest = std::max(largest, double(n));
    squares += double(n) * double(n);
    sums_[std::min(sums_.size() - 1, std::size_t(3 + n))] += 1;
  }
  const double all = double(parent_.size());
  sums_[0] += clusters, sums_[1] += largest;
  sums_[2] += all / clusters, sums_[3] += squares / all;
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
