// What a many-body potential of two passes is: one struct with its settings and its formulas.
//
//     U = sum over i of F(rho_i) + sum over pairs of V(r_ij),    rho_i = sum over j of w_ij(r_ij)
//
// The embedded-atom method is of this kind (M. S. Daw, M. I. Baskes, Phys. Rev. B 29, 6443 (1984);
// M. W. Finnis, J. E. Sinclair, Philos. Mag. A 50, 45 (1984)), and so is many-body dissipative
// particle dynamics. Particle i itself is not in its density rho_i. w_ij may depend on the types of
// i and j in this order.
//
//     struct FinnisSinclair {
//       struct Settings { double range = 1; };         // of a pair of types; has a describe()
//       struct Coefficients { Real range; };           // what the loops over pairs read
//       struct TypeSettings { double c = 1; };         // of a type; has a describe(), unless empty
//       struct TypeCoefficients { Real c; };
//       static constexpr const char* type = "finnis_sinclair";  // the name in a job
//       static constexpr const char* help = "one line";
//       static Coefficients coefficients(const Settings&);  // host, in double
//       static TypeCoefficients type_coefficients(const TypeSettings&);
//       template <class T>                             // float or double; r2: distance squared
//       PERRIN_HD static PairForce<T> density(T r2, const Coefficients&);  // {-w'/r, w}
//       template <class T>
//       PERRIN_HD static Embedding<T> embedding(T density, const TypeCoefficients&);  // {F', F}
//     };
//
// Optional:
//       template <class T>                             // V, as {-V'/r, V} of an unordered pair
//       PERRIN_HD static PairForce<T> pair(T r2, const Coefficients&);
//
// density() and pair() are the innermost loops, as evaluate() of forces/pair_potential.h is;
// embedding() is called once for each particle. It is not asked for F' where the density is 0:
// nobody is near.
#pragma once

#include <concepts>

#include "forces/pair_potential.h"

namespace perrin {

/// F'(rho) in units of energy / density, and the energy F(rho) of a particle.
template <class T>
struct Embedding {
  T slope, energy;
};

template <class P>
concept NamesTypeSettings = requires {
  typename P::TypeSettings;
  typename P::TypeCoefficients;
};
template <class P>
concept MakesTypeCoefficients = requires(const typename P::TypeSettings& settings) {
  { P::type_coefficients(settings) } -> std::same_as<typename P::TypeCoefficients>;
};
template <class P, class T>
concept HasDensityIn = requires(const typename P::Coefficients& coefficients) {
  { P::density(T(1), coefficients) } -> std::same_as<PairForce<T>>;
};
template <class P>
concept HasDensity = HasDensityIn<P, float> && HasDensityIn<P, double>;
template <class P>
concept HasEmbedding = requires(const typename P::TypeCoefficients& coefficients) {
  { P::embedding(Real(1), coefficients) } -> std::same_as<Embedding<Real>>;
};
template <class P>
concept HasPairPart = requires(const typename P::Coefficients& coefficients) {
  { P::pair(1.0f, coefficients) } -> std::same_as<PairForce<float>>;
  { P::pair(1.0, coefficients) } -> std::same_as<PairForce<double>>;
};

/// True, or a sentence of the compiler's says what is missing.
template <class P>
constexpr bool check_many_body_potential() {
  check_potential<P>();
  static_assert(NamesTypeSettings<P>,
                "a many-body potential needs the structs TypeSettings and TypeCoefficients, of a "
                "type of particles; they may be empty");
  if constexpr (NamesTypeSettings<P>) {
    static_assert(MakesTypeCoefficients<P>,
                  "a many-body potential needs: static TypeCoefficients type_coefficients(const "
                  "TypeSettings&);");
    static_assert(HasEmbedding<P>,
                  "a many-body potential needs: template <class T> PERRIN_HD static Embedding<T> "
                  "embedding(T density, const TypeCoefficients& c);");
  }
  if constexpr (NamesCoefficients<P>)
    static_assert(HasDensity<P>,
                  "a many-body potential needs, for float and double: template <class T> PERRIN_HD "
                  "static PairForce<T> density(T r2, const Coefficients& c);");
  return true;
}

}  // namespace perrin
