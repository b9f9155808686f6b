// Forces on dihedrals and impropers: the kernel and the class around any potential of a dihedral
// angle. For files compiled as CUDA.
//
// Such a potential is a struct with Settings (and describe()), Coefficients, type, help,
// coefficients(settings), `static constexpr Torsion kind` and
//
//     template <class T>
//     PERRIN_HD static TorsionSlope<T> evaluate(T cosine, T sine, const Coefficients&);
//
// of the angle phi between the planes (a, b, c) and (b, c, d), -pi < phi ≤ pi: 0 where a and d are
// on the same side (cis), pi where they are opposite (trans), positive where, seen from b to c, d
// is clockwise from a. That is IUPAC's convention, LAMMPS's and GROMACS's.
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

enum class Torsion { dihedral, improper };

/// dE/dphi and E.
template <class T>
struct TorsionSlope {
  T slope, energy;
};

template <class P>
struct DihedralForceSettings {
  std::map<std::string, typename P::Settings> coefficients;
  std::vector<std::string> skip;
};

template <class D, class P>
void describe(D& d, DihedralForceSettings<P>& s) {
  if constexpr (P::kind == Torsion::dihedral) {
    d.required("dihedrals", s.coefficients, Any{}, "coefficients of each dihedral type, by name");
    d.optional("skip", s.skip, Any{}, "dihedral types that another force handles");
  } else {
    d.required("impropers", s.coefficients, Any{}, "coefficients of each improper type, by name");
    d.optional("skip", s.skip, Any{}, "improper types that another force handles");
  }
}

/// The force on particle i alone, from the dihedrals it takes part in: each is computed four times,
/// nothing is added atomically. Energy and virial are shared equally.
///
/// dphi/dr after Blondel, Karplus, J. Comput. Chem. 17, 1132 (1996), equation 27, which divides by
/// no sine of phi, with the cross products taken with the unit vector along the axis instead of G.
/// Where three particles are in line phi is not defined and the force that its energy has there
/// grows without bound: distances from the axis are taken to be at least 10⁻⁶ of the bond.
template <class P>
struct DihedralKernel {
  ParticleView particles;
  Metric metric;
  BondedView<DihedralEntry> table;
  const typename P::Coefficients* coefficients;  // by type
  ForceOutput out;

  PERRIN_HD Position at(std::uint32_t id) const { return particles.position[particles.index[id]]; }

  PERRIN_HD static Real bounded(Real distance2, Real bond2) {
    const Real least = Real(1e-12) * bond2;
    return distance2 > least ? distance2 : least;
  }

  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t id = particles.id[i];
    const std::int64_t begin = table.offset[id], end = table.offset[id + 1];
    if (out.add && begin == end) return;
    Real3 force{};
    Real energy = 0;
    Virial virial;
    for (std::int64_t k = begin; k < end; ++k) {
      const DihedralEntry g = table.entries[k];
      const Position b = at(g.b), c = at(g.c);
      const Real3 F = metric.vector(at(g.a), b), G = metric.vector(b, c),
                  H = metric.vector(at(g.d), c);
      const Real along = inverse_sqrt(dot(G, G));
      const Real3 axis = along * G;
      // As long as the distances of a and d from the axis, perpendicular to the planes.
      const Real3 p = cross(F, axis), q = cross(H, axis);
      const Real ip = inverse_sqrt(bounded(dot(p, p), dot(F, F))),
                 iq = inverse_sqrt(bounded(dot(q, q), dot(H, H)));
      const Real3 ep = ip * p, eq = iq * q;
      const TorsionSlope<Real> f =
          P::evaluate(dot(ep, eq), dot(cross(eq, ep), axis), coefficients[g.type]);
      const Real3 fa = (f.slope * ip) * ep, fd = (-f.slope * iq) * eq;
      // Where the feet of a and d on the axis are, in lengths of it.
      const Real s = dot(F, axis) * along, t = dot(H, axis) * along;
      const Real3 fc = s * fa + (t - Real(1)) * fd;
      const Real3 fb = -(fa + fc + fd);
      force += id == g.a ? fa : id == g.b ? fb : id == g.c ? fc : fd;
      energy += f.energy;
      // Of positions relative to c; that of b is G, of a is F + G.
      virial.add(F + G, fa);
      virial.add(G, fb);
      virial.add(H, fd);
    }
    deposit(out, particles.n, i, force, energy, virial, Real(0.25));
  }
};

template <class P>
class DihedralForce : public Force {
 public:
  /// Coefficients by the name of the type; dihedrals (or impropers) of other types are left alone.
  DihedralForce(const Device& device, const Configuration& configuration,
                const std::map<std::string, typename P::Settings>& settings)
      : settings_(settings) {
    const Topology& topology = configuration.topology;
    const auto& types = names(topology);
    std::vector<typename P::Coefficients> coefficients(types.size());
    std::vector<bool> used(types.size(), false);
    for (std::size_t t = 0; t < used.size(); ++t) {
      const auto found = settings_.find(types[t]);
      if (found == settings_.end()) continue;
      used[t] = true;
      coefficients[t] = P::coefficients(found->second);
    }
    table_ = dihedral_table(device, configuration.position.size(), members(topology), used);
    (P::kind == Torsion::dihedral ? handled_.dihedral_types : handled_.improper_types) =
        std::move(used);
    coefficients_ = Buffer<typename P::Coefficients>(device, coefficients);
  }

  static const std::vector<std::string>& names(const Topology& t) {
    return P::kind == Torsion::dihedral ? t.dihedral_types : t.improper_types;
  }
  static const std::vector<Topology::Dihedral>& members(const Topology& t) {
    return P::kind == Torsion::dihedral ? t.dihedrals : t.impropers;
  }

  void compute(Simulation& simulation, const ForceOutput& output) override {
    const ParticleView particles = simulation.particles.view();
    for_each(simulation.device(), P::type, particles.n,
             DihedralKernel<P>{particles, simulation.particles.box.metric(), table_.view(),
                               coefficients_.data(), output});
  }

  MomentumChange momentum_change(std::span<const std::int64_t>) const override { return {}; }
  Handled handled() const override { return handled_; }
  std::string fingerprint() const override { return fingerprints<P>(settings_); }

 private:
  std::map<std::string, typename P::Settings>
      settings_;  // coefficients may refer to tables of them
  Handled handled_;
  BondedTable<DihedralEntry> table_;
  Buffer<typename P::Coefficients> coefficients_;
};

template <class P>
concept EvaluatesTorsions = requires(const typename P::Coefficients& coefficients) {
  { P::evaluate(Real(1), Real(0), coefficients) } -> std::same_as<TorsionSlope<Real>>;
};

/// Adds the potential to the force types that a job can name.
template <class P>
void register_dihedral(Registry& registry) {
  static_assert(check_potential<P>());
  static_assert(EvaluatesTorsions<P>,
                "a dihedral potential needs: template <class T> PERRIN_HD static TorsionSlope<T> "
                "evaluate(T cosine, T sine, const Coefficients& c);");
  registry.add<Force, DihedralForceSettings<P>>(
      P::type, P::help,
      [](const DihedralForceSettings<P>& s, Setup& setup) -> std::unique_ptr<Force> {
        const std::string what = P::kind == Torsion::dihedral ? "dihedral" : "improper";
        const Configuration& configuration = setup.configuration();
        const auto& types = DihedralForce<P>::names(configuration.topology);
        std::vector<std::string> given;
        for (const auto& [name, unused] : s.coefficients) given.push_back(name);
        check_bonded_types(
            setup, what, what + "s", given, s.skip, types,
            types_in_use(DihedralForce<P>::members(configuration.topology), types.size()));
        const auto settings = prepared<P>(s.coefficients, what + "s", setup);
        if (!settings) return nullptr;
        return std::make_unique<DihedralForce<P>>(setup.device(), configuration, *settings);
      });
}

}  // namespace perrin
