// An angle potential: E = stiffness/2 x² + quartic/4 x⁴, x = cos theta - cos angle.
#include "engine/job/plugin_api.h"
#include "forces/angle_force.h"

using namespace perrin;

namespace plugin_name {

struct PluginName {
  struct Settings {  // of an angle type
    double stiffness = 1, quartic = 0, angle = 120;
  };
  struct Coefficients {
    Real stiffness, quartic, cosine;
  };
  static constexpr const char* type = "plugin_name";
  static constexpr const char* help = "stiffness/2 x^2 + quartic/4 x^4, x = cos theta - cos angle";

  static Coefficients coefficients(const Settings& s) {
    return {Real(s.stiffness), Real(s.quartic), Real(std::cos(s.angle * M_PI / 180))};
  }

  template <class T>  // dE/d(cos theta), and E; theta = pi: the two bonds are in line
  PERRIN_HD static AngleSlope<T> evaluate(T cosine, T /*sine*/, const Coefficients& c) {
    const T x = cosine - T(c.cosine), x2 = x * x;
    return {x * (T(c.stiffness) + T(c.quartic) * x2),
            x2 * (T(c.stiffness) / 2 + T(c.quartic) / 4 * x2)};
  }
};

template <class D>
void describe(D& d, PluginName::Settings& s) {
  d.required("stiffness", s.stiffness, NonNegative{}, "stiffness (energy)");
  d.optional("quartic", s.quartic, NonNegative{}, "quartic stiffness (energy)");
  d.required("angle", s.angle, Between{0, 180}, "equilibrium angle in degrees");
}

}  // namespace plugin_name

PERRIN_PLUGIN("plugin_name", "1.0", register_angle<plugin_name::PluginName>)
