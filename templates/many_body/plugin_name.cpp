// A many-body potential: U = sum of strength rho², rho the sum of (1 - r/range)² over neighbours.
#include "engine/job/plugin_api.h"
#include "forces/many_body_force.h"

using namespace perrin;

namespace plugin_name {

struct PluginName {
  struct Settings {  // of a pair of types, as the job says them
    double range = 1;
  };
  struct Coefficients {  // what the loops over pairs read
    Real inverse_range;
  };
  struct TypeSettings {  // of a type
    double strength = 1;
  };
  struct TypeCoefficients {
    Real strength;
  };
  static constexpr const char* type = "plugin_name";
  static constexpr const char* help = "strength rho^2, rho the sum of (1 - r/range)^2";

  static Coefficients coefficients(const Settings& s) { return {Real(1 / s.range)}; }
  static TypeCoefficients type_coefficients(const TypeSettings& s) { return {Real(s.strength)}; }

  template <class T>  // -w'/r and w; r2: distance squared
  PERRIN_HD static PairForce<T> density(T r2, const Coefficients& c) {
    const auto distance = Distance<T>::from_square(r2);
    const T x = T(1) - distance.r * T(c.inverse_range), y = x > T(0) ? x : T(0);
    return {T(2) * T(c.inverse_range) * y * distance.inverse, y * y};
  }
  template <class T>  // dF/d(rho) and F, of a particle
  PERRIN_HD static Embedding<T> embedding(T density, const TypeCoefficients& c) {
    return {T(2) * T(c.strength) * density, T(c.strength) * density * density};
  }
};

template <class D>
void describe(D& d, PluginName::Settings& s) {
  d.required("range", s.range, Positive{}, "distance at which the density ends");
}
template <class D>
void describe(D& d, PluginName::TypeSettings& s) {
  d.required("strength", s.strength, Any{}, "energy of a particle of density 1");
}

}  // namespace plugin_name

// Densities end by themselves: no other truncation is needed.
PERRIN_PLUGIN("plugin_name", "1.0",
              (register_many_body_potential<plugin_name::PluginName, Truncations<PlainCut>>))
