// The force of any interaction between particles with orientations, over the neighbour list, and
// its registration:
//
//     void register_components(Registry& r) { register_axial_potential<MyPotential>(r); }
//
// Include it in a file that is compiled as CUDA where there is CUDA.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "engine/system/orientations.h"
#include "engine/system/site_types.h"
#include "forces/anisotropic/deposit_torque.h"
#include "forces/anisotropic/ended.h"
#include "forces/pair_force.h"

namespace perrin {
namespace detail {

/// Forces and torques, or with `Energy` forces, energies and virials. A pair may be seen from one
/// side: half the difference and half the sum of the two torques are added up, of which the first
/// changes its sign for the other particle.
template <class E, bool Energy>
struct AnisotropicBody {
  static constexpr int sums = Energy ? 10 : 9, odd = Energy ? 3 : 6;
  static constexpr bool has_extra = true, one_type = false, looks_up = false;
  using Coefficients = EndedCoefficients<E>;
  const Position* position;
  const Real4* orientation;
  const Coefficients* table;  // [type_i · types + type_j]
  std::uint32_t types;
  std::int64_t n;
  ForceOutput output;
  bool shift;
  bool torque_alone = false;  // the forces have been handed in

  struct Own {
    std::uint32_t row;  // of the table
    typename E::Look look;
  };
  PERRIN_HD Own own(std::int64_t i) const {
    return {position[i].type() * types, E::look(orientation[i])};
  }
  PERRIN_HD Real4 extra(std::uint32_t j) const { return orientation[j]; }

  PERRIN_HD void pair(const Own& own, Real3 d, std::uint32_t type, const Real4& of_j, bool real,
                      Real (&term)[sums]) const {
    const Coefficients& c = table[own.row + type];
    const bool inside = real && dot(d, d) < c.cutoff2;
    for (Real& t : term) t = 0;
    if (!inside) return;
    const Interaction f = ended<E>(d, own.look, E::look(of_j), c, shift);
    term[0] = f.force.x, term[1] = f.force.y, term[2] = f.force.z;
    if constexpr (Energy) {
      term[3] = f.energy;
      term[4] = d.x * term[0], term[5] = d.y * term[1], term[6] = d.z * term[2];
      // Of xy what a tilt of the box by xy does at fixed directions: with torques that is not yx.
      term[7] = d.y * term[0], term[8] = d.z * term[0], term[9] = d.z * term[1];
    } else {
      const Real3 odd_part = Real(0.5) * (f.torque_i - f.torque_j);
      const Real3 even_part = Real(0.5) * (f.torque_i + f.torque_j);
      term[3] = odd_part.x, term[4] = odd_part.y, term[5] = odd_part.z;
      term[6] = even_part.x, term[7] = even_part.y, term[8] = even_part.z;
    }
  }

  PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const {
    if (!torque_alone) deposit_pairs<Energy>(output, n, i, sum);
    if constexpr (!Energy)
      deposit_torque(output, i, {sum[3] + sum[6], sum[4] + sum[7], sum[5] + sum[8]});
  }
};

/// The energy alone, of particles that may move or turn (forces/trials/trial_loop.h).
template <class E>
struct AnisotropicTrial {
  static constexpr int sums = 4;
  static constexpr bool has_extra = true, one_type = false, looks_up = false;
  using Body = AnisotropicBody<E, true>;
  Body of;

  PERRIN_HD typename Body::Own own(std::int64_t i) const { return of.own(i); }
  PERRIN_HD typename Body::Own own_turned(std::int64_t i, const Real4& turn) const {
    return {of.position[i].type() * of.types, E::look(turned(turn, of.orientation[i]))};
  }
  PERRIN_HD Real4 extra(std::uint32_t j) const { return of.orientation[j]; }
  PERRIN_HD void pair(const typename Body::Own& own, Real3 d, std::uint32_t type, const Real4& of_j,
                      bool real, Real (&term)[sums]) const {
    const auto& c = of.table[own.row + type];
    term[3] = 0;
    if (real && dot(d, d) < c.cutoff2)
      term[3] = ended<E>(d, own.look, E::look(of_j), c, of.shift).energy;
  }
};

}  // namespace detail

/// The interaction E of an AxialPair, or one like it: Coefficients, Look, look(), evaluate().
template <class E>
class AnisotropicForce final : public Force {
 public:
  /// `table`: of all ordered pairs of types, as `ranges`.
  AnisotropicForce(const char* name, const Device& device,
                   const std::vector<EndedCoefficients<E>>& table, std::uint32_t types,
                   const Ranges& ranges, bool shift)
      : Force(ForceTraits::of_pairs(ranges)),
        name_(name),
        table_(device, std::span<const EndedCoefficients<E>>(table)),
        types_(types),
        shift_(shift) {
    traits_.torques = traits_.trials = true;
  }

  void compute(StepContext& s, const ForceOutput& output) override {
    s.particles().domain().gather(s.particles().orientations()->orientation());  // of ghosts
    if (!output.energy) return pair_loop(name_, *s.neighbors(), body<false>(s, output));
    pair_loop(name_, *s.neighbors(), body<true>(s, output));
    if (output.torque == nullptr) return;
    auto torques = body<false>(s, output);
    torques.torque_alone = true;
    pair_loop(name_, *s.neighbors(), torques);
  }
  void compute_trials(StepContext& s, const TrialMoves& trials) override {
    trial_loop(name_, s, trials, detail::AnisotropicTrial<E>{body<true>(s, {})});
  }

 private:
  template <bool Energy>
  detail::AnisotropicBody<E, Energy> body(StepContext& s, const ForceOutput& output) const {
    return {s.particles().position().data(),
            s.particles().orientations()->orientation().data(),
            table_.data(),
            types_,
            s.particles().size(),
            output,
            shift_};
  }

  const char* name_;
  Buffer<EndedCoefficients<E>> table_;
  std::uint32_t types_;
  bool shift_;  // "energy_shift"
};

/// PairSettings of particles with orientations, whose forces are not shifted.
template <class P>
struct OrientedPairSettings : PairSettings<P> {
  template <class D>
  friend void describe(D& d, OrientedPairSettings& s) {
    d.optional("cutoff", s.cutoff, Positive{}, "cut-off distance of all pairs of types (length)");
    d.optional("truncation", s.truncation, OneOf{PlainCut::name, PlainCut::shifted, Switched::name},
               "truncation at the cut-off; energy_shift: by the energy there, of the same "
               "directions");
    d.optional("switch_on", s.switch_on, Positive{},
               "distance at which \"switch\" begins (length); default: 0.9 of the cut-off");
    d.required("pairs", s.pairs, Any{}, "parameters for each pair of types");
  }
};

/// How the pairs of types end, from settings of the same form as PairSettings. `coefficients`(a, b)
/// gives those of E for an ordered pair of types. nullptr after a mistake, which is reported.
template <class E, class Settings, class Table, class Make>
std::unique_ptr<Force> make_anisotropic_force(const char* name, const Settings& s, Table& table,
                                              Setup& setup, const Make& coefficients) {
  detail::check_switch(setup, s.truncation, s.switch_on);
  const std::size_t types = table.types();
  std::vector<EndedCoefficients<E>> all;
  std::vector<double> ranges;
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b) {
      if (!table.at(a, b) || !std::isfinite(table.cutoff(a, b))) return nullptr;  // reported
      const double cutoff = table.cutoff(a, b), on = detail::switch_begin(s.switch_on, cutoff);
      const bool switched = s.truncation == Switched::name;
      if (!detail::switch_fits(setup, s.truncation, s.switch_on, cutoff)) return nullptr;
      const double end = setup.both_frozen(a, b) || table.silent(a, b) ? 0 : cutoff;
      all.push_back({coefficients(a, b), Real(end * end), Real(cutoff),
                     Real(switched ? on : cutoff), Real(switched ? 1 / (cutoff - on) : 0)});
      ranges.push_back(end);
    }
  const Ranges found(types, ranges);
  return std::make_unique<AnisotropicForce<E>>(
      name, setup.device(), all, std::uint32_t(types),
      found.longest() > 0 ? found : Ranges(*std::ranges::max_element(ranges)),
      s.truncation == PlainCut::shifted);
}

/// Reports an energy that changes when cos_1 and cos_2 are exchanged: forces would not be opposite.
template <AxialPotential P>
void check_exchange(const typename P::Coefficients& c, double cutoff, Setup& setup) {
  std::mt19937_64 random(1);  // which directions are tried changes no run
  std::uniform_real_distribution<double> cosine(-1, 1);
  for (int k = 0; k < 64; ++k) {
    const double r = cutoff * (0.4 + 0.55 * k / 64), u = cosine(random), v = cosine(random),
                 w = cosine(random);
    const double one = P::evaluate(r, u, v, w, c).energy, other = P::evaluate(r, v, u, w, c).energy;
    if (!(std::abs(one - other) > 1e-6 * (std::abs(one) + std::abs(other)))) continue;
    return setup.error(
        "energy", fmt::format("must not change when cos_1 and cos_2 are exchanged, got {:.7g} and "
                              "{:.7g} at r = {:.6g} for {:.4g}, {:.4g} and cos_12 = {:.4g}",
                              one, other, r, u, v, w));
  }
}

/// Reports pairs whose energy depends on a direction that sites of rigid bodies do not have.
/// `directed`(a, b): does it depend on that of a particle of type a that meets one of type b?
template <class Table, class Directed>
void check_sites(Table& table, Setup& setup, const Directed& directed) {
  const std::vector<std::uint8_t> sites = site_types(setup.configuration());
  for (std::size_t a = 0; a < table.types(); ++a)
    for (std::size_t b = 0; b < table.types() && sites[a] != 0; ++b)
      if (table.at(a, b) && !table.silent(a, b) && directed(a, b)) {
        setup.error("pairs", fmt::format("act between directions of \"{}\", {}",
                                         setup.configuration().types[a], sites_have_no_axes));
        break;
      }
}

/// Makes P available to jobs under P::type.
template <AxialPotential P>
void register_axial_potential(Registry& registry) {
  registry.add<Force, OrientedPairSettings<P>>(
      P::type, P::help,
      [](const OrientedPairSettings<P>& s, Setup& setup) -> std::unique_ptr<Force> {
        detail::PairTable<P> table(s, setup);
        check_sites(table, setup, [](std::size_t, std::size_t) { return true; });
        if (table.types() > 0 && table.at(0, 0))
          check_exchange<P>(P::coefficients(table.at(0, 0)->parameters), table.cutoff(0, 0), setup);
        return make_anisotropic_force<AxialPair<P>>(
            P::type, s, table, setup, [&](std::size_t a, std::size_t b) {
              return P::coefficients(table.at(a, b)->parameters);
            });
      });
}

}  // namespace perrin
