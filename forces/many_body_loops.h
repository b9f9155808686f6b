// The two loops over pairs of a many-body potential (forces/many_body_potential.h), as bodies of
// neighbor/pair_loop.h:
//
//     rho_i = sum over j of w_ij,    force on i = - sum over j of [F'(rho_i) w'_ij + F'(rho_j)
//     w'_ji
//     + V'] e,    e = (r_i - r_j)/r
//
// The first sums up densities and makes F' of them, the second reads F' of both particles. Between
// them the F' of other processes' particles must be completed (Domain::gather()).
//
// E is a class with Coefficients (with a member cutoff2), TypeCoefficients, density(),
// embedding(), and has_pair, with which it has pair(), too.
#pragma once

#include "engine/base/numbers.h"
#include "engine/components/force.h"
#include "forces/many_body_potential.h"
#include "neighbor/pair_loop.h"

namespace perrin {

/// Of a pair of types in both directions: what j adds to the density of i, and i to that of j.
template <class E>
struct BothWays {
  typename E::Coefficients on_i, on_j;
};

/// The pairs of types that a loop is compiled for: those of one type; of several, where j adds to
/// the density of i what i adds to that of j; any.
enum class PairTypes { one, symmetric, any };

/// What both loops have in common.
template <class E>
struct ManyBodyView {
  const Position* position;
  const BothWays<E>* table;                  // [type_i · types + type_j]
  const typename E::TypeCoefficients* type;  // [type]
  std::uint32_t types;
  std::int64_t n;
  // [place in memory]: rho and F'; of this there are beyond_last more, which whole vectors read.
  Real *density, *slope;
  static constexpr std::int64_t beyond_last = 16;

  PERRIN_HD const typename E::TypeCoefficients& type_of(std::int64_t i) const {
    return type[types == 1 ? 0u : position[i].type()];
  }
  PERRIN_HD void store(std::int64_t i, Real rho) const {
    density[i] = rho;
    slope[i] = rho != Real(0) ? E::embedding(rho, type_of(i)).slope : Real(0);
  }
  /// Of a neighbour. Those of a list in 32 bits with a sign, or GCC makes offsets that no gather
  /// can scale; those of a cluster in 64 bits, or it does not see that they are beside one another.
  template <class Index>
  PERRIN_HD Real slope_of(Index j) const {
#ifndef __CUDA_ARCH__
    if constexpr (sizeof(Index) == 4) return slope[std::int32_t(j)];
#endif
    return slope[j];
  }
};

/// A squared distance that no potential divides by zero with.
PERRIN_HD Real square_of(const Real3& d) { return Real(1e-24) + d.x * d.x + d.y * d.y + d.z * d.z; }

/// Densities. Where the particles of a pair may be given different ones, half the sum and half the
/// difference of the two are added up, since a pair may be seen from one side.
template <class E, PairTypes Types>
struct DensityBody {
  static constexpr bool one_type = Types == PairTypes::one, ordered = Types == PairTypes::any;
  static constexpr int sums = ordered ? 2 : 1, odd = ordered ? 1 : 0;
  static constexpr bool has_extra = false;
  using Coefficients = BothWays<E>;
  static constexpr bool looks_up = !one_type;
  ManyBodyView<E> view;
  const Coefficients* table = view.table;
  std::uint32_t types = view.types;

  struct Own {
    std::uint32_t row;  // of the table
    typename E::Coefficients coefficients;
  };
  PERRIN_HD Own own(std::int64_t i) const {
    return {one_type ? 0u : view.position[i].type() * types, table[0].on_i};
  }

  PERRIN_HD void pair(const Own& own, Real3 d, std::uint32_t type, const Real4&, bool real,
                      Real (&term)[sums]) const {
    if constexpr (one_type)
      term[0] = weight(square_of(d), own.coefficients, real);
    else
      pair_with(own, d, type, entry(table, own.row + type), real, term);
  }
  PERRIN_HD void pair_with(const Own&, Real3 d, std::uint32_t, const Coefficients& c, bool real,
                           Real (&term)[sums]) const {
    const Real r2 = square_of(d);
    const Real on_i = weight(r2, c.on_i, real);
    if constexpr (!ordered) {
      term[0] = on_i;
    } else {
      const Real on_j = weight(r2, c.on_j, real);
      term[0] = Real(0.5) * (on_i - on_j), term[1] = Real(0.5) * (on_i + on_j);
    }
  }

  PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const {
    view.store(i, ordered ? sum[0] + sum[sums - 1] : sum[0]);
  }

 private:
  PERRIN_HD static Real weight(Real r2, const typename E::Coefficients& c, bool real) {
    const Real w = E::density(r2, c).energy;
    return real && r2 < c.cutoff2 ? w : Real(0);
  }
};

/// Forces, and with Energy energies and virials.
template <class E, bool Energy, PairTypes Types>
struct EmbeddingForceBody {
  static constexpr bool one_type = Types == PairTypes::one;
  static constexpr int sums = Energy ? 10 : 3, odd = 3;
  static constexpr bool has_extra = true, looks_up = !one_type;
  using Coefficients = BothWays<E>;
  ManyBodyView<E> view;
  ForceOutput output;
  const Coefficients* table = view.table;
  std::uint32_t types = view.types;

  struct Own {
    std::uint32_t row;  // of the table
    Real slope;
    typename E::Coefficients coefficients;  // where there is one type only
  };
  PERRIN_HD Own own(std::int64_t i) const {
    return {one_type ? 0u : view.position[i].type() * view.types, view.slope[i],
            view.table[0].on_i};
  }
  template <class Index>
  PERRIN_HD Real extra(Index j) const {
    return view.slope_of(j);
  }

  PERRIN_HD void pair(const Own& own, Real3 d, std::uint32_t type, Real other, bool real,
                      Real (&term)[sums]) const {
    // Both ways one by one, or GCC does not vectorise.
    const std::uint32_t k = one_type ? 0u : 2 * (own.row + type);
    const typename E::Coefficients c = one_type ? own.coefficients : coefficients(k);
    if constexpr (Types == PairTypes::any)
      pair_with(own, d, type, {c, coefficients(k + 1)}, other, real, term);
    else
      pair_with(own, d, type, {c, c}, other, real, term);
  }
  PERRIN_HD void pair_with(const Own& own, Real3 d, std::uint32_t, const Coefficients& ways,
                           Real other, bool real, Real (&term)[sums]) const {
    const Real r2 = square_of(d);
    Real f = 0;
    [[maybe_unused]] Real energy = 0;
    if constexpr (Types != PairTypes::any) {
      const typename E::Coefficients& c = ways.on_i;
      f = (own.slope + other) * E::density(r2, c).force_over_r;
      if constexpr (E::has_pair) {
        const PairForce<Real> v = E::pair(r2, c);
        f += v.force_over_r, energy += v.energy;
      }
      const bool inside = real && r2 < c.cutoff2;
      f = inside ? f : Real(0), energy = inside ? energy : Real(0);
    } else {
      // GCC vectorises this, and not what has one condition at the end.
      const Real a = weight_slope(ways.on_i, r2, real), b = weight_slope(ways.on_j, r2, real);
      // Own slope · a + other slope · b, such that both particles find the same bits.
      f = Real(0.5) * ((own.slope + other) * (a + b) + (own.slope - other) * (a - b));
#ifdef __CUDA_ARCH__
      f = a != Real(0) || b != Real(0) ? f : Real(0);  // nobody's slope may be anything
#endif
      if constexpr (E::has_pair) {
        const typename E::Coefficients c = ways.on_i;
        const PairForce<Real> v = E::pair(r2, c);
        const bool inside = real && r2 < c.cutoff2;
        f += inside ? v.force_over_r : Real(0);
        if constexpr (Energy) energy = inside ? v.energy : Real(0);
      }
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
      f.w += E::embedding(view.density[i], view.type_of(i)).energy + Real(0.5) * sum[3];
      if (output.virial)
        for (int c = 0; c < 6; ++c) {
          Real& v = output.virial[c * view.n + i];
          v = (output.add ? v : Real(0)) + Real(0.5) * sum[4 + c];
        }
    }
    output.force[i] = f;
  }

 private:
  /// Number k of the table's entries, of one way each.
  PERRIN_HD typename E::Coefficients coefficients(std::uint32_t k) const {
    return entry(&view.table->on_i, k);
  }
  PERRIN_HD static Real weight_slope(const typename E::Coefficients& c, Real r2, bool real) {
    const Real slope = E::density(r2, c).force_over_r;
    return real && r2 < c.cutoff2 ? slope : Real(0);
  }
};

}  // namespace perrin
