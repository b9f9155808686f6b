// The sum over pairs of charges within a cut-off, of any ChargeLaw.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/components/force.h"
#include "forces/attribute_words.h"
#include "forces/charges/charge_law.h"
#include "forces/charges/ewald_series.h"
#include "forces/charges/waves_beyond.h"

namespace perrin {

namespace detail {
template <bool Energy, bool Smeared>
struct ChargeBody;
}

/// Charges of the particles of a job: sums, and which types have any.
struct ChargeSums {
  double net = 0, squares = 0;      // of all, at the start
  double sizes = 0, largest = 0;    // Σ|q|, max |q|
  std::vector<bool> charged_types;  // [type]: some particle has, or may get, a charge
  bool changes = false;             // "changes" or "updates"
  bool any() const;
};
/// Reports at "" that no particle has a charge, or can get one.
ChargeSums sum_charges(Setup& setup);

class ChargePairs {
 public:
  /// `frozen_pairs`: also those that no stage moves, as a method must that cannot leave them out of
  /// its other parts.
  ChargePairs(const ChargeLaw& law, const ChargeSums& charges, bool frozen_pairs, Setup& setup);

  /// With the ranges; with all that corrections for excluded pairs read.
  ForceTraits traits() const;
  /// Pairs, then what the law says of excluded pairs and of each charge by itself. Device work.
  void compute(StepContext& s, const ForceOutput& output);
  void compute_trials(StepContext& s, const TrialMoves& trials);
  void run_trial_chains(StepContext& s, const TrialChains& chains);
  /// What moves of particles that keep their distances within molecules change of the corrections
  /// for excluded pairs; no other particle moves at the same time. Device work.
  void correct_trials(StepContext& s, const TrialMoves& trials, const AttributeView<1>& charge);
  /// In memory order; device work.
  AttributeView<1> charges(StepContext& s) { return words_.view<1>(s); }
  AttributeView<1> trial_charges(StepContext& s) { return words_.trial_view<1>(s); }
  /// Of the law, with what follows of it for a charge by itself.
  void set_splitting(double alpha, double self) {
    law_.alpha = alpha, law_.self = self;
    if (series_error_ > 0) use_series(series_error_);
  }
  /// Ewald's sum: steps without energies may take EwaldSeries, where the error of the force of two
  /// unit charges stays below this times Coulomb's constant (1/length²).
  void use_series(double most);
  /// Of a sum over waves: added to the corrections for excluded pairs.
  void set_beyond(const WavesBeyond& beyond) { beyond_ = beyond; }
  void follow(const std::map<std::string, std::vector<double>>& changed) { words_.follow(changed); }

 private:
  template <bool Energy, bool Smeared>
  detail::ChargeBody<Energy, Smeared> body(const StepContext& s, const ForceOutput& output,
                                           const AttributeView<1>& charge) const;
  void correct(StepContext& s, const ForceOutput& output, const AttributeView<1>& charge);

  ChargeLaw law_;
  WavesBeyond beyond_;
  std::optional<EwaldSeries<Real>> series_;
  double series_error_ = 0;  // of use_series()
  Ranges ranges_;
  ForceTraits::Reads reads_;
  std::uint32_t types_;
  Buffer<Real> cutoff2_;  // [type · types + type]
  AttributeWords words_;
};

}  // namespace perrin
