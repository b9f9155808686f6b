// Observer "orientational_correlation": how far the axes of two particles agree by their distance.
#pragma once

#include <limits>

#include "neighborhood.h"
#include "sampled.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct OrientationalCorrelationSettings : SampledSettings {
  OrientationalCorrelationSettings() { file = "orientational_correlation.h5"; }
  double r_max = 0;
  std::int32_t bins = 100;
  std::vector<std::int32_t> l{1, 2};
  std::vector<std::string> types;
  std::string group = "all";
};
template <class D>
void describe(D& d, OrientationalCorrelationSettings& s) {
  describe_sampling(d, s, "the mean of the samples since the previous row");
  d.optional("r_max", s.r_max, NonNegative{},
             "upper end of the last bin (length); 0: half the shortest distance between opposite "
             "faces of the box at the start. In rows of a smaller box, bins beyond half of that "
             "distance are NaN");
  d.optional("bins", s.bins, Between{1, 100000}, "number of bins");
  d.optional("l", s.l, Between{1, 12}, "orders l of the polynomials of the angle between two axes");
  d.optional("types", s.types, Any{}, "particle types considered; empty: all");
  d.optional("group", s.group, Any{}, "group of particles considered, which stays the same");
}

/// Columns, in d dimensions, of pairs with axes u, v (x of their frames) and e between them: r; g,
/// the radial distribution function; g_<l>, the mean over pairs of P_l(u·v), in two dimensions of
/// cos(l times the angle), NaN where there are no pairs; h110 = d g <u·v>; in three dimensions
/// h112 = 3/2 g <3 (u·e)(v·e) - u·v>.
class OrientationalCorrelation final : public SampledObserver {
 public:
  OrientationalCorrelation(const OrientationalCorrelationSettings& settings, Setup& setup);

 private:
  void sample(const Observation& seen) override;
  std::vector<double> row(const Box& box) override;
  void sums(Archive& archive) override;
  std::size_t values() const { return 4 + orders_.size(); }  // of a bin

  int dimension_;
  std::vector<std::int32_t> orders_;
  double r_max_;
  std::size_t bins_;
  Neighborhood neighborhood_;
  /// [bin · values() + …]: pairs; pairs, u·v and 3 (u·e)(v·e) - u·v times the volume; P_l.
  std::vector<double> sums_;
  double reach_ = std::numeric_limits<double>::max();  // of the smallest box since the last row
};

void register_orientational_correlation(Registry& registry);

}  // namespace perrin::analysis
