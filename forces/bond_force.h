// Forces along bonds: the kernel and the class around any bond potential. For files compiled as
// CUDA.
//
// A bond potential is a struct like a pair potential (forces/pair_potential.h): Settings with
// describe(), Coefficients, type, help, coefficients(settings) and evaluate(r2, coefficients). One
// that can break also has `static Real breaking_length2(const Coefficients&)`, in HD: the bond's
// length squared must stay below, or the run stops. One whose settings depend on whether pair
// forces act between the bonded has `static Settings completed(Settings, bool excluded)`; one whose
// settings name a file is a LoadsFile (forces/bonded_settings.h).
#pragma once

#include <fmt/format.h>

#include <memory>

#include "engine/core/parallel.h"
#include "engine/run/force.h"
#include "engine/run/registry.h"
#include "engine/run/simulation.h"
#include "forces/bonded_settings.h"
#include "forces/bonded_table.h"
#include "forces/deposit.h"
#include "forces/device_math.h"
#include "forces/pair_potential.h"

namespace perrin {

template <class P>
struct BondForceSettings {
  std::map<std::string, typename P::Settings> bonds;
  std::vector<std::string> skip;
};

template <class D, class P>
void describe(D& d, BondForceSettings<P>& s) {
  d.required("bonds", s.bonds, Any{}, "coefficients of each bond type, by its name");
  d.optional("skip", s.skip, Any{}, "bond types that another force handles");
}

/// The force on particle i alone, from its own bonds: each bond is computed twice, nothing is
/// added atomically. Energy and virial are shared equally.
template <class P>
struct BondKernel {
  ParticleView particles;
  Metric metric;
  BondedView<BondEntry> table;
  const typename P::Coefficients* coefficients;  // by bond type
  ForceOutput out;
  FaultSink faults;

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
      const Real3 r = metric.vector(here, particles.position[particles.index[bond.partner]]);
      const Real r2 = dot(r, r);
      const typename P::Coefficients c = coefficients[bond.type];
      if constexpr (requires { P::breaking_length2(c); }) {
        if (!(r2 < P::breaking_length2(c))) {
          faults.report(FaultKind::bond_too_long, id < bond.partner ? id : bond.partner,
                        std::sqrt(double(r2)), std::sqrt(double(P::breaking_length2(c))));
          continue;
        }
      }
      const PairForce<Real> f = P::evaluate(r2, c);
      const Real3 fr = f.force_over_r * r;
      force += fr;
      energy += f.energy;
      virial.add(r, fr);
    }
    deposit(out, particles.n, i, force, energy, virial, Real(0.5));
  }
};

template <class P>
class BondForce : public Force {
 public:
  /// Coefficients by the name of the bond type; bonds of other types are left alone.
  BondForce(const Device& device, const Configuration& configuration,
            const std::map<std::string, typename P::Settings>& settings)
      : settings_(settings) {
    const Topology& topology = configuration.topology;
    std::vector<typename P::Coefficients> coefficients(topology.bond_types.size());
    std::vector<bool> used(topology.bond_types.size(), false);
    for (std::size_t t = 0; t < used.size(); ++t) {
      const auto found = settings.find(topology.bond_types[t]);
      if (found == settings.end()) continue;
      used[t] = true;
      coefficients[t] = P::coefficients(found->second);
    }
    table_ = bond_table(device, configuration.position.size(), topology, used);
    handled_.bond_types = std::move(used);
    coefficients_ = Buffer<typename P::Coefficients>(device, coefficients);
  }

  void compute(Simulation& simulation, const ForceOutput& output) override {
    const ParticleView particles = simulation.particles.view();
    for_each(simulation.device(), P::type, particles.n,
             BondKernel<P>{particles, simulation.particles.box.metric(), table_.view(),
                           coefficients_.data(), output, simulation.fault_sink()});
  }

  MomentumChange momentum_change(std::span<const std::int64_t>) const override { return {}; }
  Handled handled() const override { return handled_; }
  std::string fingerprint() const override { return fingerprints<P>(settings_); }

 private:
  std::map<std::string, typename P::Settings>
      settings_;  // coefficients may refer to tables of them
  Handled handled_;
  BondedTable<BondEntry> table_;
  Buffer<typename P::Coefficients> coefficients_;
};

/// Adds the bond potential to the force types that a job can name.
template <class P>
void register_bond(Registry& registry) {
  static_assert(check_bond_potential<P>());
  registry.add<Force, BondForceSettings<P>>(
      P::type, P::help, [](const BondForceSettings<P>& s, Setup& setup) -> std::unique_ptr<Force> {
        const Configuration& configuration = setup.configuration();
        const Topology& topology = configuration.topology;
        std::vector<std::string> given;
        for (const auto& [name, unused] : s.bonds) given.push_back(name);
        check_bonded_types(setup, "bond", "bonds", given, s.skip, topology.bond_types,
                           types_in_use(topology.bonds, topology.bond_types.size()));
        auto bonds = s.bonds;
        for (auto& entry : bonds) {
          auto& settings = entry.second;
          if constexpr (requires { P::completed(settings, true); })
            settings = P::completed(settings, setup.excludes("bonds"));
        }
        const auto settings = prepared<P>(std::move(bonds), "bonds", setup);
        if (!settings) return nullptr;
        return std::make_unique<BondForce<P>>(setup.device(), configuration, *settings);
      });
}

}  // namespace perrin
