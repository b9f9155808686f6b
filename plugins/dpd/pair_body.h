// The pair of dissipative particle dynamics, as bodies of neighbor/pair_loop.h.
//
// P. J. Hoogerbrugge, J. M. V. A. Koelman, Europhys. Lett. 19 (1992) 155; P. Español, P. Warren,
// Europhys. Lett. 30 (1995) 191; R. D. Groot, P. B. Warren, J. Chem. Phys. 107 (1997) 4423. With
// e = (r_i - r_j)/r, v = v_i - v_j, x = 1 - r/r_c and the weight w = x^s,
//
//     F = [ conservative - gamma w² (e · v) + sqrt(2 gamma k_B T / dt) w theta ] e   on i, -F on j.
//
// Both particles of a pair compute it. Every term is, bit by bit, odd under the exchange of i and j
// or even, so that the two forces are exactly opposite.
#pragma once

#include <bit>
#include <cmath>

#include "engine/components/box_mover.h"
#include "engine/components/force.h"
#include "engine/system/group.h"
#include "forces/deposit.h"
#include "forces/device_math.h"
#include "forces/potentials/lennard_jones.h"
#include "neighbor/pair_loop.h"
#include "warren_density.h"

namespace perrin::dpd {

/// What a pair sees of a particle besides its position: velocity, and in the fourth word the id,
/// so that one load brings both.
PERRIN_HD Real pack_id(std::uint32_t id) {
#ifdef PERRIN_DOUBLE
  return Real(id);
#else
  return std::bit_cast<float>(id);
#endif
}
PERRIN_HD std::uint32_t unpack_id(Real w) {
#ifdef PERRIN_DOUBLE
  return std::uint32_t(w);
#else
  return std::bit_cast<std::uint32_t>(w);
#endif
}

/// One load on the GPU; on the CPU number by number, which GCC makes gathers of where indices are
/// from a list: in 32 bits, or it makes an offset no gather can scale. Those of a cluster, whose
/// particles are beside one another, have 64.
template <class Index>
PERRIN_HD Real4 fetch(const Real4* array, Index j) {
#ifdef __CUDA_ARCH__
  return array[j];
#else
  const Real* numbers = reinterpret_cast<const Real*>(array);
  const Index at = 4 * j;
  return {numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]};
#endif
}

struct PackMoving {
  const Real4* velocity;
  const std::uint32_t* id;
  Real4* moving;
  PERRIN_HD void operator()(std::int64_t i) const {
    const Real4 v = velocity[i];
    moving[i] = {v.x, v.y, v.z, pack_id(id[i])};
  }
};

/// The distance of a pair and what follows from it.
struct PairDistance {
  Real r2, r, inverse;
  Real x;  // 1 - r/r_c, not below 0
};

/// Groot and Warren's repulsion a (1 - r/r_c); with a = 0 there is none.
struct SoftRepulsion {
  struct Coefficients {
    Real force, energy;  // a, a r_c / 2
  };
  static constexpr std::uint32_t numbers = 2;
  PERRIN_HD static Coefficients from(const Real* t, std::uint32_t k) { return {t[k], t[k + 1]}; }
  static constexpr bool within_range = true;  // ends where the thermostat does
  PERRIN_HD static PairForce<Real> evaluate(const PairDistance& d, const Coefficients& c) {
    return {c.force * d.x * d.inverse, c.energy * d.x * d.x};
  }
};

/// Lennard-Jones, cut and shifted in energy at a cut-off of its own.
struct ShiftedLennardJones {
  struct Coefficients {
    LennardJones::Coefficients potential;
    Real cutoff2, shift;
  };
  static constexpr std::uint32_t numbers = 4;
  PERRIN_HD static Coefficients from(const Real* t, std::uint32_t k) {
    return {{t[k], t[k + 1]}, t[k + 2], t[k + 3]};
  }
  static constexpr bool within_range = false;
  PERRIN_HD static PairForce<Real> evaluate(const PairDistance& d, const Coefficients& c) {
    const auto f = LennardJones::evaluate(d.r2, c.potential);
    const bool inside = d.r2 < c.cutoff2;
    return {inside ? f.force_over_r : Real(0), inside ? f.energy - c.shift : Real(0)};
  }
};

/// Of one pair of types.
template <class C>
struct PairCoefficients {
  typename C::Coefficients conservative;
  Real inverse_range, outer2;  // 1/r_c; square of the longer of r_c and the conservative cut-off
  Real gamma, root_gamma;

  /// Entry k of a table, number by number (see fetch()).
  PERRIN_HD static PairCoefficients from(const PairCoefficients* table, std::uint32_t k) {
#ifdef __CUDA_ARCH__
    return table[k];
#else
    constexpr std::uint32_t n = C::numbers;
    static_assert(sizeof(PairCoefficients) == (n + 4) * sizeof(Real));
    const Real* t = reinterpret_cast<const Real*>(table);
    const std::uint32_t at = (n + 4) * k;
    return {C::from(t, at), t[at + n], t[at + n + 1], t[at + n + 2], t[at + n + 3]};
#endif
  }
};

/// Strengths that depend on the step: friction 1 or 0; noise sqrt(2 k_B T / dt) for a force,
/// sqrt(2 k_B T dt) for an impulse, or 0.
struct Bath {
  Real friction = 0, noise = 0;
};

/// The gradient of the flow that velocities are relative to.
struct Gradient {
  Real of[6];  // xx yy zz xy xz yz
  /// `flow`: of the box, or nullptr. `instant`: number of steps done.
  PERRIN_HD static Gradient from(const Flow* flow, std::uint64_t instant) {
    Gradient g{};
    if (flow)
      for (int c = 0; c < 6; ++c) g.of[c] = flow[instant & 1].gradient[c];
    return g;
  }
  /// What the flow adds to the relative velocity of a pair at a distance: odd, as that is.
  PERRIN_HD Real3 at(const Real3& d) const {
    return {multiply_add(of[0], d.x, multiply_add(of[3], d.y, of[4] * d.z)),
            multiply_add(of[1], d.y, of[5] * d.z), of[2] * d.z};
  }
};
/// For the code that is made to be fast, which runs where nothing flows.
struct NoGradient {
  PERRIN_HD static NoGradient from(const Flow*, std::uint64_t) { return {}; }
  PERRIN_HD Real3 at(const Real3&) const { return {}; }
};
template <bool Plain, bool OneType>
using GradientOf = std::conditional_t<!Plain && !OneType, Gradient, NoGradient>;

/// Sums per particle: force; with energy and virial; or force and, apart from it, the random
/// impulse.
enum class Output { force, measure, split };

/// Noise: a functor of noise.h. Plain: the weight's exponent is 1. OneType: table[0] serves all.
/// Density: NoDensity, or DensitySum, whose term is the last.
template <class C, class Noise, Output Kind, bool Plain, bool OneType, class Density>
struct PairBody {
  static constexpr int of_forces = Kind == Output::force ? 3 : Kind == Output::split ? 6 : 10;
  static constexpr int sums = of_forces + (Density::used ? 1 : 0);
  static constexpr int odd = Kind == Output::split ? 6 : 3;
  static constexpr bool has_extra = true, looks_up = !OneType;
  using Coefficients = PairCoefficients<C>;
  const Position* position;
  const Real4* velocity;
  const std::uint32_t* id;
  const Real4* moving;  // on the CPU: velocity and id in one word
  const Coefficients* table;
  std::uint32_t types;
  Real exponent;
  Noise noise;
  Bath bath;
  const std::uint64_t* step;
  std::uint64_t instant;  // added to *step
  std::int64_t n;
  ForceOutput output;
  Real4* impulse;  // Output::split: the random one, by memory index
  const Flow* flow;
  Density density;

  struct Own {
    std::uint32_t row;  // of the table
    Real3 velocity;
    std::uint32_t id;
    std::uint64_t step;
    Coefficients coefficients;
    GradientOf<Plain, OneType> gradient;
  };
  PERRIN_HD Own own(std::int64_t i) const {
    const Real4 m = extra(std::uint32_t(i));
    return {OneType ? 0u : position[i].type() * types,
            m.xyz(),
            unpack_id(m.w),
            *step + instant,
            table[0],
            GradientOf<Plain, OneType>::from(flow, *step + instant)};
  }
  template <class Index>
  PERRIN_HD Real4 extra(Index j) const {
#ifdef __CUDA_ARCH__
    const Real4 v = velocity[j];
    return {v.x, v.y, v.z, pack_id(id[j])};
#else
    return fetch(moving, j);
#endif
  }
  PERRIN_HD Coefficients coefficients([[maybe_unused]] const Own& own,
                                      [[maybe_unused]] std::uint32_t type) const {
#ifdef __CUDA_ARCH__
    if constexpr (OneType) return own.coefficients;
#endif
    return Coefficients::from(table, OneType ? 0u : own.row + type);
  }

  PERRIN_HD void pair(const Own& own, Real3 d, std::uint32_t type, const Real4& m, bool real,
                      Real (&term)[sums]) const {
    pair_with(own, d, type, coefficients(own, type), m, real, term);
  }
  PERRIN_HD void pair_with(const Own& own, Real3 d, std::uint32_t, const Coefficients& c,
                           const Real4& m, bool real, Real (&term)[sums]) const {
    const Real r2 = dot(d, d);
    const bool inside = real && r2 < c.outer2;
#ifdef __CUDA_ARCH__
    // A third of a list's pairs is out of range: no loads and no random number for them.
    if (!inside) {
      for (int k = 0; k < sums; ++k) term[k] = 0;
      return;
    }
#endif
    const auto distance = Distance<Real>::from_square(r2);
    const Real x = Real(1) - distance.r * c.inverse_range;
    const PairDistance pair{r2, distance.r, distance.inverse, x > Real(0) ? x : Real(0)};
    const auto conservative = C::evaluate(pair, c.conservative);
    if constexpr (Density::used) term[of_forces] = inside ? density.weight(distance.r) : Real(0);
    const Real w = Plain ? pair.x : weight(pair.x);
    const Real theta = noise(own.step, own.id, unpack_id(m.w));
    const Real random = c.root_gamma * bath.noise * (w * pair.inverse) * theta;
    if constexpr (Kind == Output::split) {
      put(d, inside ? conservative.force_over_r : Real(0), term);
      const Real q = inside ? random : Real(0);
      term[3] = q * d.x, term[4] = q * d.y, term[5] = q * d.z;
    } else {
      const Real3 v = relative(own, m, d);
      const Real we = w * pair.inverse;
      const Real drag = c.gamma * bath.friction * (we * we) * dot(d, v);
      const Real f = inside ? conservative.force_over_r - drag + random : Real(0);
      put(d, f, term);
      if constexpr (Kind == Output::measure) {
        term[3] = inside ? conservative.energy : Real(0);
        term[4] = d.x * term[0], term[5] = d.y * term[1], term[6] = d.z * term[2];
        term[7] = d.x * term[1], term[8] = d.x * term[2], term[9] = d.y * term[2];
      }
    }
  }

  PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const {
    deposit_pairs<Kind == Output::measure>(output, n, i, sum);
    if constexpr (Kind == Output::split) impulse[i] = {sum[3], sum[4], sum[5], Real(0)};
    if constexpr (Density::used) density.store(i, sum[of_forces]);
  }

 private:
  PERRIN_HD static void put(Real3 d, Real f, Real (&term)[sums]) {
    term[0] = f * d.x, term[1] = f * d.y, term[2] = f * d.z;
  }
  PERRIN_HD static Real3 relative(const Own& own, const Real4& m, [[maybe_unused]] const Real3& d) {
    Real3 v = own.velocity - m.xyz();
    if constexpr (!Plain && !OneType) v += own.gradient.at(d);
    return v;
  }
  PERRIN_HD Real weight(Real x) const { return x > Real(0) ? std::pow(x, exponent) : Real(0); }
};

/// The friction of the velocities `middle`, with which the impulses are completed:
/// v += (impulse - dt sum gamma w² (e · middle_ij) e) / m.
template <class C, bool Plain, bool OneType>
struct DragBody {
  static constexpr int sums = 3, odd = 3;
  static constexpr bool has_extra = true;
  using Coefficients = PairCoefficients<C>;
  const Position* position;
  const Real4* middle;  // w: 1/m
  const Coefficients* table;
  std::uint32_t types;
  Real exponent, timestep;
  const Real4* impulse;
  Real4* velocity;
  const Flow* flow;
  const std::uint64_t* step;
  std::uint64_t instant;
  const std::uint32_t* id;
  GroupMask moved;  // others keep their velocities

  struct Own {
    std::uint32_t row;  // of the table
    Real3 velocity;
    Coefficients coefficients;
    GradientOf<Plain, OneType> gradient;
  };
  PERRIN_HD Own own(std::int64_t i) const {
    return {OneType ? 0u : position[i].type() * types, middle[i].xyz(), table[0],
            GradientOf<Plain, OneType>::from(flow, *step + instant)};
  }
  PERRIN_HD Real4 extra(std::uint32_t j) const { return fetch(middle, j); }
  PERRIN_HD Coefficients coefficients([[maybe_unused]] const Own& own,
                                      [[maybe_unused]] std::uint32_t type) const {
#ifdef __CUDA_ARCH__
    if constexpr (OneType) return own.coefficients;
#endif
    return Coefficients::from(table, OneType ? 0u : own.row + type);
  }

  PERRIN_HD void pair(const Own& own, Real3 d, std::uint32_t type, const Real4& other, bool real,
                      Real (&term)[sums]) const {
    const Real r2 = dot(d, d);
    const auto c = coefficients(own, type);
    const bool inside = real && r2 < c.outer2;
#ifdef __CUDA_ARCH__
    if (!inside) {
      for (int k = 0; k < sums; ++k) term[k] = 0;
      return;
    }
#endif
    const auto distance = Distance<Real>::from_square(r2);
    const Real x = Real(1) - distance.r * c.inverse_range;
    const Real positive = x > Real(0) ? x : Real(0);
    const Real w = Plain ? positive : x > Real(0) ? std::pow(x, exponent) : Real(0);
    const Real we = w * distance.inverse;
    Real3 v = own.velocity - other.xyz();
    if constexpr (!Plain && !OneType) v += own.gradient.at(d);
    const Real drag = inside ? c.gamma * (we * we) * dot(d, v) : Real(0);
    term[0] = drag * d.x, term[1] = drag * d.y, term[2] = drag * d.z;
  }

  PERRIN_HD void store(std::int64_t i, const Real (&sum)[sums]) const {
    if (moved && !moved.has(id[i])) return;
    Real4 v = velocity[i];
    const Real4 u = impulse[i];
    v.x += v.w * (u.x - timestep * sum[0]);
    v.y += v.w * (u.y - timestep * sum[1]);
    v.z += v.w * (u.z - timestep * sum[2]);
    velocity[i] = v;
  }
};

}  // namespace perrin::dpd
