// Charges that act on each other within a cut-off: Coulomb's law, the damped shifted force, the
// reaction field, and screened charges.
#include <cmath>
#include <memory>
#include <utility>

#include "engine/components/acts_between_all.h"
#include "engine/components/acts_by_coulomb.h"
#include "engine/components/coupled_trials.h"
#include "engine/components/excluded_energies.h"
#include "engine/components/registry.h"
#include "forces/charges/charge_pairs.h"
#include "forces/charges/charge_smearing.h"
#include "forces/charges/coulomb_constant.h"

namespace perrin {
namespace {

constexpr const char* cutoff_help = "cut-off distance (length)";

struct CutChargesSettings {
  double cutoff = 1;
  std::string truncation = "cut";
  std::optional<SmearingSettings> smearing;
  CoulombSettings coulomb;

  template <class D>
  friend void describe(D& d, CutChargesSettings& s) {
    d.example(R"({"cutoff": 2.5, "truncation": "force_shift"})");
    d.required("cutoff", s.cutoff, Positive{}, cutoff_help);
    d.optional("truncation", s.truncation, OneOf{"cut", "energy_shift", "force_shift"},
               "truncation of energy and force at the cut-off");
    d.optional("smearing", s.smearing, Any{}, smearing_help);
    d.optional("coulomb", s.coulomb, Any{}, coulomb_help);
  }
};

struct DampedChargesSettings {
  double cutoff = 1, damping = 0;
  std::string truncation = "force_shift";
  std::optional<SmearingSettings> smearing;
  CoulombSettings coulomb;

  template <class D>
  friend void describe(D& d, DampedChargesSettings& s) {
    d.example(R"({"cutoff": 2.5, "damping": 0.5})");
    d.required("cutoff", s.cutoff, Positive{}, cutoff_help);
    d.required("damping", s.damping, NonNegative{},
               "alpha of erfc(alpha r) (1/length); 0: no damping");
    d.optional("truncation", s.truncation, OneOf{"energy_shift", "force_shift"},
               "force_shift: Fennell and Gezelter; energy_shift: Wolf's sum");
    d.optional("smearing", s.smearing, Any{}, smearing_help);
    d.optional("coulomb", s.coulomb, Any{}, coulomb_help);
  }
};

struct ReactionFieldSettings {
  double cutoff = 1;
  std::optional<double> permittivity_ratio;
  std::optional<SmearingSettings> smearing;
  CoulombSettings coulomb;

  template <class D>
  friend void describe(D& d, ReactionFieldSettings& s) {
    d.example(R"({"cutoff": 2.5, "permittivity_ratio": 10})");
    d.required("cutoff", s.cutoff, Positive{}, cutoff_help);
    d.optional("permittivity_ratio", s.permittivity_ratio, Positive{},
               "permittivity beyond the cut-off, in units of that within; default: a conductor");
    d.optional("smearing", s.smearing, Any{}, smearing_help);
    d.optional("coulomb", s.coulomb, Any{}, coulomb_help);
  }
};

struct DebyeHueckelSettings {
  double cutoff = 1, kappa = 0;
  std::string truncation = "cut";
  CoulombSettings coulomb;

  template <class D>
  friend void describe(D& d, DebyeHueckelSettings& s) {
    d.example(R"({"cutoff": 2.5, "kappa": 1})");
    d.required("cutoff", s.cutoff, Positive{}, cutoff_help);
    d.required("kappa", s.kappa, NonNegative{}, "inverse Debye length (1/length)");
    d.optional("truncation", s.truncation, OneOf{"cut", "energy_shift", "force_shift"},
               "truncation of energy and force at the cut-off");
    d.optional("coulomb", s.coulomb, Any{}, coulomb_help);
  }
};

ChargeLaw law_of(const CutChargesSettings& s) {
  ChargeLaw law{.cutoff = s.cutoff, .smearing = smearing_of(s.smearing)};
  law.shift(s.truncation == "energy_shift", s.truncation == "force_shift");
  return law;
}

/// D. Wolf, P. Keblinski, S. R. Phillpot, J. Eggebrecht, J. Chem. Phys. 110, 8254 (1999), eq. 5.9;
/// C. J. Fennell, J. D. Gezelter, J. Chem. Phys. 124, 234104 (2006), eqs. 18 and 19. A charge and
/// the neutralizing one on the sphere of the cut-off have the energy `self`.
ChargeLaw law_of(const DampedChargesSettings& s) {
  ChargeLaw law{.cutoff = s.cutoff, .alpha = s.damping, .corrects_excluded = true};
  law.shift(true, s.truncation == "force_shift");
  law.self = law.c0 / 2 - s.damping / std::sqrt(M_PI);
  law.smearing = smearing_of(s.smearing);
  return law;
}

/// J. A. Barker, R. O. Watts, Mol. Phys. 26, 789 (1973); I. G. Tironi, R. Sperb, P. E. Smith, W. F.
/// van Gunsteren, J. Chem. Phys. 102, 5451 (1995), without salt. Shifted to zero at the cut-off.
ChargeLaw law_of(const ReactionFieldSettings& s) {
  ChargeLaw law{.cutoff = s.cutoff, .corrects_excluded = true};
  const double strength =
      s.permittivity_ratio ? (*s.permittivity_ratio - 1) / (2 * *s.permittivity_ratio + 1) : 0.5;
  law.c2 = strength / (s.cutoff * s.cutoff * s.cutoff);
  law.c0 = -1 / s.cutoff - law.c2 * s.cutoff * s.cutoff;
  law.self = law.c0 / 2;
  law.smearing = smearing_of(s.smearing);
  return law;
}

ChargeLaw law_of(const DebyeHueckelSettings& s) {
  ChargeLaw law{.cutoff = s.cutoff, .kappa = s.kappa};
  law.shift(s.truncation == "energy_shift", s.truncation == "force_shift");
  return law;
}

/// Partners that pair forces leave out may be anywhere: trials are made one after another.
class ExcludedTrials final : public CoupledTrials {
 public:
  explicit ExcludedTrials(ChargePairs& pairs) : pairs_(pairs) {}
  void begin_trials(StepContext&) override {}
  void add_change(StepContext& s, const TrialMoves& trials) override {
    pairs_.correct_trials(s, trials, pairs_.trial_charges(s));
  }
  void follow_trial(StepContext&, const TrialMoves&) override {}
  bool takes_long_ways() const override { return true; }

 private:
  ChargePairs& pairs_;
};

class ChargePairForce final : public Force,
                              public HasCoupledTrials,
                              public HasExcludedEnergies,
                              public ActsBetweenAll,
                              public ActsByCoulomb {
 public:
  ChargePairForce(ChargePairs pairs, double constant)
      : Force(pairs.traits()), constant_(constant), pairs_(std::move(pairs)) {
    if (traits_.trials) return;
    traits_.trials = true;
    excluded_ = std::make_unique<ExcludedTrials>(pairs_);
  }

  void compute(StepContext& s, const ForceOutput& output) override { pairs_.compute(s, output); }
  void compute_trials(StepContext& s, const TrialMoves& trials) override {
    pairs_.compute_trials(s, trials);
  }
  void run_trial_chains(StepContext& s, const TrialChains& chains) override {
    pairs_.run_trial_chains(s, chains);
  }
  CoupledTrials* coupled_trials() const override { return excluded_.get(); }
  void add_excluded(StepContext& s, const TrialMoves& trials) override {
    pairs_.correct_trials(s, trials, pairs_.trial_charges(s));
  }
  std::string between() const override { return "charges"; }
  double coulomb_constant() const override { return constant_; }
  bool follows_topology() const override { return true; }
  void follow_attributes(const std::map<std::string, std::vector<double>>& changed) override {
    pairs_.follow(changed);
  }

 private:
  double constant_;
  ChargePairs pairs_;
  std::unique_ptr<ExcludedTrials> excluded_;  // nullptr: no partners of corrections, or rigid ones
};

template <class Settings>
void register_charges(Registry& registry, const char* type, const char* help) {
  registry.add<Force, Settings>(type, help,
                                [](const Settings& s, Setup& setup) -> std::unique_ptr<Force> {
                                  ChargeLaw law = law_of(s);
                                  law.constant = coulomb_constant(s.coulomb, setup);
                                  const ChargeSums charges = sum_charges(setup);
                                  if (law.corrects_excluded) check_smearing(law, setup);
                                  if (!charges.any()) return nullptr;
                                  return std::make_unique<ChargePairForce>(
                                      ChargePairs(law, charges, false, setup), law.constant);
                                });
}

}  // namespace

void register_coulomb(Registry& registry) {
  register_charges<CutChargesSettings>(
      registry, "coulomb",
      "charges within a cut-off: C q_1 q_2/r, perhaps shifted; for the forces of all charges take "
      "ewald");
  register_charges<DampedChargesSettings>(
      registry, "coulomb_dsf",
      "damped charges within a cut-off: C q_1 q_2 (erfc(alpha r)/r, shifted), after Fennell and "
      "Gezelter or Wolf; with the part of excluded pairs and the energy of each charge by itself");
  register_charges<ReactionFieldSettings>(
      registry, "reaction_field",
      "charges within a cut-off in a dielectric or a conductor: C q_1 q_2 (1/r + k r² - c), after "
      "Barker and Watts; with the part of excluded pairs and the energy of each charge by itself");
  register_charges<DebyeHueckelSettings>(
      registry, "debye_hueckel",
      "charges that small ions screen (Debye, Hückel): C q_1 q_2 exp(-kappa r)/r");
}

}  // namespace perrin
