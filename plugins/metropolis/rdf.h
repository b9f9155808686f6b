// Radial distribution functions of all pairs of site types, of different molecules.
#pragma once

#include <string>
#include <vector>

#include "system.h"

namespace perrin::metropolis {

/// g_ab(r) = counted pairs in a shell / (all pairs a, b of different molecules · shell / V): 1 for
/// sites anywhere. With `own_molecule` sites of one molecule are counted, too, and all pairs are
/// N_a N_b (N_a²/2 of like types): far away g is 1 less what the molecule itself takes. With
/// `all_pairs` the divisor is N_a N_b, N_a (N_a - 1)/2 of like types, whatever is counted. Averages
/// over configurations and replicas. Beyond half of an edge nearest images are not all: bins that
/// were there in any configuration have no value (NaN).
class Rdf {
 public:
  Rdf() = default;
  Rdf(const Model& model, int bins, double range, bool own_molecule = false,
      bool all_pairs = false);
  void add(System& system) { add(sample(system)); }
  /// What one look at a system gives, to be added to several.
  struct Sample {
    std::vector<std::int64_t> counts;
    double density = 0;  // 1/V, over replicas
    int reach = 0;       // bins up to half of the shortest edge
  };
  Sample sample(System& system) const;
  void add(const Sample& sample);
  void clear();
  std::int64_t samples() const { return samples_; }
  double width() const { return width_; }
  int bins() const { return bins_; }
  int reach() const { return reach_; }  // bins that have values
  /// "A-A", "A-B", "B-B", … : index of (a ≤ b).
  const std::vector<std::string>& names() const { return names_; }
  /// Of one pair of types, in the middle of each bin.
  std::vector<double> values(std::size_t pair) const;
  /// True: restored for another range or normalisation; then it is empty. Throws UserError where
  /// the number of bins is another.
  bool state(Archive& archive);

 private:
  bool own_molecule_ = false, all_pairs_ = false;
  int bins_ = 0, reach_ = 0;
  double width_ = 0;
  std::vector<std::string> names_;
  std::vector<double> pairs_;  // number of pairs of sites
  std::vector<std::int64_t> counts_;
  std::int64_t samples_ = 0;
  double density_sum_ = 0;  // of 1/V over configurations and replicas
};

}  // namespace perrin::metropolis
