// A bond potential: E(r) = stiffness/2 (r - length)² + quartic/4 (r - length)⁴.
#include "engine/job/plugin_api.h"
#include "forces/bond_force.h"

using namespace perrin;

namespace plugin_name {

struct PluginName {
  struct Settings {  // of a bond type
    double stiffness = 1, quartic = 0, length = 1;
  };
  struct Coefficients {
    Real stiffness, quartic, length;
  };
  static constexpr const char* type = "plugin_name";
  static constexpr const char* help = "stiffness/2 (r - length)^2 + quartic/4 (r - length)^4";

  static Coefficients coefficients(const Settings& s) {
    return {Real(s.stiffness), Real(s.quartic), Real(s.length)};
  }

  template <class T>  // force over distance (energy/length²), and energy; r2: distance squared
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    const auto distance = Distance<T>::from_square(r2);
    const T x = distance.r - T(c.length), x2 = x * x;
    const T slope = x * (T(c.stiffness) + T(c.quartic) * x2);  // dE/dr
    return {-slope * distance.inverse, x2 * (T(c.stiffness) / 2 + T(c.quartic) / 4 * x2)};
  }
};

template <class D>
void describe(D& d, PluginName::Settings& s) {
  d.required("stiffness", s.stiffness, NonNegative{}, "stiffness (energy/length^2)");
  d.optional("quartic", s.quartic, NonNegative{}, "quartic stiffness (energy/length^4)");
  d.required("length", s.length, Positive{}, "equilibrium length");
}

}  // namespace plugin_name

PERRIN_PLUGIN("plugin_name", "1.0", register_bond<plugin_name::PluginName>)
