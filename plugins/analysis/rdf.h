// Observer "rdf": radial distribution functions g_ab(r) by pairs of particle types.
#pragma once

#include <array>
#include <limits>
#include <memory>

#include "engine/components/topology_user.h"
#include "engine/device/buffer.h"
#include "pair_grid.h"
#include "rdf_pairs.h"
#include "sampled.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct RdfSettings : SampledSettings {
  RdfSettings() { file = "rdf.h5"; }
  std::int32_t bins = 200;
  double r_max = 0;
  std::vector<std::array<std::string, 2>> pairs;
  std::string group = "all";
  std::vector<std::string> groups;
  std::string exclude = "none";
};
template <class D>
void describe(D& d, RdfSettings& s) {
  describe_sampling(d, s, "the mean of the samples since the previous row");
  d.optional("bins", s.bins, Between{1, 100000}, "number of bins");
  d.optional(
      "r_max", s.r_max, NonNegative{},
      "upper end of the last bin (length); 0: half the shortest distance between opposite faces of "
      "the box at the start. In rows of a smaller box, bins beyond half of that distance are NaN");
  d.optional("pairs", s.pairs, Any{},
             "pairs of particle types; empty: all (of those that the groups have)");
  d.optional("group", s.group, Any{}, "group of particles: pairs within it are counted");
  d.optional("groups", s.groups, Any{},
             "two groups of particles, in place of group: pairs of a particle of the first and "
             "another one of the second are counted, each once");
  d.optional("exclude", s.exclude, OneOf{"none", "bonds", "molecules"},
             "exclude bonded pairs, or all pairs within a molecule");
}

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
  void sample(Simulation& simulation) override;
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
