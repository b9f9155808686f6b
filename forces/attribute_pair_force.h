// A pair potential that depends on attributes of both particles (radius_1, charge_2, …), as a
// formula gives it.
//
// P is a struct like a pair potential (forces/pair_potential.h) with
//
//     static constexpr std::array<const char*, N> attributes{"radius", …};   // at most four
//     template <class T>
//     PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients&, const Real4& a,
//                                            const Real4& b);
//
// Its Coefficients are Reals, or nothing.
//
// a and b being the attributes of the two, in that order. Its energy must not change when the two
// are exchanged. Where pairs do not interact as far as the cut-off, but up to a distance that
// depends on attributes, it has also
//
//     PERRIN_HD static Real range(const Coefficients&, const Real4& a, const Real4& b);
//     static constexpr const char* range_formula;  // the same as text, of NAME_1, NAME_2 and …
//     static std::map<std::string, double> parameters(const Settings&);  // … of these
// What a truncation subtracts depends on the attributes, and is computed for every
// pair. Include it in a file that is compiled as CUDA where there is CUDA.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "engine/formula/parse.h"
#include "forces/attribute_words.h"
#include "forces/pair_force.h"

namespace perrin {
namespace detail {

/// Where a pair's interaction ends.
struct PairEnding {
  Real cutoff2, cutoff;
  Real on, inverse_width;  // Switched

  static PairEnding at(double cutoff, double on) {
    return {Real(cutoff * cutoff), Real(cutoff), Real(on), Real(1 / (cutoff - on))};
  }
  bool operator==(const PairEnding&) const = default;
};

/// Of a pair of types.
template <class P>
struct AttributeCoefficients {
  typename P::Coefficients potential;
  PairEnding end;
};

/// What all pairs of types have in common: everything, so that particles differ by their attributes
/// alone; where they end; nothing.
enum class Common { all, end, none };

template <class P>
Common common_of(const std::vector<AttributeCoefficients<P>>& table) {
  using C = typename P::Coefficients;
  constexpr bool padded = alignof(C) != alignof(Real) || sizeof(C) % sizeof(Real) != 0;
  const auto all = [&](const auto& same) {
    return std::ranges::all_of(table, [&](const auto& one) { return same(one, table.front()); });
  };
  if (!all([](const auto& a, const auto& b) { return a.end == b.end; })) return Common::none;
  if (table.size() == 1 || std::is_empty_v<C>) return Common::all;
  const bool same = !padded && all([](const auto& a, const auto& b) {
    return std::memcmp(&a.potential, &b.potential, sizeof(C)) == 0;
  });
  return same ? Common::all : Common::end;
}

template <class P>
concept HasRange = requires(const typename P::Coefficients& c, const Real4& a) {
  P::range(c, a, a);
};

/// Of two particles; `c`: of their types.
template <class P>
PERRIN_HD PairEnding ending_of([[maybe_unused]] const typename P::Coefficients& potential,
                               const PairEnding& c, [[maybe_unused]] const Real4& a,
                               [[maybe_unused]] const Real4& b) {
  if constexpr (HasRange<P>) {
    const Real range = P::range(potential, a, b);
    const Real end = range < c.cutoff ? range : c.cutoff;
    const Real shrunk = end > 0 ? c.cutoff / end : Real(1);
    return {end > 0 ? end * end : Real(0), end, c.on / shrunk, c.inverse_width * shrunk};
  } else {
    return c;
  }
}

template <class P, class Mode>
struct AttributeTruncated {
  template <bool Shift, class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const typename P::Coefficients& potential,
                                         const PairEnding& at, const Real4& a, const Real4& b) {
    const PairForce<T> f = P::evaluate(r2, potential, a, b);
    if constexpr (std::is_same_v<Mode, Switched>) {
      return Switched::apply<T>(f, r2, {at.on, at.inverse_width});
    } else if constexpr (std::is_same_v<Mode, ForceShift>) {
      const PairForce<T> end = P::evaluate(T(at.cutoff2), potential, a, b);
      const T force = end.force_over_r * T(at.cutoff);
      const auto distance = Distance<T>::from_square(r2);
      return {f.force_over_r - force * distance.inverse,
              f.energy - end.energy + (distance.r - T(at.cutoff)) * force};
    } else {
      if constexpr (Shift)
        return {f.force_over_r, f.energy - P::evaluate(T(at.cutoff2), potential, a, b).energy};
      return f;
    }
  }
};

template <class P, class Mode, bool Energy, bool Shift, Common Same>
struct AttributePairBody {
  static constexpr std::size_t attribute_count = P::attributes.size();
  static constexpr int sums = Energy ? 10 : 3;
  static constexpr int odd = 3;
  static constexpr bool has_extra = true, one_type = Same == Common::all;
  static constexpr bool looks_up = !one_type;
  using Coefficients = AttributeCoefficients<P>;
  const Position* position;
  const Coefficients* table;  // [type_i · types + type_j]
  std::uint32_t types;
  std::int64_t n;
  ForceOutput output;
  AttributeView<attribute_count> attributes;
  using Extra = AttributeWord<attribute_count>;

  struct Own {
    std::uint32_t row;  // of the table
    Extra attributes;
    Coefficients coefficients;  // what all pairs of types have in common
  };
  PERRIN_HD Own own(std::int64_t i) const {
    return {one_type ? 0u : position[i].type() * types, attributes(std::uint32_t(i)), table[0]};
  }
  template <class Index>
  PERRIN_HD Extra extra(Index j) const {
    return attributes(j);
  }

  PERRIN_HD void pair(const Own& own, Real3 d, [[maybe_unused]] std::uint32_t type,
                      const Extra& extra, bool real, Real (&term)[sums]) const {
    pair_with(own, d, type, one_type ? own.coefficients : entry(table, own.row + type), extra, real,
              term);
  }
  PERRIN_HD void pair_with(const Own& own, Real3 d, std::uint32_t, const Coefficients& c,
                           const Extra& extra, bool real, Real (&term)[sums]) const {
    const Real4 of_i = to_real4(own.attributes), of_j = to_real4(extra);
    const Real r2 = Real(1e-24) + d.x * d.x + d.y * d.y + d.z * d.z;
    const PairEnding& of_types = Same == Common::none ? c.end : own.coefficients.end;
    const PairEnding end = ending_of<P>(c.potential, of_types, of_i, of_j);
    const auto result = AttributeTruncated<P, Mode>::template evaluate < Energy &&
                        Shift > (r2, c.potential, end, of_i, of_j);
    const bool inside = real && r2 < end.cutoff2;
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

template <class P>
std::vector<std::string> attribute_names() {
  return {P::attributes.begin(), P::attributes.end()};
}

template <class P>
bool reads_charges() {
  return std::ranges::count(attribute_names<P>(), "charge") > 0;
}

template <class P, class Mode>
class AttributePairForce final : public Force {
 public:
  AttributePairForce(const Device& device, const std::vector<AttributeCoefficients<P>>& table,
                     std::uint32_t types, const Ranges& ranges, AttributeWords words, bool shift)
      : Force(ForceTraits::of_pairs(ranges)),
        table_(device, std::span<const AttributeCoefficients<P>>(table)),
        types_(types),
        common_(common_of(table)),
        words_(std::move(words)),
        shift_(shift) {
    traits_.handled.charges = reads_charges<P>();
    traits_.trials = true;
  }

  void compute(StepContext& s, const ForceOutput& output) override {
    if (output.energy) return shift_ ? run<true, true>(s, output) : run<true, false>(s, output);
    if (common_ == Common::all) return run<false, false, Common::all>(s, output);
#ifndef __CUDACC__  // one body less to compile
    if (common_ == Common::end) return run<false, false, Common::end>(s, output);
#endif
    run<false, false>(s, output);
  }
  void follow_attributes(const std::map<std::string, std::vector<double>>& changed) override {
    words_.follow(changed);
  }

  void compute_trials(StepContext& s, const TrialMoves& trials) override {
    shift_ ? run_trials<true>(s, trials) : run_trials<false>(s, trials);
  }
  void run_trial_chains(StepContext& s, const TrialChains& chains) override {
    shift_ ? run_trials<true>(s, chains) : run_trials<false>(s, chains);
  }

 private:
  template <bool Energy, bool Shift, Common Same = Common::none>
  using Body = AttributePairBody<P, Mode, Energy, Shift, Same>;

  template <bool Energy, bool Shift, Common Same = Common::none>
  Body<Energy, Shift, Same> body(const StepContext& s, const ForceOutput& output,
                                 const AttributeView<P::attributes.size()>& attributes) const {
    return {s.particles().position().data(),
            table_.data(),
            types_,
            s.particles().size(),
            output,
            attributes};
  }
  template <bool Energy, bool Shift, Common Same = Common::none>
  void run(StepContext& s, const ForceOutput& output) {
    const auto attributes = words_.template view<P::attributes.size()>(s);
    pair_loop(P::type, *s.neighbors(), body<Energy, Shift, Same>(s, output, attributes));
  }
  template <bool Shift>
  Body<true, Shift> trial_body(StepContext& s) {
    return body<true, Shift>(s, {}, words_.template trial_view<P::attributes.size()>(s));
  }
  template <bool Shift>
  void run_trials(StepContext& s, const TrialMoves& trials) {
    trial_loop(P::type, s, trials, trial_body<Shift>(s));
  }
  template <bool Shift>
  void run_trials(StepContext& s, const TrialChains& chains) {
    trial_chain_loop(P::type, s, chains, trial_body<Shift>(s));
  }

  Buffer<AttributeCoefficients<P>> table_;
  std::uint32_t types_;
  Common common_;  // what is the same for all pairs is in registers
  AttributeWords words_;
  bool shift_;  // "energy_shift"
};

/// Reports an energy that changes when the two particles are exchanged: forces would not be
/// opposite. Tries pairs of the system's particles.
template <class P>
void check_exchange(const AttributeWords& words, const std::vector<AttributeCoefficients<P>>& table,
                    Setup& setup, const std::string& key = "energy") {
  const auto& values = words.values();
  std::mt19937_64 random(1);  // which pairs are tried changes no run
  for (int k = 0; k < 256 && !values.empty(); ++k) {
    const std::size_t i = random() % values.size(), j = random() % values.size();
    const auto& c = table[k % table.size()];
    const double r = double(c.end.cutoff) * (0.3 + 0.65 * double(k) / 256);
    const double one = P::evaluate(r * r, c.potential, words.word(i), words.word(j)).energy;
    const double other = P::evaluate(r * r, c.potential, words.word(j), words.word(i)).energy;
    if (std::abs(one - other) <= 1e-6 * (std::abs(one) + std::abs(other))) continue;
    return setup.error(
        key, fmt::format("must not change when particles 1 and 2 are exchanged, got {:.7g} "
                         "and {:.7g} for particles {} and {} at the distance {:.6g}",
                         one, other, i, j, r));
  }
}

/// Reports a range that may be longer than the cut-off, which lists are built for.
template <class P>
void check_range(const AttributeWords& words, const typename P::Settings& parameters,
                 std::array<std::uint32_t, 2> types, double cutoff, Setup& setup) {
  std::map<std::string, formula::Bounds> known;
  std::vector<std::string> variables;
  for (const auto& [name, value] : P::parameters(parameters)) known[name] = {value, value};
  for (std::size_t k = 0; k < P::attributes.size(); ++k)
    for (std::size_t one = 0; one < 2; ++one) {
      variables.push_back(P::attributes[k] + std::string(one == 0 ? "_1" : "_2"));
      const formula::Bounds of = words.bounds(k, types[one], setup.configuration());
      if (of.low > of.high) return;  // of no particles
      known[variables.back()] = of;
    }
  const auto formula = formula::parse(P::range_formula, variables);
  const formula::Bounds range = formula::bounds(formula.value, known);
  const auto& names = setup.configuration().types;
  for (const char* const name : P::attributes)
    if (const auto& between = setup.configuration().attribute_between;
        !std::isfinite(range.high) && between.contains(name) && !std::isfinite(between.at(name)[0]))
      return setup.error("range",
                         fmt::format("has no longest distance: give the \"updates\" of the "
                                     "attribute \"{}\" \"between\"",
                                     name));
  if (!(range.high <= cutoff * (1 + 1e-6)))
    setup.error("range", fmt::format("may be as long as {:.6g} between particles of the types {} "
                                     "and {}: must not exceed the cut-off {}",
                                     range.high, names[types[0]], names[types[1]], cutoff));
}

template <class P, class Mode>
std::unique_ptr<Force> make_attribute_pair_force(const PairSettings<P>& s, Setup& setup) {
  PairTable<P> table(s, setup);
  const std::size_t types = table.types();
  check_switch(setup, s.truncation, s.switch_on);
  std::vector<AttributeCoefficients<P>> coefficients;
  std::vector<double> ranges;
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b) {
      if (!table.at(a, b) || !std::isfinite(table.cutoff(a, b))) return nullptr;  // reported
      const double cutoff = table.cutoff(a, b);
      if (!switch_fits(setup, s.truncation, s.switch_on, cutoff)) return nullptr;
      coefficients.push_back({P::coefficients(table.at(a, b)->parameters),
                              PairEnding::at(cutoff, switch_begin(s.switch_on, cutoff))});
      ranges.push_back(cutoff);
    }
  AttributeWords words(attribute_names<P>(), "energy", setup);
  if constexpr (HasRange<P>)
    for (std::size_t a = 0; a < types; ++a)
      for (std::size_t b = a; b < types; ++b)
        check_range<P>(words, table.at(a, b)->parameters, {std::uint32_t(a), std::uint32_t(b)},
                       table.cutoff(a, b), setup);
  check_exchange<P>(words, coefficients, setup);
  const double longest = *std::ranges::max_element(ranges);
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b) {
      const std::size_t k = a * types + b;
      if (setup.both_frozen(a, b) || table.silent(a, b))
        coefficients[k].end.cutoff2 = coefficients[k].end.cutoff = 0, ranges[k] = 0;
    }
  const Ranges found(types, ranges);
  return std::make_unique<AttributePairForce<P, Mode>>(
      setup.device(), coefficients, std::uint32_t(types),
      found.longest() > 0 ? found : Ranges(longest), std::move(words),
      s.truncation == PlainCut::shifted);
}

}  // namespace detail

/// Makes P available to jobs under P::type; `Modes`: its truncations, each compiled by itself. A
/// job with another one is refused.
template <class P, class Modes = AllTruncations>
void register_attribute_pair_potential(Registry& registry) {
  static_assert(P::attributes.size() <= AttributeWords::most);
  registry.add<Force, PairSettings<P>>(
      P::type, P::help, [](const PairSettings<P>& s, Setup& setup) -> std::unique_ptr<Force> {
        return detail::with_compiled_truncation(
            setup, s.truncation,
            [&]<class Mode>() { return detail::make_attribute_pair_force<P, Mode>(s, setup); },
            Modes{});
      });
}

}  // namespace perrin
