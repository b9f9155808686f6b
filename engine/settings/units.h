// The units of a job: reduced Lennard-Jones units, or named units of length, energy and mass, from
// which those of time and temperature follow.
#pragma once

#include <string>

#include "engine/settings/settings.h"

namespace perrin {

class Problems;

/// Unit strings as the module `units` of H5MD 1.1 writes them: factors and powers separated by
/// spaces ("kJ mol-1", "nm ps-1", "0.0488882 ps"). All are empty in reduced units.
struct Units {
  std::string length, energy, mass, time;
  double k_boltzmann = 1;  // energy per kelvin; 1 in reduced units, where temperature is an energy
  double coulomb = 1;  // e²/(4π ε₀): energy · length of two elementary charges; 1 if reduced

  bool reduced() const { return length.empty(); }
  /// The units of derived quantities; empty in reduced units.
  std::string pressure(int dimension = 3) const;  // energy / length^dimension
  std::string volume(int dimension = 3) const;
  std::string temperature() const { return reduced() ? "" : "K"; }
};

struct UnitNames {
  std::string length, energy, mass;
};

/// Throws UserError for a name that is not known.
Units make_units(const UnitNames& names);
/// The names that each of the three may have.
const std::vector<std::string>& length_units();
const std::vector<std::string>& energy_units();
const std::vector<std::string>& mass_units();

template <class D>
void describe(D& d, UnitNames& s) {
  d.required("length", s.length, OneOf(length_units()), "the unit of length");
  d.required("energy", s.energy, OneOf(energy_units()), "the unit of energy");
  d.required("mass", s.mass, OneOf(mass_units()), "the unit of mass");
}

}  // namespace perrin
