// A many-body potential that depends on attributes of the particles (radius_1, …), as formulas give
// it.
//
// P is a struct like a many-body potential (forces/many_body_potential.h) with
//
//     static constexpr std::array<const char*, N> attributes{"radius", …};   // at most three
//     template <class T>  // what particle b adds to the density of particle a
//     PERRIN_HD static PairForce<T> density(T r2, const Coefficients&, const Real4& a,
//                                           const Real4& b);
//     template <class T>  // optional; must not change when the two are exchanged
//     PERRIN_HD static PairForce<T> pair(T r2, const Coefficients&, const Real4& a, const Real4&
//     b); template <class T> PERRIN_HD static Embedding<T> embedding(T density, const
//     TypeCoefficients&, const Real4& a);
//
// in place of those without attributes. The loops are those of forces/many_body_loops.h for pairs
// of any types, with a density of each pair in both directions.
#pragma once

#include "forces/attribute_pair_force.h"
#include "forces/many_body_force.h"

namespace perrin {
namespace detail {

template <class P>
concept HasAttributePair = requires(const typename P::Coefficients& c, const Real4& a) {
  P::pair(1.0, c, a, a);
};

/// As pair potentials, for AttributeTruncated.
template <class P>
struct DensityOf {
  using Coefficients = typename P::Coefficients;
  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c, const Real4& a,
                                         const Real4& b) {
    return P::density(r2, c, a, b);
  }
};
template <class P>
struct PairOf {
  using Coefficients = typename P::Coefficients;
  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c, const Real4& a,
                                         const Real4& b) {
    return P::pair(r2, c, a, b);
  }
};

/// Both ways of a pair of types: what j adds to the density of i, and i to that of j.
template <class P>
struct AttributeBothWays {
  AttributeCoefficients<P> on_i, on_j;
};

template <class P>
struct AttributeManyBodyView {
  const Position* position;
  const AttributeBothWays<P>* table;         // [type_i · types + type_j]
  const typename P::TypeCoefficients* type;  // [type]
  std::uint32_t types;
  std::int64_t n;
  Real *density, *slope;  // [place in memory]: rho and F'
  AttributeView<P::attributes.size()> attributes;

  PERRIN_HD std::uint32_t type_of(std::int64_t i) const {
    return types == 1 ? 0u : position[i].type();
  }
  PERRIN_HD Embedding<Real> embedding(std::int64_t i, Real rho) const {
    return P::embedding(rho, type[type_of(i)], to_real4(attributes(std::uint32_t(i))));
  }
  /// Attributes, and F' behind them.
  template <class Index>
  PERRIN_HD Real4 word(Index j) const {
    Real4 word = to_real4(attributes(j));
    word.w = slope[j];
    return word;
  }
};

template <class Word>
struct ManyBodyOwn {
  std::uint32_t row;  // of the table
  Word word;
};

/// Half the difference and half the sum of the two densities, as DensityBody of any types.
template <class P, class Mode, bool Shift>
struct AttributeDensityBody {
  static constexpr int sums = 2, odd = 1;
  static constexpr bool has_extra = true, looks_up = true;
  using Coefficients = AttributeBothWays<P>;
  using Extra = AttributeWord<P::attributes.size()>;
  using Own = ManyBodyOwn<Extra>;
  AttributeManyBodyView<P> view;
  const Coefficients* table = view.table;
  std::uint32_t types = view.types;

  PERRIN_HD Own own(std::int64_t i) const {
    return {view.type_of(i) * view.types, view.attributes(std::uint32_t(i))};
  }
  template <class Index>
  PERRIN_HD Extra extra(Index j) const {
    return view.attributes(j);
  }
  PERRIN_HD void pair(const Own& own, Real3 d, std::uint32_t type, const Extra& extra, bool real,
                      Real (&term)[sums]) const {
    pair_with(own, d, type, entry(table, types == 1 ? 0u : own.row + type), extra, real, term);
  }
  PERRIN_HD void pair_with(const Own& own, Real3 d, std::uint32_t, const Coefficients& c,
                           const Extra& extra, bool real, Real (&term)[sums]) const {
    const Real r2 = square_of(d);
    const Real4 of_i = to_real4(own.word), of_j = to_real4(extra);
    const Real on_i = weight(r2, c.on_i, of_i, of_j, real);
    const Real on_j = weight(r2, c.on_j, of_j, of_i, real);
    term[0] = Real(0.5) * (on_i - on_j), term[1] = Real(0.5) * (on_i + on_j);
  }
  PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const {
    const Real rho = sum[0] + sum[1];
    view.density[i] = rho;
    view.slope[i] = rho != Real(0) ? view.embedding(i, rho).slope : Real(0);
  }

 private:
  PERRIN_HD static Real weight(Real r2, const AttributeCoefficients<P>& c, const Real4& a,
                               const Real4& b, bool real) {
    const Real w = AttributeTruncated<DensityOf<P>, Mode>::template evaluate<Shift>(r2, c.potential,
                                                                                    c.end, a, b)
                       .energy;
    return real && r2 < c.end.cutoff2 ? w : Real(0);
  }
};

/// Forces, and with Energy energies and virials.
template <class P, class Mode, bool Energy, bool Shift>
struct AttributeEmbeddingBody {
  static constexpr int sums = Energy ? 10 : 3, odd = 3;
  static constexpr bool has_extra = true, looks_up = true;
  using Coefficients = AttributeBothWays<P>;
  using Own = ManyBodyOwn<Real4>;
  AttributeManyBodyView<P> view;
  ForceOutput output;
  const Coefficients* table = view.table;
  std::uint32_t types = view.types;

  PERRIN_HD Own own(std::int64_t i) const {
    return {view.type_of(i) * view.types, view.word(std::uint32_t(i))};
  }
  template <class Index>
  PERRIN_HD Real4 extra(Index j) const {
    return view.word(j);
  }
  PERRIN_HD void pair(const Own& own, Real3 d, std::uint32_t type, const Real4& of_j, bool real,
                      Real (&term)[sums]) const {
    pair_with(own, d, type, entry(table, types == 1 ? 0u : own.row + type), of_j, real, term);
  }
  PERRIN_HD void pair_with(const Own& own, Real3 d, std::uint32_t, const Coefficients& c,
                           const Real4& of_j, bool real, Real (&term)[sums]) const {
    const Real r2 = square_of(d);
    const Real a = weight_slope(r2, c.on_i, own.word, of_j, real),
               b = weight_slope(r2, c.on_j, of_j, own.word, real);
    // Own slope · a + other slope · b, such that both particles find the same bits.
    Real f = Real(0.5) * ((own.word.w + of_j.w) * (a + b) + (own.word.w - of_j.w) * (a - b));
    // Nobody's slope may be anything. Without a branch, or GCC does not vectorise.
    f = !(std::abs(a) + std::abs(b) == Real(0)) ? f : Real(0);
    [[maybe_unused]] Real energy = 0;
    if constexpr (HasAttributePair<P>) {
      const PairForce<Real> v = AttributeTruncated<PairOf<P>, Mode>::template evaluate < Energy &&
                                Shift > (r2, c.on_i.potential, c.on_i.end, own.word, of_j);
      const bool inside = real && r2 < c.on_i.end.cutoff2;
      f += inside ? v.force_over_r : Real(0);
      energy = inside ? v.energy : Real(0);
    }
    term[0] = f * d.x, term[1] = f * d.y, term[2] = f * d.z;
    if constexpr (Energy) {
      term[3] = energy;
      term[4] = d.x * term[0], term[5] = d.y * term[1], term[6] = d.z * term[2];
      term[7] = d.x * term[1], term[8] = d.x * term[2], term[9] = d.y * term[2];
    }
  }
  PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const {
    // Each pair is seen twice: half of its energy and virial belongs to each particle.
    Real4 f = output.add ? output.force[i] : Real4{};
    f.x += sum[0], f.y += sum[1], f.z += sum[2];
    if constexpr (Energy) {
      f.w += view.embedding(i, view.density[i]).energy + Real(0.5) * sum[3];
      if (output.virial)
        for (int c = 0; c < 6; ++c) {
          Real& v = output.virial[c * view.n + i];
          v = (output.add ? v : Real(0)) + Real(0.5) * sum[4 + c];
        }
    }
    output.force[i] = f;
  }

 private:
  PERRIN_HD static Real weight_slope(Real r2, const AttributeCoefficients<P>& c, const Real4& a,
                                     const Real4& b, bool real) {
    const Real slope = AttributeTruncated<DensityOf<P>, Mode>::template evaluate<false>(
                           r2, c.potential, c.end, a, b)
                           .force_over_r;
    return real && r2 < c.end.cutoff2 ? slope : Real(0);
  }
};

template <class P, class Mode>
class AttributeManyBodyForce final : public Force {
 public:
  AttributeManyBodyForce(const Device& device, const std::vector<AttributeBothWays<P>>& table,
                         const std::vector<typename P::TypeCoefficients>& type,
                         const Ranges& ranges, AttributeWords words, std::int64_t particles,
                         bool shift)
      : Force(ForceTraits::of_pairs(ranges)),
        table_(device, std::span<const AttributeBothWays<P>>(table)),
        type_(device, std::span<const typename P::TypeCoefficients>(type)),
        words_(std::move(words)),
        density_(device, particles),
        slope_(device, particles + AttributeWords::beyond_last),
        shift_(shift) {
    traits_.handled.charges = reads_charges<P>();
  }

  void compute(StepContext& s, const ForceOutput& output) override {
    shift_ ? run<true>(s, output) : run<false>(s, output);
  }
  void follow_attributes(const std::map<std::string, std::vector<double>>& changed) override {
    words_.follow(changed);
  }

 private:
  template <bool Shift>
  void run(StepContext& s, const ForceOutput& output) {
    const AttributeManyBodyView<P> view{s.particles().position().data(),
                                        table_.data(),
                                        type_.data(),
                                        std::uint32_t(type_.size()),
                                        s.particles().size(),
                                        density_.data(),
                                        slope_.data(),
                                        words_.template view<P::attributes.size()>(s)};
    pair_loop(P::type, *s.neighbors(), AttributeDensityBody<P, Mode, Shift>{view});
    s.particles().domain().gather(slope_);
    if (output.energy)
      pair_loop(P::type, *s.neighbors(),
                AttributeEmbeddingBody<P, Mode, true, Shift>{view, output});
    else
      pair_loop(P::type, *s.neighbors(),
                AttributeEmbeddingBody<P, Mode, false, false>{view, output});
  }

  Buffer<AttributeBothWays<P>> table_;
  Buffer<typename P::TypeCoefficients> type_;
  AttributeWords words_;
  Buffer<Real> density_,
      slope_;   // by place in memory, of the instant of compute(); as AttributeWords
  bool shift_;  // "energy_shift"
};

/// The parameters of pair energies and cut-offs of unlike types must be the same both ways.
template <class P>
bool same_both_ways(const AttributeWords& words, const AttributeBothWays<P>& c,
                    const std::string& a, const std::string& b, Setup& setup) {
  bool same = c.on_i.end.cutoff2 == c.on_j.end.cutoff2;
  if constexpr (HasAttributePair<P>) {
    const Real4 word = words.values().empty() ? Real4{} : words.word(0);
    for (int k = 1; k < 64 && same; ++k) {
      const double r2 = double(c.on_i.end.cutoff2) * k * k / 4096;
      same = P::pair(r2, c.on_i.potential, word, word).energy ==
             P::pair(r2, c.on_j.potential, word, word).energy;
    }
  }
  if (!same)
    setup.error("pairs",
                fmt::format("the cut-off and the pair energy of {}, {} must be those of {}, {}; "
                            "only the density may depend on the order of the types",
                            a, b, b, a));
  return same;
}

template <class P, class Mode>
std::unique_ptr<Force> make_attribute_many_body(const ManyBodySettings<P>& s, Setup& setup) {
  check_switch(setup, s.truncation, s.switch_on);
  const ManyBodyTable<P> table(s, setup);
  if (!table.complete()) return nullptr;  // reported
  const std::size_t types = table.types();
  const auto& names = setup.configuration().types;
  std::vector<AttributeCoefficients<P>> one;
  std::vector<double> ranges;
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b) {
      const auto& entry = table.at(a, b);
      const double cutoff = entry.cutoff;
      if (!switch_fits(setup, s.truncation, s.switch_on, cutoff)) return nullptr;
      one.push_back({P::coefficients(entry.parameters),
                     PairEnding::at(cutoff, switch_begin(s.switch_on, cutoff))});
      ranges.push_back(std::max(cutoff, table.at(b, a).cutoff));
    }
  AttributeWords words(attribute_names<P>(), "energy", setup);
  std::vector<AttributeBothWays<P>> both;
  bool same = true;
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b) {
      both.push_back({one[a * types + b], one[b * types + a]});
      if (a < b) same = same_both_ways<P>(words, both.back(), names[a], names[b], setup) && same;
    }
  if (!same) return nullptr;
  if constexpr (HasAttributePair<P>) {
    std::vector<AttributeCoefficients<PairOf<P>>> pairs;
    for (const auto& c : one) pairs.push_back({c.potential, c.end});
    check_exchange<PairOf<P>>(words, pairs, setup, "pair");
  }
  std::vector<typename P::TypeCoefficients> of_type;
  for (std::size_t a = 0; a < types; ++a) of_type.push_back(P::type_coefficients(table.of_type(a)));
  return std::make_unique<AttributeManyBodyForce<P, Mode>>(
      setup.device(), both, of_type, Ranges(types, ranges), std::move(words),
      std::int64_t(setup.configuration().position.size()), s.truncation == PlainCut::shifted);
}

}  // namespace detail

/// Makes P available to jobs under P::type; `Modes`: its truncations, each compiled by itself. A
/// job with another one is refused.
template <class P, class Modes = AllTruncations>
void register_attribute_many_body(Registry& registry) {
  static_assert(P::attributes.size() < AttributeWords::most);  // F' is the fourth
  registry.add<Force, ManyBodySettings<P>>(
      P::type, P::help, [](const ManyBodySettings<P>& s, Setup& setup) -> std::unique_ptr<Force> {
        return detail::with_compiled_truncation(
            setup, s.truncation,
            [&]<class Mode>() { return detail::make_attribute_many_body<P, Mode>(s, setup); },
            Modes{});
      });
}

}  // namespace perrin
