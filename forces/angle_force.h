// Forces on angles: the kernel and the class around any angle potential. For files compiled as
// CUDA.
//
// An angle potential is a struct with Settings (and describe()), Coefficients, type, help,
// coefficients(settings) and
//
//     template <class T>
//     PERRIN_HD static AngleSlope<T> evaluate(T cosine, T sine, const Coefficients&);
//
// of the angle theta between the two bonds at the vertex, 0 ≤ theta ≤ pi, stretched is pi.
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

/// dE/d(cos theta), which unlike dE/d(theta) needs no division where the angle is stretched, and E.
template <class T>
struct AngleSlope {
  T slope, energy;
};

template <class P>
struct AngleForceSettings {
  std::map<std::string, typename P::Settings> angles;
  std::vector<std::string> skip;
};

template <class D, class P>
void describe(D& d, AngleForceSettings<P>& s) {
  d.required("angles", s.angles, Any{}, "coefficients of each angle type, by its name");
  d.optional("skip", s.skip, Any{}, "angle types that another force handles");
}

/// The force on particle i alone, from the angles it takes part in: each angle is computed three
/// times, nothing is added atomically. Energy and virial are shared equally.
template <class P>
struct AngleKernel {
  ParticleView particles;
  Metric metric;
  BondedView<AngleEntry> table;
  const typename P::Coefficients* coefficients;  // by angle type
  ForceOutput out;

  PERRIN_HD Position at(std::uint32_t id) const { return particles.position[particles.index[id]]; }

  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t id = particles.id[i];
    const std::int64_t begin = table.offset[id], end = table.offset[id + 1];
    if (out.add && begin == end) return;
    Real3 force{};
    Real energy = 0;
    Virial virial;
    for (std::int64_t k = begin; k < end; ++k) {
      const AngleEntry angle = table.entries[k];
      const Position vertex = at(angle.b);
      const Real3 u = metric.vector(at(angle.a), vertex), v = metric.vector(at(angle.c), vertex);
      const Real iu = inverse_sqrt(dot(u, u)), iv = inverse_sqrt(dot(v, v));
      const Real3 eu = iu * u, ev = iv * v;
      const Real3 normal = cross(eu, ev);
      const Real cosine = dot(eu, ev), sine = std::sqrt(dot(normal, normal));
      const AngleSlope<Real> f = P::evaluate(cosine, sine, coefficients[angle.type]);
      const Real3 fa = (-f.slope * iu) * (ev - cosine * eu);
      const Real3 fc = (-f.slope * iv) * (eu - cosine * ev);
      force += id == angle.a ? fa : id == angle.c ? fc : -(fa + fc);
      energy += f.energy;
      virial.add(u, fa);
      virial.add(v, fc);
    }
    deposit(out, particles.n, i, force, energy, virial, Real(1) / Real(3));
  }
};

template <class P>
class AngleForce : public Force {
 public:
  /// Coefficients by the name of the angle type; angles of other types are left alone.
  AngleForce(const Device& device, const Configuration& configuration,
             const std::map<std::string, typename P::Settings>& settings)
      : settings_(settings) {
    const Topology& topology = configuration.topology;
    std::vector<typename P::Coefficients> coefficients(topology.angle_types.size());
    std::vector<bool> used(topology.angle_types.size(), false);
    for (std::size_t t = 0; t < used.size(); ++t) {
      const auto found = settings.find(topology.angle_types[t]);
      if (found == settings.end()) continue;
      used[t] = true;
      coefficients[t] = P::coefficients(found->second);
    }
    table_ = angle_table(device, configuration.position.size(), topology, used);
    handled_.angle_types = std::move(used);
    coefficients_ = Buffer<typename P::Coefficients>(device, coefficients);
  }

  void compute(Simulation& simulation, const ForceOutput& output) override {
    const ParticleView particles = simulation.particles.view();
    for_each(simulation.device(), P::type, particles.n,
             AngleKernel<P>{particles, simulation.particles.box.metric(), table_.view(),
                            coefficients_.data(), output});
  }

  MomentumChange momentum_change(std::span<const std::int64_t>) const override { return {}; }
  Handled handled() const override { return handled_; }
  std::string fingerprint() const override { return fingerprints<P>(settings_); }

 private:
  std::map<std::string, typename P::Settings>
      settings_;  // coefficients may refer to tables of them
  Handled handled_;
  BondedTable<AngleEntry> table_;
  Buffer<typename P::Coefficients> coefficients_;
};

template <class P>
concept EvaluatesAngles = requires(const typename P::Coefficients& coefficients) {
  { P::evaluate(Real(1), Real(0), coefficients) } -> std::same_as<AngleSlope<Real>>;
};

/// Adds the angle potential to the force types that a job can name.
template <class P>
void register_angle(Registry& registry) {
  static_assert(check_potential<P>());
  static_assert(EvaluatesAngles<P>,
                "an angle potential needs: template <class T> PERRIN_HD static AngleSlope<T> "
                "evaluate(T cosine, T sine, const Coefficients& c);");
  registry.add<Force, AngleForceSettings<P>>(
      P::type, P::help, [](const AngleForceSettings<P>& s, Setup& setup) -> std::unique_ptr<Force> {
        const Configuration& configuration = setup.configuration();
        const Topology& topology = configuration.topology;
        std::vector<std::string> given;
        for (const auto& [name, unused] : s.angles) given.push_back(name);
        check_bonded_types(setup, "angle", "angles", given, s.skip, topology.angle_types,
                           types_in_use(topology.angles, topology.angle_types.size()));
        const auto settings = prepared<P>(s.angles, "angles", setup);
        if (!settings) return nullptr;
        return std::make_unique<AngleForce<P>>(setup.device(), configuration, *settings);
      });
}

}  // namespace perrin
