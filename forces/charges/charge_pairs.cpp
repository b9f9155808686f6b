#include "forces/charges/charge_pairs.h"

#include <algorithm>
#include <cmath>

#include "engine/system/nearest_vector.h"
#include "forces/deposit.h"
#include "forces/particle_loop.h"
#include "forces/trials/trial_loop.h"
#include "neighbor/pair_loop.h"

namespace perrin {
namespace detail {

template <bool Energy, bool Smeared>
struct ChargeBody {
  static constexpr int sums = Energy ? 10 : 3;
  static constexpr int odd = 3;
  static constexpr bool has_extra = true, one_type = false, looks_up = false;
  const Position* position;
  const Real* cutoff2;  // [type_i · types + type_j]
  std::uint32_t types;
  std::int64_t n;
  ForceOutput output;
  AttributeView<1> charge;
  ChargeCoefficients<Real, Smeared> law;

  struct Own {
    std::uint32_t row;
    Real product;  // constant · charge
  };
  PERRIN_HD Own own(std::int64_t i) const {
    return {position[i].type() * types, law.constant * charge(std::uint32_t(i))};
  }
  PERRIN_HD Real extra(std::uint32_t j) const { return charge(j); }

  PERRIN_HD void pair(const Own& own, Real3 d, std::uint32_t type, const Real& other, bool real,
                      Real (&term)[sums]) const {
    const Real r2 = Real(1e-24) + d.x * d.x + d.y * d.y + d.z * d.z;
    const auto result = law.evaluate(r2, own.product * other);
    const bool inside = real && r2 < cutoff2[own.row + type];
    const Real f = inside ? result.force_over_r : Real(0);
    term[0] = f * d.x, term[1] = f * d.y, term[2] = f * d.z;
    if constexpr (Energy) {
      term[3] = inside ? result.energy : Real(0);
      term[4] = d.x * term[0], term[5] = d.y * term[1], term[6] = d.z * term[2];
      term[7] = d.x * term[1], term[8] = d.x * term[2], term[9] = d.y * term[2];
    }
  }

  PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const {
    deposit_pairs<Energy>(output, n, i, sum);
  }
};

/// Ewald's sum in steps without energies. All pairs have one cut-off: where a type has none, the
/// charges are 0.
struct EwaldPairBody {
  static constexpr int sums = 3, odd = 3;
  static constexpr bool has_extra = true, one_type = true, looks_up = false;
  Real cutoff2, constant;
  std::int64_t n;
  ForceOutput output;
  AttributeView<1> charge;
  EwaldSeries<Real> series;

  struct Own {
    Real product;  // constant · charge
  };
  PERRIN_HD Own own(std::int64_t i) const { return {constant * charge(std::uint32_t(i))}; }
  PERRIN_HD Real extra(std::uint32_t j) const { return charge(j); }

  PERRIN_HD void pair(const Own& own, Real3 d, std::uint32_t, const Real& other, bool real,
                      Real (&term)[sums]) const {
    const Real r2 = Real(1e-24) + d.x * d.x + d.y * d.y + d.z * d.z;
    const Real found = series.force_over_r(r2, own.product * other);
    const Real f = real && r2 < cutoff2 ? found : Real(0);
    term[0] = f * d.x, term[1] = f * d.y, term[2] = f * d.z;
  }
  PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const {
    deposit_pairs<false>(output, n, i, sum);
  }
};

}  // namespace detail
namespace {

using detail::ChargeBody, detail::EwaldPairBody;

/// The law less 1/r, for the partners that pair forces leave out; and the energy of a charge by
/// itself. In double: of bonded charges both terms are large. Flat: WavesBeyond of a plane.
template <bool Flat>
struct CorrectCharges {
  ParticleView particles;
  Current<Metric> metric;
  BondVector vector;
  ExclusionView excluded;
  AttributeView<1> charge;
  const Real4* charge_by_id;
  ChargeCoefficients<double> law;
  WavesBeyond beyond;
  double range2;  // of corrections
  double self;
  ForceOutput out;

  PERRIN_HD void operator()(std::int64_t i) const {
    const double q = double(out.slow) * double(charge(std::uint32_t(i)));
    const Position here = particles.position[i];
    Real3 force{};
    double energy = 2 * self * law.constant * q * q;
    Virial virial;
    if (excluded) {
      const std::uint32_t id = particles.id[i];
      for (std::uint32_t k = excluded.begin[id]; k < excluded.begin[id + 1]; ++k) {
        const std::uint32_t partner = excluded.excluded[k];
        const Real3 r = vector(*metric, here, particles.position[particles.index[partner]]);
        const double r2 = 1e-24 + double(dot(r, r));
        if (!(r2 < range2)) continue;
        const double product = law.constant * q * double(charge_by_id[partner].x);
        const double inverse = 1 / std::sqrt(r2), distance = r2 * inverse;
        const auto f = law.evaluate(r2, product);
        double force_over_r = f.force_over_r - product * inverse * inverse * inverse;
        energy += f.energy - product * inverse;
        if (beyond.at_0 != 0) {
          force_over_r += product * beyond.force_over_r<Flat>(distance);
          if (out.energy) energy += product * beyond.energy<Flat>(distance);
          if (out.virial != nullptr) beyond.add_virial<Flat>(virial, r, product);
        }
        const Real3 fr = Real(force_over_r) * r;
        force += fr;
        virial.add(r, fr);
      }
    }
    deposit(out, particles.n, i, force, Real(energy), virial, Real(0.5));
  }
};

/// What it adds to the energy of a particle that moves, of partners that do not.
template <bool Flat>
struct CorrectTrials {
  TrialMoves trials;
  ParticleView particles;
  Metric metric;
  BondVector vector;
  ExclusionView excluded;
  AttributeView<1> charge;
  const Real4* charge_by_id;
  ChargeCoefficients<double> law;
  WavesBeyond beyond;
  double range2;

  PERRIN_HD double charge_of(std::uint32_t place) const {
    return place == TrialMove::none ? 0.0 : law.constant * double(charge(place));
  }
  PERRIN_HD double energy(const Position& here, const Position& there, double product) const {
    const Real3 r = vector(metric, here, there);
    const double r2 = 1e-24 + double(dot(r, r));
    if (!(r2 < range2)) return 0;
    const double distance = std::sqrt(r2);
    return law.evaluate(r2, product).energy +
           product * (beyond.energy<Flat>(distance) - 1 / distance);
  }
  PERRIN_HD void operator()(std::int64_t k) const {
    const TrialMove& m = trials.move[k];
    if (!m.is_tried() || m.slot == TrialMove::none) return;  // what is new has no partners
    const std::uint32_t id = trials.cells.id[m.slot];
    const double before = charge_of(m.before_as), after = charge_of(m.after_as);
    double change = 0;
    for (std::uint32_t at = excluded.begin[id]; at < excluded.begin[id + 1]; ++at) {
      const std::uint32_t partner = excluded.excluded[at];
      if (trials.molecule != nullptr && trials.molecule[id] == trials.molecule[partner]) continue;
      const Position there = particles.position[particles.index[partner]];
      const double other = double(charge_by_id[partner].x);
      change += energy(m.after, there, after * other) - energy(m.before, there, before * other);
    }
    trials.change[k] += change;
  }
};

/// The energy of a charge by itself, of particles that come, go or take the place of another one.
struct AddOwnEnergies {
  const TrialMove* move;
  AttributeView<1> charge;
  double factor;  // of the square
  double* change;

  PERRIN_HD double of(std::uint32_t place) const {
    const double q = place == TrialMove::none ? 0.0 : double(charge(place));
    return factor * q * q;
  }
  PERRIN_HD void operator()(std::int64_t k) const {
    const TrialMove& m = move[k];
    if (m.before_as != m.after_as) change[k] += of(m.after_as) - of(m.before_as);
  }
};

/// Where corrections find the partners.
ForceTraits::Reads reads_of(const Setup& setup) {
  using enum ForceTraits::Reads;
  const Topology& t = setup.configuration().topology;
  const bool bonds = !t.bonds.empty() || setup.dynamic_bonds().has_value();
  if (setup.excludes("molecules")) return everything;
  if (setup.excludes("angles") && (bonds || !t.angles.empty())) return everything;
  if (setup.excludes("dihedrals") && (bonds || !t.dihedrals.empty())) return everything;
  return setup.excludes("bonds") && bonds ? bonded : near;
}

}  // namespace

bool ChargeSums::any() const { return std::ranges::count(charged_types, true) > 0; }

ChargeSums sum_charges(Setup& setup) {
  const Configuration& c = setup.configuration();
  ChargeSums sums;
  sums.charged_types.assign(c.types.size(), false);
  for (std::size_t id = 0; id < c.charge.size(); ++id) {
    sums.net += c.charge[id], sums.squares += c.charge[id] * c.charge[id];
    sums.sizes += std::abs(c.charge[id]);
    sums.largest = std::max(sums.largest, std::abs(c.charge[id]));
    if (c.charge[id] != 0) sums.charged_types[c.type[id]] = true;
  }
  sums.changes = c.attribute_changes.contains("charge") || c.attribute_between.contains("charge");
  if (sums.changes) sums.charged_types.assign(c.types.size(), true);
  if (!sums.any())
    setup.error("",
                "acts on charges, but no particle of the system has one: give them by the "
                "system's file, or by \"attributes\": {\"charge\": …}");
  return sums;
}

ChargePairs::ChargePairs(const ChargeLaw& law, const ChargeSums& charges, bool frozen_pairs,
                         Setup& setup)
    : law_(law),
      reads_(law.corrects_excluded ? reads_of(setup) : ForceTraits::Reads::near),
      types_(std::uint32_t(charges.charged_types.size())),
      words_({"charge"}, "", setup) {
  std::vector<double> ranges;
  std::vector<Real> squares;
  for (std::size_t a = 0; a < types_; ++a)
    for (std::size_t b = 0; b < types_; ++b) {
      const bool acts = charges.charged_types[a] && charges.charged_types[b] &&
                        (frozen_pairs || !setup.both_frozen(a, b));
      ranges.push_back(acts ? law.cutoff : 0);
      squares.push_back(acts ? Real(law.cutoff * law.cutoff) : Real(0));
    }
  const Ranges found(types_, ranges);
  ranges_ = found.longest() > 0 ? found : Ranges(law.cutoff);
  cutoff2_ = {setup.device(), std::span<const Real>(squares)};
}

ForceTraits ChargePairs::traits() const {
  ForceTraits traits = ForceTraits::of_pairs(ranges_);
  traits.reads = reads_;
  traits.handled.charges = true;
  traits.trials = reads_ == ForceTraits::Reads::near;
  return traits;
}

template <bool Energy, bool Smeared>
ChargeBody<Energy, Smeared> ChargePairs::body(const StepContext& s, const ForceOutput& output,
                                              const AttributeView<1>& charge) const {
  return {s.particles().position().data(),
          cutoff2_.data(),
          types_,
          s.particles().size(),
          output,
          charge,
          ChargeCoefficients<Real, Smeared>(law_)};
}

void ChargePairs::use_series(double most) {
  series_error_ = most;
  series_.reset();
  if (law_.smearing || law_.kappa != 0 || law_.c0 != 0 || law_.c1 != 0 || law_.c2 != 0) return;
  if (ewald_series_error(law_.alpha, law_.cutoff) <= most) series_.emplace(law_.alpha, law_.cutoff);
}

void ChargePairs::compute(StepContext& s, const ForceOutput& output) {
  const AttributeView<1> charge = words_.view<1>(s);
  if (series_ && !output.energy) {
    const double c2 = law_.cutoff * law_.cutoff;
    pair_loop("charges", *s.neighbors(),
              EwaldPairBody{Real(c2), Real(law_.constant), s.particles().size(), output, charge,
                            *series_});
    return correct(s, output, charge);
  }
  const auto run = [&]<bool Smeared>() {
    if (output.energy)
      pair_loop("charges", *s.neighbors(), body<true, Smeared>(s, output, charge));
    else
      pair_loop("charges", *s.neighbors(), body<false, Smeared>(s, output, charge));
  };
  law_.smearing ? run.operator()<true>() : run.operator()<false>();
  correct(s, output, charge);
}

void ChargePairs::correct(StepContext& s, const ForceOutput& output,
                          const AttributeView<1>& charge) {
  const ExclusionView excluded =
      law_.corrects_excluded ? s.neighbors()->exclusions() : ExclusionView{};
  if (!excluded && (law_.self == 0 || !output.energy)) return;
  const double range = law_.excluded_range > 0 ? law_.excluded_range : law_.cutoff;
  ForceOutput added = output;
  added.add = true;
  if (!law_.slow_corrections) added.slow = 1;
  if (added.slow == Real(0)) return;
  const auto run = [&]<bool Flat>() {
    for_each_particle(
        "corrections of charges", s, added,
        CorrectCharges<Flat>{s.particles().view(), s.particles().metric(),
                             BondVector(s.particles().box()), excluded, charge,
                             excluded ? words_.by_id(s) : nullptr, ChargeCoefficients<double>(law_),
                             beyond_, range * range, law_.self, added});
  };
  beyond_.flat ? run.operator()<true>() : run.operator()<false>();
}

void ChargePairs::compute_trials(StepContext& s, const TrialMoves& trials) {
  const AttributeView<1> charge = words_.trial_view<1>(s);
  if (law_.smearing)
    trial_loop("charges", s, trials, body<true, true>(s, {}, charge));
  else
    trial_loop("charges", s, trials, body<true, false>(s, {}, charge));
  if (law_.self != 0)
    for_each(s.device(), "charges of trial moves by themselves", trials.count,
             AddOwnEnergies{trials.move, charge, law_.self * law_.constant, trials.change});
}

void ChargePairs::correct_trials(StepContext& s, const TrialMoves& trials,
                                 const AttributeView<1>& charge) {
  const ExclusionView excluded =
      law_.corrects_excluded ? s.neighbors()->exclusions() : ExclusionView{};
  if (!excluded) return;
  const double range = law_.excluded_range > 0 ? law_.excluded_range : law_.cutoff;
  const auto run = [&]<bool Flat>() {
    for_each(s.device(), "excluded charges of trial moves", trials.count,
             CorrectTrials<Flat>{trials, s.particles().view(), s.particles().box().metric(),
                                 BondVector(s.particles().box()), excluded, charge, words_.by_id(s),
                                 ChargeCoefficients<double>(law_), beyond_, range * range});
  };
  beyond_.flat ? run.operator()<true>() : run.operator()<false>();
}

void ChargePairs::run_trial_chains(StepContext& s, const TrialChains& chains) {
  const AttributeView<1> charge = words_.trial_view<1>(s);
  if (law_.smearing)
    trial_chain_loop("charges", s, chains, body<true, true>(s, {}, charge));
  else
    trial_chain_loop("charges", s, chains, body<true, false>(s, {}, charge));
}

}  // namespace perrin
