// Potentials of which something is missing: the sentences that the compiler is to say.
#include "engine/job/plugin_api.h"
#include "forces/angle_force.h"
#include "forces/bond_force.h"
#include "forces/field_force.h"
#include "forces/pair_force.h"

namespace wrong {
using namespace perrin;

struct Settings {
  double depth = 1;
};
template <class D>
void describe(D& d, Settings& s) {
  d.required("depth", s.depth, Any{}, "energy");
}
struct Coefficients {
  Real depth;
};

struct NoHelp {
  using Settings = wrong::Settings;
  using Coefficients = wrong::Coefficients;
  static constexpr const char* type = "no_help";
  static Coefficients coefficients(const Settings& s) { return {Real(s.depth)}; }
  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    return {T(c.depth), r2};
  }
};
struct NoDescribe : NoHelp {
  static constexpr const char* help = "a bond";
  struct Settings {
    double depth = 1;
  };
  static Coefficients coefficients(const Settings& s) { return {Real(s.depth)}; }
};
struct WrongSignature : NoHelp {
  static constexpr const char* help = "an angle";
};
struct NoCoefficients {
  using Settings = wrong::Settings;
  static constexpr const char* type = "no_coefficients";
  static constexpr const char* help = "a field";
};

void register_components(Registry& registry) {
  register_pair_potential<NoHelp>(registry);
  register_bond<NoDescribe>(registry);
  register_angle<WrongSignature>(registry);
  register_field<NoCoefficients>(registry);
}

}  // namespace wrong

PERRIN_PLUGIN("wrong", "1.0", wrong::register_components)
