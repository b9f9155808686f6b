// Observer "rdf": radial distribution functions g_ab(r) by pairs of particle types.
#pragma once

#include <array>
#include <limits>
#include <memory>

#include "engine/components/topology_user.h"
#include "engine/device/buffer.h"
#include "pair_grid.h"
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
  d.optional("pairs", s.pairs, Any{}, "pairs of particle types; empty: all");
  d.optional("exclude", s.exclude, OneOf{"none", "bonds", "molecules"},
             "exclude bonded pairs, or all pairs within a molecule");
}

/// Columns: r, the middle of each bin, and rdf by pair of types and bin,
///
///     g_ab(r) = <pairs counted in the shell> / (pairs a, b in the system · shell · <1/volume>),
///
/// where the pairs in the system are N_a N_b, of like types N_a (N_a - 1) / 2, less what is
/// excluded, and the shell is the exact volume (in two dimensions: area) of the bin: 1 for
/// particles anywhere, also where they are few. /parameters/perrin/pairs names the types.
class Rdf final : public SampledObserver, public TopologyUser {
 public:
  Rdf(const RdfSettings& settings, Setup& setup);
  bool follows_topology() const override { return kind_ != "bonds"; }

 private:
  void choose_pairs(const RdfSettings& settings, Setup& setup);
  void exclude(Setup& setup);
  double pairs_of(std::uint32_t a, std::uint32_t b) const;
  void sample(Simulation& simulation) override;
  std::vector<double> row(const Box& box) override;
  void constants(const io::Node& root) override;
  void sums(Archive& archive) override;

  int dimension_;
  std::int64_t bins_;
  double r_max_;
  std::string kind_;  // of the pairs that are left out
  std::size_t types_;
  std::vector<std::array<std::uint32_t, 2>> pairs_;
  std::vector<std::string> names_;
  std::vector<double> number_, excluded_;   // of particles by type; of pairs by type and type
  Buffer<std::int32_t> histogram_of_;       // [type · types + type]; -1: not asked for
  Buffer<std::uint32_t> molecule_, bonds_;  // by id; ids, two by two. Empty: nothing is left out
  std::unique_ptr<PairGrid> grid_;
  Buffer<std::int64_t> copies_;                        // of the histograms, for threads
  Buffer<std::int64_t> counts_;                        // since the last row
  double reach_ = std::numeric_limits<double>::max();  // of the smallest box since then
};

void register_rdf(Registry& registry);

}  // namespace perrin::analysis
