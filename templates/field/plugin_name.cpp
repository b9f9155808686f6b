// An external field: a Gaussian well at the middle of the box, E = -depth exp(-r²/(2 width²)).
#include "engine/job/plugin_api.h"
#include "forces/field_force.h"

using namespace perrin;

namespace plugin_name {

struct PluginName {
  struct Settings {  // of a particle type
    double depth = 1, width = 1;
  };
  struct Coefficients {
    Real depth, inverse_width2;
  };
  static constexpr const char* type = "plugin_name";
  static constexpr const char* help = "a Gaussian well at the middle of the box";

  static Coefficients coefficients(const Settings& s) {
    return {Real(s.depth), Real(1 / (s.width * s.width))};
  }

  template <class T>  // force and energy; along periodic axes -L/2 ≤ x < L/2
  PERRIN_HD static FieldForce<T> evaluate(T x, T y, T z, const Coefficients& c) {
    const T r2 = x * x + y * y + z * z;
    const T well = T(c.depth) * std::exp(-r2 * T(c.inverse_width2) / 2);
    const T pull = -well * T(c.inverse_width2);
    return {pull * x, pull * y, pull * z, -well};
  }
};

template <class D>
void describe(D& d, PluginName::Settings& s) {
  d.required("depth", s.depth, Any{}, "energy");
  d.required("width", s.width, Positive{}, "standard deviation of the Gaussian (length)");
}

}  // namespace plugin_name

PERRIN_PLUGIN("plugin_name", "1.0", register_field<plugin_name::PluginName>)
