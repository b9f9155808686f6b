// Coulomb's constant of a job: the energy of two unit charges times their distance.
#pragma once

#include <optional>

#include "engine/settings/settings.h"

namespace perrin {

class Setup;

struct CoulombSettings {
  std::optional<double> permittivity, bjerrum_length, temperature;
};

template <class D>
void describe(D& d, CoulombSettings& s) {
  d.optional("permittivity", s.permittivity, Positive{},
             "relative permittivity of the medium; in reduced units the energy of two unit charges "
             "is 1/(permittivity · distance), in named units that of two elementary charges; "
             "default: 1");
  d.optional("bjerrum_length", s.bjerrum_length, Positive{},
             "in place of it: distance at which the energy of two unit charges is k_B T (length)");
  d.optional("temperature", s.temperature, Positive{}, "T of the Bjerrum length");
}

constexpr const char* coulomb_help = "strength of the interaction of charges";

/// Energy · length. Reports what is wrong at "coulomb".
double coulomb_constant(const CoulombSettings& s, Setup& setup);

}  // namespace perrin
