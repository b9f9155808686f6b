// A many-body potential over the neighbour list: the Force around any potential of
// forces/many_body_potential.h, and its registration.
//
//     void register_components(Registry& r) { register_many_body_potential<MyPotential>(r); }
//
// Include it in a file that is compiled as CUDA where there is CUDA.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "engine/components/registry.h"
#include "engine/components/step_context.h"
#include "forces/many_body_loops.h"
#include "forces/pair_checks.h"
#include "forces/truncation.h"

namespace perrin {

/// What a job says of a many-body potential: parameters per pair of types and per type, and how
/// density and pair energy end.
template <class P>
struct ManyBodySettings {
  static constexpr bool has_types = !std::is_empty_v<typename P::TypeSettings>;
  struct Pair {
    std::array<std::string, 2> types;
    typename P::Settings parameters;
    std::optional<double> cutoff;

    template <class D>
    friend void describe(D& d, Pair& s) {
      d.required("types", s.types, Any{},
                 "the two particle types; where both [\"A\", \"B\"] and [\"B\", \"A\"] are given, "
                 "what the second adds to the density of the first");
      describe(d, s.parameters);
      d.optional("cutoff", s.cutoff, Positive{}, "cut-off of this pair of types (length)");
    }
  };
  std::optional<double> cutoff;
  std::string truncation = PlainCut::name;
  std::optional<double> switch_on;
  std::vector<Pair> pairs;
  std::map<std::string, typename P::TypeSettings> types;

  template <class D>
  friend void describe(D& d, ManyBodySettings& s) {
    d.optional("cutoff", s.cutoff, Positive{}, "cut-off distance of all pairs of types (length)");
    d.optional("truncation", s.truncation, OneOf{"cut", "energy_shift", "force_shift", "switch"},
               "truncation of density and pair energy at the cut-off, as of an energy");
    d.optional("switch_on", s.switch_on, Positive{},
               "distance at which \"switch\" begins (length); default: 0.9 of the cut-off");
    d.required("pairs", s.pairs, Any{}, "parameters for each pair of types");
    if constexpr (has_types)
      d.required("types", s.types, Any{}, "parameters of the embedding energy of each type");
  }
};

namespace detail {

/// The potential P, whose density and pair energy are ended by the mode M.
template <class P, class M>
struct ManyBodyTruncated {
  using Potential = P;
  using TypeCoefficients = typename P::TypeCoefficients;
  static constexpr bool has_pair = HasPairPart<P>;
  struct Ends {
    typename M::Numbers density, pair;
  };
  struct OneEnd {
    typename M::Numbers density;
  };
  struct Coefficients {
    typename P::Coefficients potential;
    std::conditional_t<has_pair, Ends, OneEnd> end;
    Real cutoff2;
  };

  static Coefficients coefficients(const typename P::Settings& settings, const CutOff& c) {
    Coefficients made{P::coefficients(settings), {}, Real(c.cutoff * c.cutoff)};
    const double r2 = c.cutoff * c.cutoff;
    made.end.density = M::numbers(c, P::density(r2, made.potential));
    if constexpr (has_pair) made.end.pair = M::numbers(c, P::pair(r2, made.potential));
    return made;
  }
  template <class T>
  PERRIN_HD static PairForce<T> density(T r2, const Coefficients& c) {
    return M::template apply<T>(P::density(r2, c.potential), r2, c.end.density);
  }
  template <class T>
  PERRIN_HD static PairForce<T> pair(T r2, const Coefficients& c) {
    return M::template apply<T>(P::pair(r2, c.potential), r2, c.end.pair);
  }
  PERRIN_HD static Embedding<Real> embedding(Real density, const TypeCoefficients& c) {
    return P::embedding(density, c);
  }
};

template <class E>
class ManyBodyForceField final : public Force {
 public:
  /// `table`: [type_i · types + type_j]; `type`: [type]; `symmetric`: both ways are the same.
  ManyBodyForceField(const Device& device, const std::vector<BothWays<E>>& table,
                     const std::vector<typename E::TypeCoefficients>& type, bool symmetric,
                     const Ranges& ranges, std::int64_t particles)
      : Force(ForceTraits::of_pairs(ranges)),
        types_(type.size() == 1 ? PairTypes::one
               : symmetric      ? PairTypes::symmetric
                                : PairTypes::any),
        table_(device, std::span<const BothWays<E>>(table)),
        type_(device, std::span<const typename E::TypeCoefficients>(type)),
        density_(device, particles),
        slope_(device, particles + ManyBodyView<E>::beyond_last) {
    PERRIN_ASSERT(device.is_cuda() || particles < (std::int64_t(1) << 31));  // slope_of()
  }

  void compute(StepContext& s, const ForceOutput& output) override {
    switch (types_) {
      case PairTypes::one:
        return run<PairTypes::one>(s, output);
      case PairTypes::symmetric:
        return run<PairTypes::symmetric>(s, output);
      case PairTypes::any:
        return run<PairTypes::any>(s, output);
    }
  }

 private:
  ManyBodyView<E> view(StepContext& s) {
    return {s.particles().position().data(),
            table_.data(),
            type_.data(),
            std::uint32_t(type_.size()),
            s.particles().size(),
            density_.data(),
            slope_.data()};
  }
  template <PairTypes Types>
  void run(StepContext& s, const ForceOutput& output) {
    const char* const name = E::Potential::type;
    pair_loop(name, *s.neighbors(), DensityBody<E, Types>{view(s)});
    s.particles().domain().gather(slope_);
    if (output.energy)  // now and then: two bodies less to compile
      pair_loop(name, *s.neighbors(), EmbeddingForceBody<E, true, PairTypes::any>{view(s), output});
    else
      pair_loop(name, *s.neighbors(), EmbeddingForceBody<E, false, Types>{view(s), output});
  }

  PairTypes types_;
  Buffer<BothWays<E>> table_;
  Buffer<typename E::TypeCoefficients> type_;
  Buffer<Real> density_, slope_;  // by place in memory, of the instant of compute()
};

/// Parameters of every ordered pair of types and of every type, or an error for each that is
/// missing.
template <class P>
class ManyBodyTable {
 public:
  struct Entry {
    typename P::Settings parameters;
    double cutoff;  // infinite: none is given
    bool written;   // with the types in this order
  };
  ManyBodyTable(const ManyBodySettings<P>& s, Setup& setup)
      : types_(setup.configuration().types.size()), entries_(types_ * types_), of_type_(types_) {
    read_pairs(s, setup);
    if constexpr (ManyBodySettings<P>::has_types) read_types(s, setup);
  }
  std::size_t types() const { return types_; }
  bool complete() const { return complete_; }
  /// No pair of unlike types is given in both orders.
  bool symmetric() const { return symmetric_; }
  const Entry& at(std::size_t a, std::size_t b) const { return *entries_[a * types_ + b]; }
  const typename P::TypeSettings& of_type(std::size_t a) const { return of_type_[a]; }

 private:
  static double cutoff_of(const typename ManyBodySettings<P>::Pair& pair,
                          const std::optional<double>& of_all) {
    const auto given = pair.cutoff ? pair.cutoff : of_all;
    return given.value_or(std::numeric_limits<double>::infinity());
  }

  void read_pairs(const ManyBodySettings<P>& s, Setup& setup) {
    const auto& names = setup.configuration().types;
    bool known = true;  // a type that is not there may be a slip of the pen for one that is
    for (std::size_t k = 0; k < s.pairs.size(); ++k) {
      const auto& pair = s.pairs[k];
      const auto indices = pair_of_types(setup, pair.types, k);
      known = known && indices;
      if (!indices) continue;
      const auto [a, b] = *indices;
      const auto at = [&](std::size_t i, std::size_t j) -> auto& {
        return entries_[i * types_ + j];
      };
      if (at(a, b) && at(a, b)->written)
        setup.error(fmt::format("pairs[{}].types", k),
                    fmt::format("the pair {}, {} is given twice", pair.types[0], pair.types[1]));
      if (a != b && at(b, a) && at(b, a)->written) symmetric_ = false;
      const Entry entry{pair.parameters, cutoff_of(pair, s.cutoff), true};
      at(a, b) = entry;
      if (!at(b, a)) at(b, a) = Entry{entry.parameters, entry.cutoff, false};
    }
    complete_ = known;
    std::vector<std::pair<std::string, std::string>> without_cutoff;
    for (std::size_t a = 0; known && a < types_; ++a)
      for (std::size_t b = a; b < types_; ++b)
        if (!entries_[a * types_ + b]) {
          setup.error("pairs",
                      fmt::format("no parameters for the types {} and {}", names[a], names[b]));
          complete_ = false;
        } else if (!std::isfinite(at(a, b).cutoff) || !std::isfinite(at(b, a).cutoff)) {
          without_cutoff.emplace_back(names[a], names[b]);
          complete_ = false;
        }
    report_missing_cutoffs(setup, P::type, without_cutoff);
  }

  void read_types(const ManyBodySettings<P>& s, Setup& setup) {
    const auto& names = setup.configuration().types;
    std::vector<bool> given(types_);
    for (const auto& [name, parameters] : s.types) {
      const std::size_t a = setup.type_index(name, "types." + name);
      if (names[a] != name) {
        complete_ = false;
        continue;
      }
      of_type_[a] = parameters, given[a] = true;
    }
    for (std::size_t a = 0; a < types_; ++a)
      if (!given[a]) {
        setup.error("types", fmt::format("no parameters for the type {}", names[a]));
        complete_ = false;
      }
  }

  std::size_t types_;
  std::vector<std::optional<Entry>> entries_;
  std::vector<typename P::TypeSettings> of_type_;
  bool complete_ = true, symmetric_ = true;
};

/// Reports pair energies that depend on the order of the types: forces would not be opposite.
template <class E>
bool same_pair_energy(const BothWays<E>& c, const std::string& a, const std::string& b,
                      Setup& setup) {
  if constexpr (E::has_pair) {
    bool same = c.on_i.cutoff2 == c.on_j.cutoff2;
    for (int k = 1; k < 64 && same; ++k) {
      const double r2 = double(c.on_i.cutoff2) * k * k / 4096;
      same = E::pair(r2, c.on_i).energy == E::pair(r2, c.on_j).energy;
    }
    if (!same)
      setup.error("pairs",
                  fmt::format("the cut-off and the pair energy of {}, {} must be those of {}, {}; "
                              "only the density may depend on the order of the types",
                              a, b, b, a));
    return same;
  }
  return true;
}

template <class P, class Mode>
std::unique_ptr<Force> make_many_body_force(const ManyBodySettings<P>& s,
                                            const ManyBodyTable<P>& table, Setup& setup) {
  using E = ManyBodyTruncated<P, Mode>;
  const std::size_t types = table.types();
  const auto& names = setup.configuration().types;
  std::vector<typename E::Coefficients> one;
  std::vector<double> ranges;
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b) {
      const auto& entry = table.at(a, b);
      if (!switch_fits(setup, s.truncation, s.switch_on, entry.cutoff)) return nullptr;
      const double on = switch_begin(s.switch_on, entry.cutoff);
      one.push_back(
          E::coefficients(entry.parameters, {entry.cutoff, on, s.truncation == PlainCut::shifted}));
      ranges.push_back(std::max(entry.cutoff, table.at(b, a).cutoff));
    }
  std::vector<BothWays<E>> both;
  bool same = true;
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b) {
      both.push_back({one[a * types + b], one[b * types + a]});
      if (a < b) same = same_pair_energy<E>(both.back(), names[a], names[b], setup) && same;
    }
  if (!same) return nullptr;
  std::vector<typename P::TypeCoefficients> of_type;
  for (std::size_t a = 0; a < types; ++a) of_type.push_back(P::type_coefficients(table.of_type(a)));
  return std::make_unique<ManyBodyForceField<E>>(
      setup.device(), both, of_type, table.symmetric(), Ranges(types, ranges),
      std::int64_t(setup.configuration().position.size()));
}

}  // namespace detail

/// Makes the potential P available to jobs under P::type. `Modes`: the truncations it is compiled
/// for (another one is a mistake in the job).
template <class P, class Modes = AllTruncations>
void register_many_body_potential(Registry& registry) {
  static_assert(check_many_body_potential<P>());
  registry.add<Force, ManyBodySettings<P>>(
      P::type, P::help, [](const ManyBodySettings<P>& s, Setup& setup) -> std::unique_ptr<Force> {
        detail::check_switch(setup, s.truncation, s.switch_on);
        const detail::ManyBodyTable<P> table(s, setup);
        if (!table.complete()) return nullptr;  // reported
        return detail::with_compiled_truncation(
            setup, s.truncation,
            [&]<class Mode>() { return detail::make_many_body_force<P, Mode>(s, table, setup); },
            Modes{});
      });
}

}  // namespace perrin
