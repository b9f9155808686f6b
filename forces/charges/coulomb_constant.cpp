#include "forces/charges/coulomb_constant.h"

#include "engine/components/setup.h"

namespace perrin {

double coulomb_constant(const CoulombSettings& s, Setup& setup) {
  const double vacuum = setup.units().coulomb;
  if (!s.bjerrum_length) {
    if (s.temperature)
      setup.error("coulomb.temperature", "is for \"bjerrum_length\": remove it, or give both");
    return vacuum / s.permittivity.value_or(1);
  }
  if (s.permittivity)
    setup.error("coulomb", "must have only one of permittivity and bjerrum_length");
  if (!s.temperature) {
    setup.error(
        "coulomb.temperature",
        "is missing: the Bjerrum length is that of a temperature, usually the integrator's");
    return vacuum;
  }
  return *s.bjerrum_length * setup.k_boltzmann() * *s.temperature;
}

}  // namespace perrin
