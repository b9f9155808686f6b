// Forces on dihedrals and impropers: the kernel around any potential of a dihedral angle, and its
// registration. For files compiled as CUDA.
//
// Such a potential is a struct with Settings (and describe()), Coefficients, type, help,
// coefficients(settings), `static constexpr Torsion kind` and
//
//     template <class T>
//     PERRIN_HD static TorsionSlope<T> evaluate(T cosine, T sine, const Coefficients&);
//
// of the angle phi between the planes (a, b, c) and (b, c, d), -pi < phi ≤ pi: 0 where a and d are
// on the same side (cis), pi where they are opposite (trans), positive where, seen from b to c, d
// is clockwise from a. That is IUPAC's convention, LAMMPS's and GROMACS's. One that reads
// attributes, as formulas do, has `attributes` and evaluate(cosine, sine, coefficients, a, b, c, d)
// with a Real4 of each particle.
#pragma once

#include "engine/system/nearest_vector.h"
#include "forces/bonded_force.h"
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

/// Of the energy of a dihedral, each of its particles has this part.
constexpr Real share_of_dihedral = Real(0.25);

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
  Current<Metric> metric;
  BondVector vector;
  BondedView<DihedralEntry> table;
  const typename P::Coefficients* coefficients;  // by type
  ForceOutput out;
  const Real4* attributes = nullptr;  // by id; of a potential that reads them

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
      const Real3 F = vector(*metric, at(g.a), b), G = vector(*metric, b, c),
                  H = vector(*metric, at(g.d), c);
      const Real along = inverse_sqrt(dot(G, G));
      const Real3 axis = along * G;
      // As long as the distances of a and d from the axis, perpendicular to the planes.
      const Real3 p = cross(F, axis), q = cross(H, axis);
      const Real ip = inverse_sqrt(bounded(dot(p, p), dot(F, F))),
                 iq = inverse_sqrt(bounded(dot(q, q), dot(H, H)));
      const Real3 ep = ip * p, eq = iq * q;
      const Real cosine = dot(ep, eq), sine = dot(cross(eq, ep), axis);
      TorsionSlope<Real> f;
      if constexpr (ReadsAttributes<P>)
        f = P::evaluate(cosine, sine, coefficients[g.type], attributes[g.a], attributes[g.b],
                        attributes[g.c], attributes[g.d]);
      else
        f = P::evaluate(cosine, sine, coefficients[g.type]);
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
    deposit(out, particles.n, i, force, energy, virial, share_of_dihedral);
  }
};

template <Torsion kind>
struct Torsions {
  static constexpr bool proper = kind == Torsion::dihedral;
  static constexpr const char *what = proper ? "dihedral" : "improper",
                              *key = proper ? "dihedrals" : "impropers",
                              *help = proper ? "coefficients of each dihedral type, by its name"
                                             : "coefficients of each improper type, by its name",
                              *skip_help = proper ? "dihedral types excluded from this force"
                                                  : "improper types excluded from this force";
  static const std::vector<std::string>& types(const Topology& t) {
    return proper ? t.dihedral_types : t.improper_types;
  }
  static const std::vector<Topology::Dihedral>& members(const Topology& t) {
    return proper ? t.dihedrals : t.impropers;
  }
  static constexpr Real share = share_of_dihedral;
  static std::vector<bool>& handled(Handled& h) {
    return proper ? h.dihedral_types : h.improper_types;
  }
  static BondedTable<DihedralEntry> table(const Device& device, std::size_t n, const Topology& t,
                                          const std::vector<bool>& used) {
    return dihedral_table(device, n, members(t), used);
  }
  /// Reports an energy that changes when the order of the four is reversed, which leaves the angle
  /// as it is.
  template <class P>
  static void check_exchange(const AttributeWords& words, const Topology& topology,
                             const std::map<std::string, typename P::Settings>& settings,
                             Setup& setup) {
    for (const Topology::Dihedral& t : members(topology)) {
      const auto of_type = settings.find(types(topology)[t.type]);
      if (of_type == settings.end()) continue;
      const auto c = P::coefficients(of_type->second);
      const Real4 w[4] = {words.word(t.a), words.word(t.b), words.word(t.c), words.word(t.d)};
      const double one = P::evaluate(0.28, 0.96, c, w[0], w[1], w[2], w[3]).energy;
      const double other = P::evaluate(0.28, 0.96, c, w[3], w[2], w[1], w[0]).energy;
      if (std::abs(one - other) <= 1e-6 * (std::abs(one) + std::abs(other))) continue;
      return setup.error(
          "energy", fmt::format("must not change when particles 1, 2, 3, 4 become 4, 3, 2, 1, got "
                                "{:.7g} and {:.7g} for the {} of particles {}, {}, {} and {}",
                                one, other, what, t.a, t.b, t.c, t.d));
    }
  }
  template <class P>
  static DihedralKernel<P> kernel(StepContext& s, BondedView<DihedralEntry> table,
                                  const typename P::Coefficients* coefficients,
                                  const ForceOutput& output) {
    return {s.particles().view(),
            s.particles().metric(),
            BondVector(s.particles().box()),
            table,
            coefficients,
            output};
  }
};

template <class P>
using DihedralForce = BondedForce<P, Torsions<P::kind>>;

template <class P>
concept EvaluatesTorsions = requires(const typename P::Coefficients& coefficients) {
  { P::evaluate(Real(1), Real(0), coefficients) } -> std::same_as<TorsionSlope<Real>>;
};

/// Adds the potential to the force types that a job can name.
template <class P>
void register_dihedral(Registry& registry) {
  static_assert(check_potential<P>());
  static_assert(ReadsAttributes<P> || EvaluatesTorsions<P>,
                "a dihedral potential needs: template <class T> PERRIN_HD static TorsionSlope<T> "
                "evaluate(T cosine, T sine, const Coefficients& c);");
  register_bonded<P, Torsions<P::kind>>(registry);
}

}  // namespace perrin
