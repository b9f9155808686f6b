// Clusters are reflected about a point: the geometric cluster algorithm. C. Dress, W. Krauth, J.
// Phys. A 28, L597 (1995), of hard particles; J. Liu, E. Luijten, Phys. Rev. Lett. 92, 035504
// (2004), of any potential between pairs.
//
// A particle is reflected. Each other one j near its old place or its new place is linked to it
// with the probability max(0, 1 - exp(-dE/kT)), where dE is the change of the energy of the two if
// j stays; then j is reflected, too, and links others. Nothing is rejected: all changes of the
// energy within the cluster are nought, and those with the others are in the links.
//
// The point is drawn from a distribution about the first particle that is the same from its new
// place. A cluster that grows beyond a given number of particles, or is linked to one that may not
// move, is given up, whichever link is looked at first; so this keeps the distribution, too.
//
// Clusters grow on the host, one after the other; the forces are asked for all links of those that
// were linked last.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/settings/settings.h"
#include "move.h"
#include "neighbor/ranges.h"
#include "pair_changes.h"
#include "rng/keyed.h"

namespace perrin {
class Setup;
}

namespace perrin::monte_carlo {

class NearParticles;

struct ClusterSettings {
  std::int64_t trials = 10;
  std::optional<double> displacement;
  std::optional<std::int64_t> largest;
  std::string first = "all";
};

template <class D>
void describe(D& d, ClusterSettings& s) {
  d.optional("trials", s.trials, Between{1, 1e9}, "clusters in a sweep");
  d.optional("displacement", s.displacement, Positive{},
             "the first particle of a cluster goes by up to this along each edge of the box "
             "(length); default: anywhere");
  d.optional("largest", s.largest, Positive{},
             "a cluster that would have more particles is given up; default: none is");
  d.optional("first", s.first, Any{}, "group of those with which clusters begin");
}

/// Reports what does not fit the job. `group`: of the stage.
void check_cluster(const ClusterSettings& settings, const std::string& group, Setup& setup);
/// Why a force cannot act beside these moves; empty: it can.
std::string cluster_objection(const Force& force);

class Cluster final : public Move {
 public:
  using Random = Philox;

  Cluster(const ClusterSettings& settings, const std::string& group)
      : settings_(settings), displacement_(settings.displacement.value_or(0)), group_name_(group) {}

  std::string name() const override { return "cluster"; }
  void begin(StageContext& context) override;
  void sweep(StepContext& context, double kt) override;
  TrialCounts counts() const override { return counts_; }
  double size() const override { return displacement_; }
  double largest_size() const override { return largest_displacement_; }
  void set_size(double displacement) override { displacement_ = displacement; }
  std::string size_text() const override;
  std::vector<MoveSize> sizes() const override;
  std::string way() const override { return "one after another, grown on the host"; }
  std::string why_none_tried() const override { return "no particle may move"; }
  std::string why_none_accepted() const override {
    return "clusters have more particles than \"largest\", or are linked to some that may not move";
  }
  std::string shortcoming() const override;
  void state(Archive& archive) override;

 private:
  struct Reflection;
  Reflection draw(const StepContext& context, const Position& first, Random& random) const;
  bool grow(StepContext& context, NearParticles& near, const std::vector<std::uint32_t>& index,
            std::uint32_t first, double kt, Random& random);

  ClusterSettings settings_;
  double displacement_, largest_displacement_ = 0;
  std::string group_name_;
  Ranges ranges_;
  std::vector<bool> moves_;           // [id]
  std::vector<std::uint32_t> first_;  // ids
  PairChanges changes_;
  TrialCounts counts_;
  std::int64_t moved_ = 0;  // particles in all clusters that were reflected
};

}  // namespace perrin::monte_carlo
