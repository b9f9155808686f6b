// A pair potential over the neighbour list: the Force around any PairPotential, and its
// registration.
//
//     void register_components(Registry& r) { register_pair_potential<MyPotential>(r); }
//
// Include it in a file that is compiled as CUDA where there is CUDA.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "engine/base/numbers.h"
#include "engine/components/registry.h"
#include "engine/components/step_context.h"
#include "forces/deposit.h"
#include "forces/pair_checks.h"
#include "forces/trials/trial_loop.h"
#include "forces/truncation.h"
#include "neighbor/pair_loop.h"

namespace perrin {

/// What a job says of a pair potential: parameters per pair of types, and how it ends. P: also a
/// potential of attributes or of orientations.
template <class P>
struct PairSettings {
  struct Pair {
    std::array<std::string, 2> types;
    typename P::Settings parameters;
    std::optional<double> cutoff;

    template <class D>
    friend void describe(D& d, Pair& s) {
      d.required("types", s.types, Any{}, "the two particle types, e.g. [\"A\", \"B\"]");
      describe(d, s.parameters);
      d.optional("cutoff", s.cutoff, Positive{}, "cut-off of this pair of types (length)");
    }
  };
  std::optional<double> cutoff;
  std::string truncation = PlainCut::name;
  std::optional<double> switch_on;
  std::string mixing = "none";
  bool tail = false;
  std::vector<Pair> pairs;

  template <class D>
  friend void describe(D& d, PairSettings& s) {
    d.optional("cutoff", s.cutoff, Positive{}, "cut-off distance of all pairs of types (length)");
    d.optional("truncation", s.truncation, OneOf{"cut", "energy_shift", "force_shift", "switch"},
               "truncation of energy and force at the cut-off");
    d.optional("switch_on", s.switch_on, Positive{},
               "distance at which \"switch\" begins (length); default: 0.9 of the cut-off");
    if constexpr (HasMixing<P>)
      d.optional("mixing", s.mixing, OneOf{"none", "lorentz_berthelot", "geometric"},
                 "mixing rule for pairs of unlike types that are not listed");
    if constexpr (HasTail<P>)
      d.optional("tail", s.tail, Any{},
                 "add the long-range (tail) correction of energy and pressure; for the truncations "
                 "cut and switch");
    d.required("pairs", s.pairs, Any{}, "parameters for each pair of types");
  }
};

namespace detail {

/// One pair of particles under the evaluator E (a Truncated<…>).
template <class E, bool Energy, bool OneType>
struct PairBody {
  static constexpr int sums = Energy ? 10 : 3;
  static constexpr int odd = 3;
  static constexpr bool has_extra = false;
  using Coefficients = typename E::Coefficients;
  static constexpr bool looks_up = !OneType;
  const Position* position;
  const Coefficients* table;  // [type_i · types + type_j]
  std::uint32_t types;
  std::int64_t n;
  ForceOutput output;

  struct Own {
    std::uint32_t row;          // of the table
    Coefficients coefficients;  // where there is one type only
  };
  PERRIN_HD Own own(std::int64_t i) const {
    return {OneType ? 0u : position[i].type() * types, table[0]};
  }

  PERRIN_HD void pair(const Own& own, Real3 d, std::uint32_t type, const Real4&, bool real,
                      Real (&term)[sums]) const {
    pair_with(own, d, type, OneType ? own.coefficients : entry(table, own.row + type), real, term);
  }
  template <std::size_t Terms>  // sums or more: the first of them
  PERRIN_HD void pair_with(const Own&, Real3 d, std::uint32_t, const Coefficients& c, bool real,
                           Real (&term)[Terms]) const {
    // No potential sees a distance below 10⁻¹² (reciprocal() of device_math.h relies on it).
    const Real r2 = Real(1e-24) + d.x * d.x + d.y * d.y + d.z * d.z;
    const auto result = E::evaluate(r2, c);
    const bool inside = real && r2 < c.cutoff2;
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

/// For changes of the box.
template <class E>
struct PairWorkBody : PairBody<E, false, false> {
  using Pairs = PairBody<E, false, false>;
  static constexpr int sums = 6;
  const Real4* velocity;
  BoxWork work;

  struct Own {
    typename Pairs::Own pairs;
    // All types, or none: GCC does not vectorise over a condition that all lanes share.
    std::uint32_t types_of_tilts;
  };
  PERRIN_HD Own own(std::int64_t i) const {
    return {Pairs::own(i), work.is_off_diagonal() ? Position::type_count : 0u};
  }
  PERRIN_HD void pair(const Own& own, Real3 d, std::uint32_t type, const Real4&, bool real,
                      Real (&term)[sums]) const {
    pair_with(own, d, type, entry(this->table, own.pairs.row + type), real, term);
  }
  PERRIN_HD void pair_with(const Own& own, Real3 d, std::uint32_t type,
                           const typename E::Coefficients& c, bool real, Real (&term)[sums]) const {
    Pairs::pair_with(own.pairs, d, type, c, real, term);
    const bool t = type < own.types_of_tilts;
    term[3] = d.x * (t ? term[1] : term[0]);
    term[4] = (t ? d.x : d.y) * (t ? term[2] : term[1]);
    term[5] = (t ? d.y : d.z) * term[2];
  }
  PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const {
    const Real half = Real(0.5);
    const Real4 before = work.add ? work.of[i] : Real4{};
    work.of[i] = {before.x + half * sum[3], before.y + half * sum[4], before.z + half * sum[5],
                  before.w + work.power(velocity[i], sum[0], sum[1], sum[2])};
  }
};

/// Energy and virial of what lies beyond the cut-off: integral[a · types + b], per ordered pair.
struct Tail {
  std::vector<double> energy, virial;
  std::vector<double> count;  // particles of each type
};

template <class E>
class PairForceField final : public Force {
 public:
  PairForceField(const Device& device, const std::vector<typename E::Coefficients>& table,
                 std::uint32_t types, const Ranges& ranges, Tail tail)
      : Force(ForceTraits::of_pairs(ranges)),
        table_(device, std::span<const typename E::Coefficients>(table)),
        types_(types),
        tail_(std::move(tail)) {
    traits_.trials = true;
  }

  void compute(StepContext& s, const ForceOutput& output) override {
    if (output.energy)
      run<true, false>(s, output);  // now and then: one body less to compile
    else
      types_ == 1 ? run<false, true>(s, output) : run<false, false>(s, output);
  }

  void compute_trials(StepContext& s, const TrialMoves& trials) override {
    trial_loop(E::Potential::type, s, trials, trial_body(s));
  }
  void run_trial_chains(StepContext& s, const TrialChains& chains) override {
    trial_chain_loop(E::Potential::type, s, chains, trial_body(s));
  }

  bool compute_box_work(StepContext& s, const BoxWork& work) override {
    if (work.of == nullptr) return true;
    const PairBody<E, false, false> pairs{
        s.particles().position().data(), table_.data(), types_, s.particles().size(), {}};
    pair_loop(E::Potential::type, *s.neighbors(),
              PairWorkBody<E>{pairs, s.particles().velocity().data(), work});
    return true;
  }

  ForceCorrection correction(const Box& box) const override {
    ForceCorrection c;
    const double volume = box.volume();
    for (std::size_t a = 0; a < tail_.count.size(); ++a)
      for (std::size_t b = 0; b < tail_.count.size(); ++b) {
        const double pairs = 2 * M_PI * tail_.count[a] * tail_.count[b] / volume;
        c.energy += pairs * tail_.energy[a * types_ + b];
        c.virial += pairs * tail_.virial[a * types_ + b];
      }
    return c;
  }

 private:
  PairBody<E, true, false> trial_body(StepContext& s) const {
    return {s.particles().position().data(), table_.data(), types_, s.particles().size(), {}};
  }
  template <bool Energy, bool OneType>
  void run(StepContext& s, const ForceOutput& output) {
    pair_loop(E::Potential::type, *s.neighbors(),
              PairBody<E, Energy, OneType>{s.particles().position().data(), table_.data(), types_,
                                           s.particles().size(), output});
  }

  Buffer<typename E::Coefficients> table_;
  std::uint32_t types_;
  Tail tail_;
};

/// Parameters of every pair of types, or an error for each one that is missing.
template <class P>
class PairTable {
 public:
  struct Entry {
    typename P::Settings parameters;
    std::optional<double> cutoff;
    std::optional<std::size_t> own_cutoff = std::nullopt;  // of pairs[own_cutoff]
  };

  PairTable(const PairSettings<P>& s, Setup& setup)
      : types_(setup.configuration().types.size()), entries_(types_ * types_) {
    bool known = true;  // a type that is not there may be a slip of the pen for one that is
    for (std::size_t k = 0; k < s.pairs.size(); ++k) {
      const auto& pair = s.pairs[k];
      if constexpr (HasCheck<P>)
        P::check(pair.parameters, [&](const std::string& wrong, const std::string& what) {
          setup.error(fmt::format("pairs[{}].{}", k, wrong), what);
        });
      const auto indices = pair_of_types(setup, pair.types, k);
      known = known && indices;
      if (!indices) continue;
      const auto [a, b] = *indices;
      if (at(a, b))
        setup.error(fmt::format("pairs[{}].types", k),
                    fmt::format("the pair {}, {} is given twice", pair.types[0], pair.types[1]));
      at(a, b) = at(b, a) = Entry{pair.parameters, pair.cutoff ? pair.cutoff : s.cutoff,
                                  pair.cutoff ? std::optional(k) : std::nullopt};
    }
    if constexpr (HasMixing<P>)
      if (s.mixing != "none")
        mix(s.mixing == "geometric" ? Mixing::geometric : Mixing::lorentz_berthelot, s.cutoff);
    leave_out_silent_types(setup.configuration());
    const auto& names = setup.configuration().types;
    std::vector<std::pair<std::string, std::string>> without_cutoff;
    for (std::size_t a = 0; known && a < types_; ++a)
      for (std::size_t b = a; b < types_; ++b) {
        if (!at(a, b))
          setup.error("pairs",
                      fmt::format("no parameters for the types {} and {}{}", names[a], names[b],
                                  HasMixing<P> && a != b && s.mixing == "none"
                                      ? " (list them, or set \"mixing\")"
                                      : ""));
        else if (!HasDefaultCutoff<P> && !at(a, b)->cutoff)
          without_cutoff.emplace_back(names[a], names[b]);
      }
    report_missing_cutoffs(setup, P::type, without_cutoff);
  }

  std::size_t types() const { return types_; }
  std::optional<Entry>& at(std::size_t a, std::size_t b) { return entries_[a * types_ + b]; }
  /// This potential acts on one of silent_types() only where the job gives its pairs.
  bool silent(std::size_t a, std::size_t b) const { return silent_[a * types_ + b]; }
  double cutoff(std::size_t a, std::size_t b) {
    const Entry& e = *at(a, b);
    double c = e.cutoff.value_or(std::numeric_limits<double>::infinity());
    if constexpr (HasDefaultCutoff<P>) c = std::min(c, P::default_cutoff(e.parameters));
    return c;
  }

 private:
  void mix(Mixing rule, std::optional<double> cutoff) {
    for (std::size_t a = 0; a < types_; ++a)
      for (std::size_t b = 0; b < types_; ++b)
        if constexpr (HasMixing<P>)
          if (a != b && !at(a, b) && at(a, a) && at(b, b))
            at(a, b) = at(b, a) =
                Entry{P::mix(at(a, a)->parameters, at(b, b)->parameters, rule), cutoff};
  }

  void leave_out_silent_types(const Configuration& configuration) {
    silent_.assign(entries_.size(), false);
    const auto given = std::ranges::find_if(entries_, [](const auto& e) { return e.has_value(); });
    const std::vector<bool> silent = silent_types(configuration);
    for (std::size_t a = 0; given != entries_.end() && a < types_; ++a)
      for (std::size_t b = 0; b < types_; ++b) {
        if (at(a, b) || !(silent[a] || silent[b])) continue;
        at(a, b) = Entry{(*given)->parameters, (*given)->cutoff};
        silent_[a * types_ + b] = true;
      }
  }

  std::size_t types_;
  std::vector<std::optional<Entry>> entries_;
  std::vector<bool> silent_;
};

/// Energy and force are zero whatever the distance (an epsilon of 0): such pairs need not be
/// listed.
template <class E>
bool is_nothing(const typename E::Coefficients& c, double cutoff) {
  constexpr int samples = 256;
  for (int k = 1; k < samples; ++k) {
    const double r = cutoff * k / samples;
    const auto f = E::template evaluate<double>(r * r, c);
    if (f.energy != 0 || f.force_over_r != 0) return false;
  }
  return true;
}

template <PairPotential P, class Modes = AllTruncations>
std::unique_ptr<Force> make_pair_force(const PairSettings<P>& s, Setup& setup) {
  PairTable<P> table(s, setup);
  const std::size_t types = table.types();
  check_switch(setup, s.truncation, s.switch_on);
  if (!is_compiled(setup, s.truncation, Modes{})) return nullptr;
  Tail tail;
  double range = 0;
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b) {
      if (!table.at(a, b) || !std::isfinite(table.cutoff(a, b))) return nullptr;  // reported above
      range = std::max(range, table.cutoff(a, b));
      if (!switch_fits(setup, s.truncation, s.switch_on, table.cutoff(a, b))) return nullptr;
    }
  if constexpr (HasDefaultCutoff<P>) {
    constexpr bool smooth = requires { requires P::ends_smoothly; };
    std::vector<PairEnd> ends;
    for (std::size_t a = 0; a < types; ++a)
      for (std::size_t b = a; b < types; ++b) {
        const auto& e = *table.at(a, b);
        ends.push_back({P::default_cutoff(e.parameters), e.cutoff, e.own_cutoff});
      }
    check_ends(setup, P::type, s.truncation, smooth, s.cutoff, ends);
  }
  if constexpr (HasTail<P>) {
    if (s.tail && setup.configuration().box.dimension != 3)
      setup.error("tail", "requires three dimensions");
    const bool switched = s.truncation == Switched::name;
    if (s.tail && !switched && s.truncation != PlainCut::name)
      setup.error("tail",
                  fmt::format("is for the truncations cut and switch, got {}: what a shift "
                              "subtracts depends on the number of neighbours within the cut-off",
                              s.truncation));
    if (s.tail) {
      tail.count.assign(types, 0);
      for (const auto t : setup.configuration().type) ++tail.count[t];
      for (std::size_t a = 0; a < types; ++a)
        for (std::size_t b = 0; b < types; ++b) {
          const auto& parameters = table.at(a, b)->parameters;
          const double cutoff = table.cutoff(a, b);
          TailIntegrals before;
          if (switched)
            before = taken_by_switch<P>(parameters, {cutoff, s.switch_on.value_or(0.9 * cutoff)});
          const double counts = setup.both_frozen(a, b) || table.silent(a, b) ? 0 : 1;
          tail.energy.push_back(counts * (P::tail_energy(parameters, cutoff) + before.energy));
          tail.virial.push_back(counts * (P::tail_virial(parameters, cutoff) + before.virial));
        }
    }
  }
  const bool shift = s.truncation == PlainCut::shifted;
  return with_truncation(
      s.truncation,
      [&]<class Mode>() -> std::unique_ptr<Force> {
        using E = Truncated<P, Mode>;
        std::vector<typename E::Coefficients> coefficients;
        std::vector<double> ranges;
        for (std::size_t a = 0; a < types; ++a)
          for (std::size_t b = 0; b < types; ++b) {
            const double cutoff = table.cutoff(a, b);
            coefficients.push_back(E::coefficients(
                table.at(a, b)->parameters, {cutoff, switch_begin(s.switch_on, cutoff), shift}));
            const bool frozen = setup.both_frozen(a, b) || table.silent(a, b);
            if (frozen) coefficients.back().cutoff2 = 0;
            ranges.push_back(frozen || is_nothing<E>(coefficients.back(), cutoff) ? 0 : cutoff);
          }
        const Ranges found(types, ranges);
        return std::make_unique<PairForceField<E>>(
            setup.device(), coefficients, std::uint32_t(types),
            found.longest() > 0 ? found : Ranges(range), tail);
      },
      Modes{});
}

}  // namespace detail

/// Makes the potential P available to jobs under P::type. `Modes`: the truncations it is compiled
/// for (another one is a mistake in the job).
template <class P, class Modes = AllTruncations>
void register_pair_potential(Registry& registry) {
  static_assert(check_pair_potential<P>());
  if constexpr (PairPotential<P>)
    registry.add<Force, PairSettings<P>>(P::type, P::help,
                                         [](const PairSettings<P>& s, Setup& setup) {
                                           return detail::make_pair_force<P, Modes>(s, setup);
                                         });
}

}  // namespace perrin
