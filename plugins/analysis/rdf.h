// Observer "rdf": radial distribution functions g_ab(r) by pairs of particle types.
#pragma once

#include <limits>
#include <memory>

#include "engine/components/topology_user.h"
#include "engine/device/buffer.h"
#include "pair_grid.h"
#include "rdf_pairs.h"
#include "rdf_settings.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

/// Columns: r, the middle of each bin, and rdf by pair of types and bin,
///
///     g_ab(r) = <pairs counted in the shell> / (pairs a, b in the system · shell · <1/volume>),
///
/// where the pairs in the system are N_a N_b, of like types N_a (N_a - 1) / 2, of members of the
/// group, less what is excluded, and the shell is the exact volume (in two dimensions: area) of the
/// bin: 1 for particles anywhere, also where they are few. /parameters/perrin/pairs names the
/// types.
class Rdf final : public SampledObserver, public TopologyUser {
 public:
  Rdf(const RdfSettings& settings, Setup& setup);
  bool follows_topology() const override { return kind_ != "bonds"; }

 private:
  Rdf(const RdfSettings& settings, Setup& setup, RdfPairs pairs);
  void sample(const Observation& seen) override;
  std::vector<double> row(const Box& box) override;
  void constants(const io::Node& root) override;
  void sums(Archive& archive) override;

  int dimension_;
  std::int64_t bins_;
  double r_max_;
  std::string kind_;  // of the pairs that are left out
  std::int32_t types_;
  RdfPairs pairs_;
  std::unique_ptr<PairGrid> grid_;
  Buffer<std::int64_t> copies_;                        // of the histograms, for threads
  Buffer<std::int64_t> counts_;                        // since the last row
  double reach_ = std::numeric_limits<double>::max();  // of the smallest box since then
};

void register_rdf(Registry& registry);

}  // namespace perrin::analysis
