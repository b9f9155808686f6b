// Observer "bond_order": how the neighbours of a particle are arranged. In three dimensions q_l of
// P. J. Steinhardt, D. R. Nelson, M. Ronchetti, Phys. Rev. B 28, 784 (1983), and its mean over the
// neighbourhood, W. Lechner, C. Dellago, J. Chem. Phys. 129, 114707 (2008); in two psi_l of
// D. R. Nelson, B. I. Halperin, Phys. Rev. B 19, 2457 (1979).
#pragma once

#include <complex>

#include "neighborhood.h"
#include "sampled.h"

namespace perrin {
class Registry;
}

namespace perrin::analysis {

struct BondOrderSettings : SampledSettings {
  BondOrderSettings() { file = "bond_order.h5"; }
  double distance = 0;
  std::vector<std::int32_t> l;
  std::vector<std::string> types;
  std::string group = "all";
  std::int32_t bins = 100;
};
template <class D>
void describe(D& d, BondOrderSettings& s) {
  d.required("distance", s.distance, Positive{}, "neighbour cut-off (length)");
  describe_sampling(d, s, "the mean of the samples since the previous row");
  d.optional("l", s.l, Between{1, 12}, "orders l; empty: 4 and 6, in two dimensions 6");
  d.optional("types", s.types, Any{}, "particle types considered; empty: all");
  d.optional("group", s.group, Any{},
             "group of particles considered, which stays the same; others are no neighbours");
  d.optional("bins", s.bins, Between{1, 100000},
             "number of bins of the distributions, from 0 to 1");
}

/// Columns for every l, with Y_lm summed over the n neighbours of a particle:
///
///     q_lm = 1/n sum of Y_lm          q<l>           (4 pi / (2 l + 1) sum over m of |q_lm|²)^1/2
///     mean of q_lm over it and those  q<l>_averaged  of these (Lechner and Dellago)
///     mean of Y_lm over all pairs     q<l>_global    of these
///
/// in two dimensions psi<l> = |1/n sum of exp(i l theta)| and psi<l>_global, the absolute value of
/// the mean over all particles. The first two are averaged over particles, and have a column
/// …_distribution: the share of the particles in each bin. A particle without neighbours has 0.
/// Column neighbors: their mean number.
class BondOrder final : public SampledObserver {
 public:
  BondOrder(const BondOrderSettings& settings, Setup& setup);

 private:
  using Complex = std::complex<double>;
  void sample(const Observation& seen) override;
  std::vector<double> row(const Box& box) override;
  void sums(Archive& archive) override { state_of_sums(archive, sums_); }
  double* add_values(double* sums, const std::vector<double>& values) const;
  double* add_3d(const PairGrid::View& grid, int l, double* sums);
  double* add_2d(const PairGrid::View& grid, int l, double* sums);

  int dimension_;
  std::vector<std::int32_t> orders_;
  std::size_t bins_;
  Neighborhood neighborhood_;
  std::vector<double> sums_;  // of the columns
};

void register_bond_order(Registry& registry);

}  // namespace perrin::analysis
