// Observer "coordination": how many particles of one kind are near those of another.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/buffer.h"
#include "pair_grid.h"
#include "sampled.h"
#include "types.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct CoordinationSettings : SampledSettings {
  CoordinationSettings() { file = "coordination.h5"; }
  double distance = 0;
  std::optional<double> smooth_from;
  std::vector<std::string> types, neighbor_types;
  std::string group = "all", neighbor_group = "all", exclude = "none";
  std::int32_t numbers = 32;
};
template <class D>
void describe(D& d, CoordinationSettings& s) {
  d.required("distance", s.distance, Positive{},
             "neighbours are nearer than this (length), at most half the shortest distance between "
             "opposite faces of the box");
  describe_sampling(d, s, "the mean of the samples since the previous row");
  d.optional("types", s.types, Any{}, "particle types whose neighbours are counted; empty: all");
  d.optional("group", s.group, Any{}, "group whose neighbours are counted");
  d.optional("neighbor_types", s.neighbor_types, Any{},
             "particle types that count as neighbours; empty: all");
  d.optional("neighbor_group", s.neighbor_group, Any{}, "group that counts as neighbours");
  d.optional("exclude", s.exclude, OneOf{"none", "molecules"},
             "exclude neighbours within the same molecule");
  d.optional("smooth_from", s.smooth_from, NonNegative{},
             "in the column coordination, a neighbour counts 1 - x³ (10 - 15 x + 6 x²) with x from "
             "0 here to 1 at distance (length); left out: 1");
  d.optional("numbers", s.numbers, Between{1, 100000},
             "the distribution has 0, 1, … neighbours up to this number, and all more in the last "
             "element");
}

/// Columns: coordination, the mean number of neighbours, over particles and samples; distribution,
/// the share of particles with 0, 1, … `numbers` neighbours, and with more; particles, the mean
/// number of those whose neighbours are counted. NaN where there was none.
class Coordination final : public SampledObserver {
 public:
  Coordination(const CoordinationSettings& settings, Setup& setup);

 private:
  void sample(const Observation& seen) override;
  std::vector<double> row(const Box& box) override;
  void sums(Archive& archive) override;

  CoordinationSettings settings_;
  Selection centers_, neighbors_;
  std::unique_ptr<PairGrid> grid_;
  Buffer<std::uint32_t> molecule_;  // [id]; empty: none is excluded
  Buffer<std::int32_t> count_;      // [place]
  Buffer<std::int64_t> weight_;     // [place], with smooth_from
  std::vector<double> sums_;        // particles; neighbours, weighted; the distribution
};

void register_coordination(Registry& registry);

}  // namespace perrin::analysis
