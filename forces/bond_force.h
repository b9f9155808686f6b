// Forces along bonds: the kernel around any bond potential, and its registration. For files
// compiled as CUDA.
//
// A bond potential is a struct like a pair potential (forces/pair_potential.h): Settings with
// describe(), Coefficients, type, help, coefficients(settings) and evaluate(r2, coefficients). One
// that can break also has `static Real breaking_length2(const Coefficients&)`, in HD: the bond's
// length squared must stay below, or the run stops. One whose settings depend on whether pair
// forces act between the bonded has `static Settings completed(Settings, bool excluded)`; one whose
// settings name a file is a LoadsFile (forces/bonded_settings.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/system/nearest_vector.h"
#include "forces/bonded_force.h"
#include "forces/deposit.h"
#include "forces/device_math.h"
#include "forces/pair_potential.h"

namespace perrin {

/// Of the energy of a bond, each of its particles has this part.
constexpr Real share_of_bond = Real(0.5);

/// The force on particle i alone, from its own bonds: each bond is computed twice, nothing is
/// added atomically. Energy and virial are shared equally.
template <class P>
struct BondKernel {
  ParticleView particles;
  Current<Metric> metric;
  BondVector vector;
  BondedView<BondEntry> table;
  const typename P::Coefficients* coefficients;  // by bond type
  ForceOutput out;
  FaultSink faults;
  const Real4* attributes = nullptr;  // by id; of a potential that reads them

  static constexpr Real too_long = Real(1e30);  // energy

  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t id = particles.id[i];
    const std::int64_t begin = table.offset[id], end = table.offset[id + 1];
    if (out.add && begin == end) return;
    const Position here = particles.position[i];
    Real3 force{};
    Real energy = 0;
    Virial virial;
    for (std::int64_t k = begin; k < end; ++k) {
      const BondEntry bond = table.entries[k];
      const Real3 r = vector(*metric, here, particles.position[particles.index[bond.partner]]);
      const Real r2 = dot(r, r);
      const typename P::Coefficients c = coefficients[bond.type];
      if constexpr (requires { P::breaking_length2(c); }) {
        if (!(r2 < P::breaking_length2(c))) {
          if (out.places) {  // a trial
            energy += too_long;
            continue;
          }
          const bool first = id < bond.partner;
          faults.report(FaultKind::bond_too_long, first ? id : bond.partner, std::sqrt(double(r2)),
                        std::sqrt(double(P::breaking_length2(c))), first ? bond.partner : id);
          continue;
        }
      }
      PairForce<Real> f;
      if constexpr (ReadsAttributes<P>)
        f = P::evaluate(r2, c, attributes[id], attributes[bond.partner]);
      else
        f = P::evaluate(r2, c);
      const Real3 fr = f.force_over_r * r;
      force += fr;
      energy += f.energy;
      virial.add(r, fr);
    }
    deposit(out, particles.n, i, force, energy, virial, share_of_bond);
  }
};

/// The force along each bond of a probe.
template <class P>
struct BondMeter {
  BondProbe probe;
  Current<Metric> metric;
  BondVector vector;
  const std::uint32_t* used;  // [bond type]
  const typename P::Coefficients* coefficients;
  const Real4* attributes = nullptr;

  BondMeter(StepContext& s, const BondProbe& the_probe, const std::uint32_t* the_used,
            const typename P::Coefficients* the_coefficients)
      : probe(the_probe),
        metric(s.particles().metric()),
        vector(s.particles().box()),
        used(the_used),
        coefficients(the_coefficients) {}

  PERRIN_HD void operator()(std::int64_t k) const {
    const Topology::Bond bond = probe.bond[k];
    if (!used[bond.type]) return;
    const Real3 r = vector(*metric, probe.position[bond.a], probe.position[bond.b]);
    const Real r2 = dot(r, r);
    PairForce<Real> f;
    if constexpr (ReadsAttributes<P>)
      f = P::evaluate(r2, coefficients[bond.type], attributes[bond.a], attributes[bond.b]);
    else
      f = P::evaluate(r2, coefficients[bond.type]);
    probe.force[k] += double(f.force_over_r) * std::sqrt(double(r2));
  }
};

struct Bonds {
  template <class P>
  using Meter = BondMeter<P>;
  static constexpr const char *what = "bond", *key = "bonds",
                              *help = "coefficients of each bond type, by its name",
                              *skip_help = "bond types excluded from this force";
  static const std::vector<std::string>& types(const Topology& t) { return t.bond_types; }
  static const std::vector<Topology::Bond>& members(const Topology& t) { return t.bonds; }
  static constexpr Real share = share_of_bond;
  static std::vector<bool>& handled(Handled& h) { return h.bond_types; }
  static BondedTable<BondEntry> table(const Device& device, std::size_t n, const Topology& t,
                                      const std::vector<bool>& used) {
    return bond_table(device, n, t, used);
  }
  /// Reports an energy that changes when the two particles of a bond are exchanged.
  template <class P>
  static void check_exchange(const AttributeWords& words, const Topology& topology,
                             const std::map<std::string, typename P::Settings>& settings,
                             Setup& setup) {
    const auto word = [&](std::uint32_t id) { return words.word(id); };
    for (const Topology::Bond& bond : topology.bonds) {
      const auto of_type = settings.find(topology.bond_types[bond.type]);
      if (of_type == settings.end()) continue;
      const auto c = P::coefficients(of_type->second);
      const double one = P::evaluate(1.21, c, word(bond.a), word(bond.b)).energy;
      const double other = P::evaluate(1.21, c, word(bond.b), word(bond.a)).energy;
      if (std::abs(one - other) <= 1e-6 * (std::abs(one) + std::abs(other))) continue;
      return setup.error(
          "energy", fmt::format("must not change when particles 1 and 2 are exchanged, got {:.7g} "
                                "and {:.7g} for the bond of particles {} and {}",
                                one, other, bond.a, bond.b));
    }
  }
  /// By steps of a thousandth of the longest length.
  template <class P>
  static double rest(const typename P::Settings& settings, double longest) {
    const auto c = P::coefficients(settings);
    if constexpr (requires { P::breaking_length2(c); })
      longest = std::min(longest, 0.999 * std::sqrt(double(P::breaking_length2(c))));
    double at = 0, lowest = std::numeric_limits<double>::infinity();
    for (int k = 1; k <= 1000; ++k) {
      const double r = longest * k / 1000, energy = double(P::evaluate(Real(r * r), c).energy);
      if (!std::isfinite(energy)) continue;
      // Of a level energy the shortest counts.
      if (at == 0 || energy < lowest - 1e-5 * std::abs(lowest)) at = r, lowest = energy;
    }
    return at;
  }
  template <class P>
  static BondKernel<P> kernel(StepContext& s, BondedView<BondEntry> table,
                              const typename P::Coefficients* coefficients,
                              const ForceOutput& output) {
    return {s.particles().view(),
            s.particles().metric(),
            BondVector(s.particles().box()),
            table,
            coefficients,
            output,
            s.fault_sink()};
  }
};

template <class P>
using BondForce = BondedForce<P, Bonds>;

/// Adds the bond potential to the force types that a job can name.
template <class P>
void register_bond(Registry& registry) {
  static_assert(check_bond_potential<P>());
  register_bonded<P, Bonds>(registry);
}

}  // namespace perrin
