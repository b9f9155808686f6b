// How a pair potential ends at its cut-off: wrappers around any potential, written once.
//
//     using P = Truncated<LennardJones, ForceShift>;
//     P::coefficients(settings, {.cutoff = 2.5})   on the host, in double
//     P::evaluate(r2, coefficients)                for r2 < coefficients.cutoff2
//
// The caller compares r2 with cutoff2; beyond it evaluate() is meaningless.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "forces/device_math.h"
#include "forces/pair_potential.h"

namespace perrin {

struct CutOff {
  double cutoff = 0;          // length
  double switch_on = 0;       // length; where Switched begins to act; other modes ignore it
  bool shift_energy = false;  // PlainCut: "energy_shift"; other modes ignore it
};

/// Energy and force as they are, zero beyond the cut-off: both jump there. With `shift_energy` the
/// energy is E - E(r_c), continuous. One class for both: their forces are the same.
struct PlainCut {
  static constexpr const char* name = "cut";
  static constexpr const char* shifted = "energy_shift";
  struct Numbers {
    Real energy;
  };
  static Numbers numbers(const CutOff& c, PairForce<double> at_cutoff) {
    return {c.shift_energy ? Real(at_cutoff.energy) : Real(0)};
  }
  template <class T>
  PERRIN_HD static PairForce<T> apply(PairForce<T> f, T, const Numbers& n) {
    return {f.force_over_r, f.energy - T(n.energy)};
  }
};

/// F - F(r_c), and so E - E(r_c) + (r - r_c) F(r_c): energy and force are continuous.
struct ForceShift {
  static constexpr const char* name = "force_shift";
  struct Numbers {
    Real force, energy;  // F(r_c); E(r_c) + r_c F(r_c)
  };
  static Numbers numbers(const CutOff& c, PairForce<double> at_cutoff) {
    const double force = at_cutoff.force_over_r * c.cutoff;
    return {Real(force), Real(at_cutoff.energy + c.cutoff * force)};
  }
  template <class T>
  PERRIN_HD static PairForce<T> apply(PairForce<T> f, T r2, const Numbers& n) {
    const auto distance = Distance<T>::from_square(r2);
    return {f.force_over_r - T(n.force) * distance.inverse,
            f.energy + (distance.r * T(n.force) - T(n.energy))};
  }
};

/// E · S with S falling from 1 at switch_on to 0 at the cut-off, 1 - 10 x³ + 15 x⁴ - 6 x⁵ in the
/// scaled distance x: the energy has two continuous derivatives everywhere.
struct Switched {
  static constexpr const char* name = "switch";
  struct Numbers {
    Real on, inverse_width;
  };
  static Numbers numbers(const CutOff& c, PairForce<double>) {
    PERRIN_ASSERT(c.switch_on < c.cutoff);
    return {Real(c.switch_on), Real(1 / (c.cutoff - c.switch_on))};
  }
  template <class T>
  PERRIN_HD static PairForce<T> apply(PairForce<T> f, T r2, const Numbers& n) {
    const auto distance = Distance<T>::from_square(r2);
    const T scaled = (distance.r - T(n.on)) * T(n.inverse_width);
    const T x = scaled > T(0) ? scaled : T(0);
    const T s = T(1) - x * x * x * (T(10) - x * (T(15) - T(6) * x));
    const T slope = T(30) * T(n.inverse_width) * (x * (T(1) - x)) * (x * (T(1) - x));  // -dS/dr
    return {f.force_over_r * s + f.energy * slope * distance.inverse, f.energy * s};
  }
};

/// The potential P ended by the mode M.
template <PairPotential P, class M>
struct Truncated {
  using Potential = P;
  using Mode = M;
  struct Coefficients : M::Numbers {
    typename P::Coefficients potential;
    Real cutoff2;
  };

  /// A potential with an end of its own is never cut beyond it.
  static Coefficients coefficients(const typename P::Settings& settings, CutOff c) {
    if constexpr (HasDefaultCutoff<P>) c.cutoff = std::min(c.cutoff, P::default_cutoff(settings));
    const auto potential = P::coefficients(settings);
    const double cutoff2 = c.cutoff * c.cutoff;
    return {M::numbers(c, P::evaluate(cutoff2, potential)), potential, Real(cutoff2)};
  }

  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    return M::template apply<T>(P::evaluate(r2, c.potential), r2, c);
  }
};

/// What a potential leaves out, for pairs of types and no structure: integrals over r of r² E and
/// of r² · r F (see HasTail).
struct TailIntegrals {
  double energy = 0, virial = 0;
};

/// Of what Switched takes away before the cut-off.
template <PairPotential P>
TailIntegrals taken_by_switch(const typename P::Settings& settings, const CutOff& c) {
  using Cut = Truncated<P, Switched>;
  const auto coefficients = Cut::coefficients(settings, c);
  TailIntegrals sum;
  constexpr int n = 1000;  // intervals of Simpson's rule
  const double width = (c.cutoff - c.switch_on) / n;
  for (int k = 0; k <= n; ++k) {
    const double r = c.switch_on + k * width, r2 = r * r;
    const auto whole = P::evaluate(r2, coefficients.potential);
    const auto left = Cut::evaluate(r2, coefficients);
    const double weight = (k == 0 || k == n ? 1 : k % 2 ? 4 : 2) * width / 3 * r2;
    sum.energy += weight * (whole.energy - left.energy);
    sum.virial += weight * r2 * (whole.force_over_r - left.force_over_r);
  }
  return sum;
}

inline constexpr std::array<const char*, 4> truncation_names{PlainCut::name, PlainCut::shifted,
                                                             ForceShift::name, Switched::name};

/// Which of them a potential is compiled for.
template <class... Modes>
struct Truncations {};
using AllTruncations = Truncations<PlainCut, ForceShift, Switched>;

/// Whether the mode with this name is among them.
template <class... Modes>
constexpr bool has_truncation(std::string_view name, Truncations<Modes...>) {
  if (name == PlainCut::shifted) name = PlainCut::name;
  return ((name == Modes::name) || ...);
}

/// Calls f.template operator()<Mode>() for the mode with this name. PlainCut::shifted is PlainCut
/// with CutOff::shift_energy.
template <class First, class... Others, class F>
auto with_truncation(const std::string& name, F&& f, Truncations<First, Others...>) {
  const std::string mode = name == PlainCut::shifted ? PlainCut::name : name;
  if constexpr (sizeof...(Others) > 0)
    if (mode != First::name)
      return with_truncation(name, std::forward<F>(f), Truncations<Others...>{});
  PERRIN_ASSERT(mode == First::name);
  return f.template operator()<First>();
}
template <class F>
auto with_truncation(const std::string& name, F&& f) {
  return with_truncation(name, std::forward<F>(f), AllTruncations{});
}

}  // namespace perrin
