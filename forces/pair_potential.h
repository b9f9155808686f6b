// What a pair potential is: one struct with its settings and its formula.
//
//     struct LennardJones {
//       struct Settings { double epsilon = 1, sigma = 1; };  // of a pair; has a describe()
//       struct Coefficients { Real twelve, six; };           // what the kernel reads
//       static constexpr const char* type = "lennard_jones";  // the name in a job
//       static constexpr const char* help = "one line";
//       static Coefficients coefficients(const Settings&);  // host, in double, rounded at the end
//       template <class T>                                  // float or double
//       PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients&);
//     };
//
// evaluate() gets the distance squared (r2 > 0) and knows nothing of cut-offs: forces/truncation.h
// wraps them around. It is the innermost loop: no branches, everything that depends on the settings
// alone precomputed in Coefficients. std::pow, std::exp and std::log do not vectorise on the CPU: a
// potential with std::pow takes 54 times the time of Lennard-Jones, with forces/powers.h 2.5 times.
// It may return infinity where particles overlap.
//
// Optional members:
//     static double default_cutoff(const Settings&)
//         the potential ends there by itself (WCA): a job need not give a cut-off, and a longer one
//         is an error
//     static constexpr bool ends_smoothly = true
//         energy and force are 0 there: a shift is an error
//     static Settings mix(const Settings& a, const Settings& b, Mixing rule)
//         settings of unlike types from those of like types
//     static double tail_energy(const Settings&, double cutoff)
//     static double tail_virial(const Settings&, double cutoff)
//         the integrals over r from the cut-off to infinity of r² E(r) and r² · r F(r), three
//         dimensions
//     static void check(const Settings&, const Refuse& refuse)
//         refuse("sigma", "must be below …") where settings that are fine one by one do not go
//         together
#pragma once

#include <concepts>
#include <functional>
#include <string>

#include "engine/base/real.h"
#include "forces/potential_checks.h"

namespace perrin {

/// force_over_r · (r_i - r_j) acts on i; energy of the pair.
template <class T>
struct PairForce {
  T force_over_r, energy;
};

enum class Mixing { lorentz_berthelot, geometric };

template <class P, class T>
concept EvaluatesPairsIn = requires(const typename P::Coefficients& coefficients) {
  { P::evaluate(T(1), coefficients) } -> std::same_as<PairForce<T>>;
};
template <class P>
concept EvaluatesPairs = EvaluatesPairsIn<P, float> && EvaluatesPairsIn<P, double>;

template <class P>
concept PairPotential = NamesSettings<P> && NamesCoefficients<P> && HasType<P> && HasHelp<P> &&
    MakesCoefficients<P> && EvaluatesPairs<P>;

/// Of a pair potential: true, or a sentence of the compiler's says what is missing.
template <class P>
constexpr bool check_pair_potential() {
  check_potential<P>();
  if constexpr (NamesCoefficients<P>)
    static_assert(EvaluatesPairs<P>,
                  "a pair potential needs, for float and double: template <class T> "
                  "PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c);");
  return true;
}
/// The same of a bond potential, of which nothing is computed in other numbers than Real.
template <class P>
constexpr bool check_bond_potential() {
  check_potential<P>();
  if constexpr (NamesCoefficients<P>)
    static_assert(EvaluatesPairsIn<P, Real>,
                  "a bond potential needs: template <class T> PERRIN_HD static PairForce<T> "
                  "evaluate(T r2, const Coefficients& c);");
  return true;
}

/// Takes what is wrong with a key of a potential's settings.
using Refuse = std::function<void(const std::string& key, const std::string& what)>;

template <class P>
concept HasCheck = requires(const typename P::Settings& settings, const Refuse& refuse) {
  P::check(settings, refuse);
};

template <class P>
concept HasDefaultCutoff = requires(const typename P::Settings& settings) {
  { P::default_cutoff(settings) } -> std::same_as<double>;
};

template <class P>
concept HasMixing = requires(const typename P::Settings& settings) {
  { P::mix(settings, settings, Mixing::geometric) } -> std::same_as<typename P::Settings>;
};

/// With N_a, N_b particles of types a and b in a volume V and no structure beyond the cut-off, all
/// that was cut off between them is 2π N_a N_b / V times the integral, summed over ordered pairs
/// (a, b) (Allen, Tildesley, Computer Simulation of Liquids, section 2.8). tail_virial gives the
/// trace of the virial, sum of r · F. `switch` takes away more, before the cut-off
/// (taken_by_switch() of forces/truncation.h). A shift changes all pairs, near ones as well, of
/// which there are not as many as without structure: it has no tail.
template <class P>
concept HasTail = requires(const typename P::Settings& settings) {
  { P::tail_energy(settings, 2.5) } -> std::same_as<double>;
  { P::tail_virial(settings, 2.5) } -> std::same_as<double>;
};

}  // namespace perrin
