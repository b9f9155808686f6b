// A pair potential: E(r) = height exp(-r / length).
#include "engine/job/plugin_api.h"
#include "forces/pair_force.h"

using namespace perrin;

namespace plugin_name {

struct PluginName {
  struct Settings {  // of a pair of types, as the job says them
    double height = 1, length = 1;
  };
  struct Coefficients {  // what the innermost loop reads
    Real height, inverse_length;
  };
  static constexpr const char* type = "plugin_name";
  static constexpr const char* help = "height exp(-r / length)";

  static Coefficients coefficients(const Settings& s) {
    return {Real(s.height), Real(1 / s.length)};
  }

  template <class T>  // force over distance (energy/length²), and energy; r2: distance squared
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    const auto distance = Distance<T>::from_square(r2);
    const T energy = T(c.height) * std::exp(-distance.r * T(c.inverse_length));
    return {energy * T(c.inverse_length) * distance.inverse, energy};
  }
};

template <class D>
void describe(D& d, PluginName::Settings& s) {
  d.required("height", s.height, Any{}, "energy at r = 0");
  d.required("length", s.length, Positive{}, "decay length");
}

}  // namespace plugin_name

PERRIN_PLUGIN("plugin_name", "1.0", register_pair_potential<plugin_name::PluginName>)
